// Elimination and selected inverse of planar_lanes.hpp. Included by one file for each instruction
// set, inside its unnamed namespace, after that file chose its target and made `Vector`: eight
// doubles with load, store, all, multiply, add, subtract, multiply_subtract (a * b - c, rounded once)
// and negative_multiply_add (c - a * b, rounded once).

struct Modulus {
    Vector prime, reciprocal, to_integer;

    explicit Modulus(const Factors& f)
        : prime(load(f.prime)), reciprocal(load(f.reciprocal)), to_integer(all(0x1.8p52)) {}

    /// x - l * u; the proof is in planar.hpp.
    [[nodiscard]] Vector subtract_product(const Vector& x, const Vector& l, const Vector& u) const {
        const Vector high = multiply(l, u);
        const Vector low = multiply_subtract(l, u, high);
        // Adding and subtracting the constant rounds to an integer.
        const Vector near = add(multiply(subtract(high, x), reciprocal), to_integer);
        const Vector rest = negative_multiply_add(subtract(near, to_integer), prime, high);
        return subtract(subtract(x, rest), low);
    }
    [[nodiscard]] Vector product(const Vector& l, const Vector& u) const {
        return subtract(all(0.0), subtract_product(all(0.0), l, u));
    }
};

/// base^(p - 2), so 0 for 0. Exponents differ by lane: a lane takes part where its bit is set.
inline Vector inverse_of(const Factors& f, const Modulus& modulus, const Vector& base) {
    Lanes result{{1, 1, 1, 1, 1, 1, 1, 1}};
    Vector y = base;
    std::uint64_t exponent[8];
    std::uint64_t any = 0;
    for (int k = 0; k < 8; ++k) {
        exponent[k] = static_cast<std::uint64_t>(f.prime.lane[k]) - 2;
        any |= exponent[k];
    }
    for (; any != 0; any >>= 1) {
        Lanes more;
        store(more, modulus.product(load(result), y));
        for (int k = 0; k < 8; ++k) {
            if ((exponent[k] & 1) != 0) result.lane[k] = more.lane[k];
            exponent[k] >>= 1;
        }
        y = modulus.product(y, y);
    }
    return load(result);
}

inline bool eliminate_all(const Factors& f, CancelFlag cancel) {
    const Modulus modulus(f);
    const std::size_t n = f.diagonal.size();
    for (std::size_t k = 0; k < n; ++k) {
        if (k % 256 == 0 && cancel.raised()) return false;
        const Vector inverse = inverse_of(f, modulus, load(f.diagonal[k]));
        store(f.inverse[k], inverse);
        const std::size_t first = at(f.starts[k]), last = at(f.starts[k + 1]);
        for (std::size_t t = first; t < last; ++t)
            store(f.lower[t], modulus.product(load(f.lower[t]), inverse));
        for (std::size_t t = first; t < last; ++t) {
            const std::size_t m = at(f.fronts[t]);
            const Vector below = load(f.lower[t]), above = load(f.upper[t]);
            store(f.diagonal[m], modulus.subtract_product(load(f.diagonal[m]), below, above));
            std::size_t q = at(f.starts[m]);
            for (std::size_t s = t + 1; s < last; ++s, ++q) {
                while (f.fronts[q] != f.fronts[s]) ++q;
                store(f.upper[q],
                      modulus.subtract_product(load(f.upper[q]), below, load(f.upper[s])));
                store(f.lower[q],
                      modulus.subtract_product(load(f.lower[q]), load(f.lower[s]), above));
            }
        }
    }
    return true;
}

// With A = L D W, W = D^-1 U with ones on its diagonal, the inverse Z obeys
// Z = D^-1 L^-1 + (1 - W) Z = W^-1 D^-1 + Z (1 - L).
inline bool invert_all(const Factors& f, const Inverse& z, CancelFlag cancel) {
    const Modulus modulus(f);
    std::vector<Lanes> across, right, down;
    for (std::size_t k = f.diagonal.size(); k-- > 0;) {
        if (k % 256 == 0 && cancel.raised()) return false;
        const std::size_t first = at(f.starts[k]), size = at(f.starts[k + 1]) - first;
        across.assign(size, Lanes{});
        right.assign(size, Lanes{});
        down.assign(size, Lanes{});
        const Vector inverse = load(f.inverse[k]);
        for (std::size_t t = 0; t < size; ++t)
            store(across[t], modulus.product(load(f.upper[first + t]), inverse));
        for (std::size_t t = 0; t < size; ++t) {
            const std::size_t m = at(f.fronts[first + t]);
            const Vector w = load(across[t]), l = load(f.lower[first + t]);
            const Vector middle = load(z.diagonal[m]);
            Vector here = modulus.subtract_product(load(right[t]), w, middle);
            Vector there = modulus.subtract_product(load(down[t]), middle, l);
            std::size_t q = at(f.starts[m]);
            for (std::size_t s = t + 1; s < size; ++s, ++q) {
                while (f.fronts[q] != f.fronts[first + s]) ++q;
                const Vector above = load(z.upper[q]), below = load(z.lower[q]);
                store(right[s], modulus.subtract_product(load(right[s]), w, above));
                store(down[s], modulus.subtract_product(load(down[s]), below, l));
                here = modulus.subtract_product(here, load(across[s]), below);
                there = modulus.subtract_product(there, above, load(f.lower[first + s]));
            }
            store(right[t], here);
            store(down[t], there);
        }
        Vector pivot = inverse;
        for (std::size_t t = 0; t < size; ++t) {
            z.upper[first + t] = right[t];
            z.lower[first + t] = down[t];
            pivot = modulus.subtract_product(pivot, load(across[t]), load(down[t]));
        }
        store(z.diagonal[k], pivot);
    }
    return true;
}

/// target[to[i]] += factor * value[from[i]].
inline void add_all_products(const Factors& f, Lanes* target, const std::int32_t* to,
                             const Lanes& factor, const Lanes* value, const std::int32_t* from,
                             std::size_t size) {
    const Modulus modulus(f);
    const Vector minus = subtract(all(0.0), load(factor));
    for (std::size_t i = 0; i < size; ++i) {
        Lanes& x = target[to[i]];
        store(x, modulus.subtract_product(load(x), minus, load(value[from[i]])));
    }
}

/// sum += left[at_left[i]] * right[at_right[i]], over all i.
inline void sum_all_products(const Factors& f, Lanes& sum, const Lanes* left,
                             const std::int32_t* at_left, const Lanes* right,
                             const std::int32_t* at_right, std::size_t size) {
    const Modulus modulus(f);
    Vector minus = subtract(all(0.0), load(sum));
    for (std::size_t i = 0; i < size; ++i)
        minus = modulus.subtract_product(minus, load(left[at_left[i]]), load(right[at_right[i]]));
    store(sum, subtract(all(0.0), minus));
}
