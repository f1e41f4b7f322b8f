// A stretch of a sweep in vectors of replicas. Included by one file for each instruction set, inside
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

template <bool weighted, bool tilted>
std::int32_t stretch(const Sweep& sweep, std::size_t begin, std::size_t end, std::int32_t* crossing,
                     std::int32_t* taken) {
    // Sums and random numbers stay in registers; memory has them again at the end.
    Int crossed[parts] = {};
    Int took[parts] = {};
    Generator generator(sweep.random);
    std::uint64_t shared = *sweep.shared;
    std::int32_t pairs = 0;
    for (std::size_t i = begin; i < end; ++i) {
        shared += 0x9E3779B97F4A7C15U;
        std::uint64_t mix = (shared ^ (shared >> 30)) * 0xBF58476D1CE4E5B9U;
        mix = (mix ^ (mix >> 27)) * 0x94D049BB133111EBU;
        const auto reach =
            static_cast<std::uint64_t>(sweep.reach[i] < sweep.most ? sweep.reach[i] : sweep.most);
        const auto step = static_cast<std::int32_t>(1 + ((reach * (mix >> 32)) >> 32));
        const std::size_t k = i + static_cast<std::size_t>(step);
        if (reach == 0 || k >= sweep.rows) continue;
        ++pairs;
        std::int32_t* const a = sweep.held + i * replicas;
        std::int32_t* const b = sweep.held + k * replicas;
        const std::int32_t first_a = sweep.first[i];
        const std::int32_t first_b = sweep.first[k];
        const auto length_a = static_cast<std::uint32_t>(sweep.lengths[i]);
        const auto length_b = static_cast<std::uint32_t>(sweep.lengths[k]);
        const float tilt = sweep.tilt * static_cast<float>(step);
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t lane = part * Lanes::size;
            const Int at_a = load<Int>(a + lane);
            const Int at_b = load<Int>(b + lane);
            const Int to_a = at_b - first_a;
            const Int to_b = at_a - first_b;
            const Int fits = (Int)((Word)to_a < length_a) & (Int)((Word)to_b < length_b);
            const Int apart = at_b - at_a;
            Int take = fits;
            if constexpr (weighted || tilted) {
                Real gain = {};
                if constexpr (tilted) gain = __builtin_convertvector(apart, Real) * -tilt;
                if constexpr (weighted) {
                    float* const held_a = sweep.held_logs + i * replicas + lane;
                    float* const held_b = sweep.held_logs + k * replicas + lane;
                    const Real log_a = Lanes::gather(sweep.logs + sweep.offsets[i], to_a & fits);
                    const Real log_b = Lanes::gather(sweep.logs + sweep.offsets[k], to_b & fits);
                    const Real now_a = load<Real>(held_a);
                    const Real now_b = load<Real>(held_b);
                    gain += (log_a + log_b) - (now_a + now_b);
                    take &= (Int)(log_of_unit(generator.next(part)) < gain);
                    store(held_a, chosen(take, log_a, now_a));
                    store(held_b, chosen(take, log_b, now_b));
                } else {
                    take &= (Int)(log_of_unit(generator.next(part)) < gain);
                }
            }
            store(a + lane, chosen(take, at_b, at_a));
            store(b + lane, chosen(take, at_a, at_b));
            if constexpr (tilted) crossed[part] += take & (apart * step);
            took[part] -= take;
        }
    }
    *sweep.shared = shared;
    generator.save(sweep.random);
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t lane = part * Lanes::size;
        store(crossing + lane, load<Int>(crossing + lane) + crossed[part]);
        store(taken + lane, load<Int>(taken + lane) + took[part]);
    }
    return pairs;
}

SweepStretch stretch_of(bool weighted, bool tilted) {
    if (weighted) return tilted ? stretch<true, true> : stretch<true, false>;
    return tilted ? stretch<false, true> : stretch<false, false>;
}
