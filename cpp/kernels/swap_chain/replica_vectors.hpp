// Vectors of replicas and their random numbers. Included by one file for each instruction set, inside
// its unnamed namespace, after that file chose its target and made `Lanes`: nothing here may be seen
// by the linker under a common name. All of them make the same choices, to the last bit.

constexpr std::size_t replicas = 16;
constexpr std::size_t parts = replicas / Lanes::size;  // vectors for all replicas

typedef std::int32_t Int __attribute__((vector_size(4 * Lanes::size)));
typedef std::uint32_t Word __attribute__((vector_size(4 * Lanes::size)));
typedef float Real __attribute__((vector_size(4 * Lanes::size)));

template <class Vector, class Value>
inline Vector load(const Value* values) {
    Vector vector;
    __builtin_memcpy(&vector, values, sizeof vector);
    return vector;
}

template <class Vector, class Value>
inline void store(Value* values, Vector vector) {
    __builtin_memcpy(values, &vector, sizeof vector);
}

/// Lanes of `a` where the mask is set, else of `b`.
inline Int chosen(Int mask, Int a, Int b) {
    return (mask & a) | (~mask & b);
}

inline Real chosen(Int mask, Real a, Real b) {
    return (Real)((mask & (Int)a) | (~mask & (Int)b));
}

/// Natural log of (bits + 1/2) 2^-24 for the upper 24 of random bits, error below 2e-7: the exponent,
/// and a polynomial for what is left, between sqrt(1/2) and sqrt(2) (Cephes' logf).
inline Real log_of_unit(Word random) {
    const Real unit = (__builtin_convertvector((Int)(random >> 8), Real) + 0.5F) * 0x1p-24F;
    const Int shifted = (Int)unit - 0x3F3504F3;  // exponents count from sqrt(1/2) on
    const Real exponent = __builtin_convertvector(shifted >> 23, Real);
    const Real m = (Real)((shifted & 0x007FFFFF) + 0x3F3504F3) - 1.0F;
    const Real z = m * m;
    Real p = m * 7.0376836292e-2F - 1.1514610310e-1F;
    p = p * m + 1.1676998740e-1F;
    p = p * m - 1.2420140846e-1F;
    p = p * m + 1.4249322787e-1F;
    p = p * m - 1.6668057665e-1F;
    p = p * m + 2.0000714765e-1F;
    p = p * m - 2.4999993993e-1F;
    p = p * m + 3.3333331174e-1F;
    return m - 0.5F * z + m * z * p + 0.693147180559945F * exponent;
}

/// xoshiro128+ (Blackman, Vigna 2018), of which the upper bits are used.
struct Generator {
    Word state[4][parts];

    explicit Generator(const std::uint32_t (*words)[replicas]) {
        for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t part = 0; part < parts; ++part)
                state[k][part] = load<Word>(words[k] + part * Lanes::size);
    }
    void save(std::uint32_t (*words)[replicas]) const {
        for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t part = 0; part < parts; ++part)
                store(words[k] + part * Lanes::size, state[k][part]);
    }
    Word next(std::size_t part) {
        Word &s0 = state[0][part], &s1 = state[1][part], &s2 = state[2][part], &s3 = state[3][part];
        const Word random = s0 + s3;
        const Word t = s1 << 9;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = (s3 << 11) | (s3 >> 21);
        return random;
    }
};
