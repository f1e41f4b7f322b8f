// One block of the floating minors of glynn.hpp: four sign vectors a lane, those of the two fastest
// columns. Included by glynn_minors_double_lanes.hpp.
//
// The rows that feel neither column have the same products without one of them, M, in all four: with
// S the signed products of the other rows, they gain M sum S, and for the two columns M times sums of
// S over two of the four. Likewise rows that feel only the second column have two such products. Only
// the others go through prefix and suffix products four times, in fours where they can. In a pair
// (a, b) of rows, with O the product of all other rows, the products without a and b are O b and O a,
// fused with their addition.

/// One vector for each sign of the two fastest columns: ++, -+, +-, --. Named, so that all stay in
/// registers.
struct Four {
    Vector zero, one, two, both;
};

inline Four times(const Four& a, const Four& b) noexcept {
    return {a.zero * b.zero, a.one * b.one, a.two * b.two, a.both * b.both};
}

/// The pass backwards over the rows that feel neither column: sums of the other rows' products over
/// the block, over its half with either column at -1, and how far it has come.
struct Alone {
    Vector all, second, first, suffix;
    std::size_t slot;
};

class DoubleBlock {
protected:
    // Padded because this stride measured 3-4 % faster; presumably columns a multiple of 4 KiB apart
    // make loads wait for stores.
    static constexpr std::size_t most_slots = 2 * MinorsPlan::most_pairs + 6;
    using Column = Vector[most_slots];
    // Terms with the second column at +1, at -1, and with the first one at -1. For rows that feel
    // neither the first of these is the total.
    using Totals = Column[3];

    explicit DoubleBlock(const MinorsPlan& plan) : plan_(plan) {}

    /// One block, begun by the flips in `by`. It adds to `totals`; if a column flips after it, that
    /// takes these and `rest` with the sign it has had.
    template <bool flips>
    void block(const double* by, bool odd, Totals& totals, const Totals& rest, double sign_of_flip,
               Column& flipped) noexcept {
        Vector product = Vector{} + 1.0;
        for (std::size_t a = 0; a < 2 * plan_.ends[0]; a += 2) {
            const Vector sum_a = base_[a] = base_[a] + by[a];
            const Vector sum_b = base_[a + 1] = base_[a + 1] + by[a + 1];
            prefix_[a / 2].zero = product;
            product *= sum_a * sum_b;
        }
        const Vector start = Vector{} + (odd ? -1.0 : 1.0);
        Vector plus = Vector{} + 1.0;
        Vector minus = plus;
        for (std::size_t a = 2 * plan_.ends[0]; a < 2 * plan_.ends[1]; a += 2) {
            const Vector sum_a = base_[a] = base_[a] + by[a];
            const Vector sum_b = base_[a + 1] = base_[a + 1] + by[a + 1];
            prefix_[a / 2].zero = plus;
            prefix_[a / 2].two = minus;
            plus *= sum_a * sum_b;
            minus *= (sum_a - pattern_[1][a]) * (sum_b - pattern_[1][a + 1]);
        }
        Four run = forwards<false>(2, by, {start, -start, -start, start});
        run = forwards<true>(3, by, run);

        const Vector over_plus = run.zero + run.one;
        const Vector over_minus = run.two + run.both;
        const Vector one_plus = run.one;
        const Vector one_minus = run.both;
        const Vector second = minus * over_minus;
        Alone alone{multiply_add(plus, over_plus, second), second,
                    multiply_add(plus, one_plus, minus * one_minus), Vector{} + 1.0,
                    2 * plan_.ends[0]};
        const Vector sign = Vector{} + sign_of_flip;
        plus *= product;
        minus *= product;
        run = backwards<true, flips>(3, totals, rest, sign, flipped, alone,
                                     {plus, plus, minus, minus});
        backwards<false, flips>(2, totals, rest, sign, flipped, alone, run);
        plus = minus = product;
        for (std::size_t pair = 2 * plan_.ends[1]; pair > 2 * plan_.ends[0];) {
            pair -= 2;
            const Vector a = base_[pair];
            const Vector b = base_[pair + 1];
            const Vector sums[2][2] = {{b, b - pattern_[1][pair + 1]}, {a, a - pattern_[1][pair]}};
            const Vector others_plus = prefix_[pair / 2].zero * plus;
            const Vector others_minus = prefix_[pair / 2].two * minus;
            plus *= a * b;
            minus *= sums[0][1] * sums[1][1];
#pragma GCC unroll 2
            for (std::size_t side = 0; side < 2; ++side) {
                const std::size_t mine = pair + side;
                const Vector with_plus = others_plus * sums[side][0];
                const Vector with_minus = others_minus * sums[side][1];
                const Vector sum_plus = totals[0][mine] =
                    multiply_add(with_plus, over_plus, totals[0][mine]);
                const Vector sum_minus = totals[1][mine] =
                    multiply_add(with_minus, over_minus, totals[1][mine]);
                totals[2][mine] = multiply_add(with_minus, one_minus,
                                               multiply_add(with_plus, one_plus, totals[2][mine]));
                if constexpr (flips)
                    flipped[mine] =
                        multiply_add((sum_plus + sum_minus) + (rest[0][mine] + rest[1][mine]), sign,
                                     flipped[mine]);
            }
        }
        while (alone.slot > 0) gather<flips>(alone, totals, rest, sign, flipped);
    }

    const MinorsPlan& plan_;
    double pattern_[2][most_slots];  // what the two fastest columns take from the row sums
    Column base_;                    // row sums with these two at +1

private:
    template <bool two>
    Four row(std::size_t slot, Vector sum) const noexcept {
        const Vector flipped = sum - pattern_[0][slot];
        return {sum, flipped, two ? sum - pattern_[1][slot] : sum,
                two ? flipped - pattern_[1][slot] : flipped};
    }

    template <bool two>
    Four pair(std::size_t slot) const noexcept {
        return times(row<two>(slot, base_[slot]), row<two>(slot + 1, base_[slot + 1]));
    }

    /// Passes over rows forwards, `size` at a time: the flip of the block, its prefix products.
    template <bool two, std::size_t size>
    Four forwards(std::size_t first, std::size_t last, const double* by, Four run) noexcept {
        for (std::size_t slot = first; slot < last; slot += size) {
            for (std::size_t k = 0; k < size; ++k) base_[slot + k] = base_[slot + k] + by[slot + k];
            prefix_[slot / 2] = run;
            Four product = pair<two>(slot);
            if constexpr (size == 4) product = times(product, pair<two>(slot + 2));
            run = times(run, product);
        }
        return run;
    }

    /// Adds the products without the rows of a pair, whose others multiply to `others`.
    template <bool two, bool flips>
    void gather(std::size_t pair, const Four& others, Totals& totals, const Totals& rest,
                Vector sign, Column& flipped) noexcept {
#pragma GCC unroll 2
        for (std::size_t side = 0; side < 2; ++side) {
            const std::size_t mine = pair + side;
            const Four sums = row<two>(pair + 1 - side, base_[pair + 1 - side]);
            const Vector plus = multiply_add(others.one, sums.one,
                                             multiply_add(others.zero, sums.zero, totals[0][mine]));
            const Vector minus = multiply_add(others.both, sums.both,
                                              multiply_add(others.two, sums.two, totals[1][mine]));
            const Vector half = multiply_add(others.both, sums.both,
                                             multiply_add(others.one, sums.one, totals[2][mine]));
            totals[0][mine] = plus;
            totals[1][mine] = minus;
            totals[2][mine] = half;
            if constexpr (flips)
                flipped[mine] = multiply_add((plus + minus) + (rest[0][mine] + rest[1][mine]), sign,
                                             flipped[mine]);
        }
    }

    /// The same for the next pair of rows that feel neither column.
    template <bool flips>
    void gather(Alone& alone, Totals& totals, const Totals& rest, Vector sign,
                Column& flipped) noexcept {
        const std::size_t pair = alone.slot -= 2;
        const Vector others = prefix_[pair / 2].zero * alone.suffix;
        alone.suffix *= base_[pair] * base_[pair + 1];
#pragma GCC unroll 2
        for (std::size_t side = 0; side < 2; ++side) {
            const std::size_t mine = pair + side;
            const Vector without = others * base_[pair + 1 - side];
            const Vector total = totals[0][mine] =
                multiply_add(without, alone.all, totals[0][mine]);
            totals[1][mine] = multiply_add(without, alone.second, totals[1][mine]);
            totals[2][mine] = multiply_add(without, alone.first, totals[2][mine]);
            if constexpr (flips)
                flipped[mine] = multiply_add(total + rest[0][mine], sign, flipped[mine]);
        }
    }

    /// Passes over rows backwards: products without one row, added to the totals and, with `sign`,
    /// to the column that is about to flip.
    template <bool two, std::size_t size, bool flips>
    Four backwards(std::size_t first, std::size_t last, Totals& totals, const Totals& rest,
                   Vector sign, Column& flipped, Alone& alone, Four run) noexcept {
        for (std::size_t slot = last; slot > first;) {
            slot -= size;
            const Four product = pair<two>(slot);
            const Four others = times(prefix_[slot / 2], run);
            if constexpr (size == 2) {
                run = times(run, product);
                gather<two, flips>(slot, others, totals, rest, sign, flipped);
            } else {
                const Four second = pair<two>(slot + 2);
                run = times(run, times(product, second));
                gather<two, flips>(slot + 2, times(others, product), totals, rest, sign, flipped);
                gather<two, flips>(slot, times(others, second), totals, rest, sign, flipped);
                if (alone.slot > 0) gather<flips>(alone, totals, rest, sign, flipped);
            }
            if (alone.slot > 0) gather<flips>(alone, totals, rest, sign, flipped);
        }
        return run;
    }

    /// Rows of kind k in fours, then what is left.
    template <bool two>
    Four forwards(std::size_t kind, const double* by, const Four& run) noexcept {
        const std::size_t first = 2 * plan_.ends[kind - 1];
        const std::size_t last = 2 * plan_.ends[kind];
        const std::size_t fours = last - (last - first) % 4;
        return forwards<two, 2>(fours, last, by, forwards<two, 4>(first, fours, by, run));
    }

    template <bool two, bool flips>
    Four backwards(std::size_t kind, Totals& totals, const Totals& rest, Vector sign,
                   Column& flipped, Alone& alone, Four run) noexcept {
        const std::size_t first = 2 * plan_.ends[kind - 1];
        const std::size_t last = 2 * plan_.ends[kind];
        const std::size_t fours = last - (last - first) % 4;
        run = backwards<two, 2, flips>(fours, last, totals, rest, sign, flipped, alone, run);
        return backwards<two, 4, flips>(first, fours, totals, rest, sign, flipped, alone, run);
    }

    Four prefix_[MinorsPlan::most_pairs];
};
