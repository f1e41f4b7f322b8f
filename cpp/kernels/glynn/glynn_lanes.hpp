// The count of glynn.hpp in vectors of 16-bit lanes, one sign vector a lane. Included by one file for
// each instruction set, inside its unnamed namespace, after that file chose its target: nothing
// here may be seen by the linker under a common name.
//
// Lanes run over the first columns, blocks of four terms over the next two, Gray code over the rest
// of the unit. Row sums for "+1, +1" of the block are kept in memory; the other three terms of a
// block differ from them by a constant vector each. Products of rows stay in 16 bits within a group,
// widen to 32 bits for two groups and to 64 bits for four: the two factors, both below 2^51.
// Either factor is made positive by adding 2^51, so that unsigned products can be summed:
//     sum X Y = sum X' Y' - 2^51 (sum X' + sum Y') + 2^102 terms,    X' = 2^51 +- X, Y' = 2^51 + Y,
// and the last part cancels because as many positions of a vector count +1 as -1. Matrices too heavy
// for two factors take three or four.

template <class Lanes>
struct Blocks {
    using Vector = typename Lanes::Vector;
    static constexpr std::size_t terms = 4;
    static constexpr int block_column = Lanes::columns;
    static constexpr int first_outer = Lanes::columns + 2;
    static constexpr std::size_t most_outer = static_cast<std::size_t>(unit_bits - first_outer);
    // Plain arrays: the members of std::array would be compiled without the vector instructions.
    Vector sums[glynn_largest_n];
    Vector shift[glynn_largest_n][terms - 1];  // terms 1, 2, 3 less term 0
    Vector change[most_outer][glynn_largest_n];
    Vector products[Packing::most_groups][terms];

    void prepare(const GlynnProblem& problem, const Packing& packing) noexcept {
        const auto inner = static_cast<std::size_t>(problem.inner());
        for (std::size_t k = 0; k < static_cast<std::size_t>(problem.n); ++k) {
            const auto& row = problem.change[packing.rows[k]];
            const std::int64_t one = row[block_column];
            const std::int64_t two = row[block_column + 1];
            shift[k][0] = Lanes::all(-one);
            shift[k][1] = Lanes::all(-two);
            shift[k][2] = Lanes::all(-one - two);
            for (std::size_t j = first_outer; j < inner; ++j)
                change[j - first_outer][k] = Lanes::all(row[j]);
        }
    }

    /// Empty groups keep this value.
    void fill_with_ones() noexcept {
        for (auto& group : products)
            for (Vector& product : group) product = Lanes::all(1);
    }

    void set_off(const GlynnProblem& problem, const Packing& packing, std::uint64_t unit) noexcept {
        for (std::size_t k = 0; k < static_cast<std::size_t>(problem.n); ++k) {
            const std::size_t row = packing.rows[k];
            const std::int64_t start = problem.start(static_cast<int>(row), unit);
            std::array<std::int16_t, Lanes::size> lanes;
            for (std::size_t lane = 0; lane < Lanes::size; ++lane) {
                std::int64_t sum = start;
                for (std::size_t j = 0; j < Lanes::columns; ++j)
                    if (lane >> j & 1) sum -= problem.change[row][j];
                lanes[lane] = static_cast<std::int16_t>(sum);
            }
            sums[k] = Lanes::load(lanes.data());
        }
    }

    void multiply_groups(const Packing& packing, std::size_t groups) noexcept {
        for (std::size_t group = 0; group < groups; ++group) {
            std::size_t k = packing.ends[group];
            const std::size_t end = packing.ends[group + 1];
            if (k == end) continue;
            Vector first = sums[k];
            Vector second = Lanes::add16(first, shift[k][0]);
            Vector third = Lanes::add16(first, shift[k][1]);
            Vector fourth = Lanes::add16(first, shift[k][2]);
            while (++k < end) {
                const Vector sum = sums[k];
                first = Lanes::multiply16(first, sum);
                second = Lanes::multiply16(second, Lanes::add16(sum, shift[k][0]));
                third = Lanes::multiply16(third, Lanes::add16(sum, shift[k][1]));
                fourth = Lanes::multiply16(fourth, Lanes::add16(sum, shift[k][2]));
            }
            products[group][0] = first;
            products[group][1] = second;
            products[group][2] = third;
            products[group][3] = fourth;
        }
    }

    struct Halves {  // even and odd 16-bit lanes, widened to 32 bits
        Vector even, odd;
    };

    template <std::size_t count>
    Halves widen(std::size_t group, std::size_t term) const noexcept {
        const Vector a = products[group][term];
        if constexpr (count == 1) {
            return {Lanes::multiply_add(a, Lanes::even_ones()),
                    Lanes::multiply_add(a, Lanes::odd_ones())};
        } else {
            const Vector b = products[group + 1][term];
            return {Lanes::multiply_add(a, Lanes::only_even(b)),
                    Lanes::multiply_add(a, Lanes::only_odd(b))};
        }
    }

    struct Quarters {  // lanes 4p, 4p + 2, 4p + 1 and 4p + 3 at position p, widened to 64 bits
        Vector first, second, third, fourth;
    };

    template <std::size_t count>
    Quarters factor(std::size_t group, std::size_t term) const noexcept {
        if constexpr (count <= 2) {
            const Halves a = widen<count>(group, term);
            return {Lanes::low64(a.even), Lanes::high64(a.even), Lanes::low64(a.odd),
                    Lanes::high64(a.odd)};
        } else {
            const Halves a = widen<2>(group, term);
            const Halves b = widen<count - 2>(group + 2, term);
            return {Lanes::multiply32(a.even, b.even),
                    Lanes::multiply32(Lanes::upper(a.even), Lanes::upper_other(b.even)),
                    Lanes::multiply32(a.odd, b.odd),
                    Lanes::multiply32(Lanes::upper(a.odd), Lanes::upper_other(b.odd))};
        }
    }

    template <std::size_t left, std::size_t right, class TwoFactors>
    void add_terms(TwoFactors& sum, bool odd) const noexcept {
        for (std::size_t term = 0; term < terms; ++term) {
            const auto x = factor<left>(0, term);
            const auto y = factor<right>(left, term);
            const bool minus = odd != (term == 1 || term == 2);
            sum.add(x.first, y.first, minus);
            sum.add(x.second, y.second, !minus);
            sum.add(x.third, y.third, !minus);
            sum.add(x.fourth, y.fourth, minus);
        }
    }

    template <std::size_t left, std::size_t right>
    void add_terms(typename Lanes::LongSum& sum, bool odd) const noexcept {
        for (std::size_t term = 0; term < terms; ++term) {
            const auto x = factor<left>(0, term);
            const auto y = factor<right>(left, term);
            const auto z = factor<4>(left + right, term);
            const bool minus = odd != (term == 1 || term == 2);
            sum.add(x.first, y.first, z.first, minus);
            sum.add(x.second, y.second, z.second, !minus);
            sum.add(x.third, y.third, z.third, !minus);
            sum.add(x.fourth, y.fourth, z.fourth, minus);
        }
    }

    template <std::size_t left, std::size_t right>
    void add_terms(typename Lanes::LongestSum& sum, bool odd) const noexcept {
        for (std::size_t term = 0; term < terms; ++term) {
            const auto x = factor<left>(0, term);
            const auto y = factor<right>(left, term);
            const auto z = factor<4>(left + right, term);
            const auto w = factor<4>(left + right + 4, term);
            const bool minus = odd != (term == 1 || term == 2);
            sum.add(x.first, y.first, z.first, w.first, minus);
            sum.add(x.second, y.second, z.second, w.second, !minus);
            sum.add(x.third, y.third, z.third, w.third, !minus);
            sum.add(x.fourth, y.fourth, z.fourth, w.fourth, minus);
        }
    }

    template <std::size_t left, std::size_t right, class Sum = typename Lanes::Sum>
    void run(const GlynnProblem& problem, const Packing& packing, Range units,
             Total& total) noexcept {
        const auto n = static_cast<std::size_t>(problem.n);
        const std::uint64_t steps = std::uint64_t{1} << (problem.inner() - first_outer);
        for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) {
            set_off(problem, packing, unit);
            bool odd = __builtin_parityll(unit) != 0;
            Sum sum;
            for (std::uint64_t step = 1;; ++step, odd = !odd) {
                multiply_groups(packing, left + right + packing.third + packing.fourth);
                odd ? add_terms<left, right>(sum, true) : add_terms<left, right>(sum, false);
                if (step % Sum::flush_after == 0 || step == steps) sum.flush(total);
                if (step == steps) break;
                const auto column = static_cast<std::size_t>(__builtin_ctzll(step));
                const Vector* by = change[column];
                if ((step >> (column + 1) & 1) == 0)
                    for (std::size_t k = 0; k < n; ++k) sums[k] = Lanes::subtract16(sums[k], by[k]);
                else
                    for (std::size_t k = 0; k < n; ++k) sums[k] = Lanes::add16(sums[k], by[k]);
            }
        }
    }

    // Sums of more than two factors: beside the others they would make a function too large for what
    // is inside to be inlined.
    template <class Sum>
    [[gnu::noinline]] void run_apart(const GlynnProblem& problem, const Packing& packing,
                                     Range units, Total& total) noexcept {
        run<4, 4, Sum>(problem, packing, units, total);
    }
};

template <class Lanes>
bool count_in_lanes(const Packed& packed, Range units, std::span<std::uint64_t> out) noexcept {
    const auto& [problem, packing, kept] = packed;
    if (problem.inner() < Blocks<Lanes>::first_outer || !packing.fits) return false;
    Blocks<Lanes> blocks;
    blocks.prepare(problem, packing);
    blocks.fill_with_ones();
    Total total;
    switch (packing.fourth * 1000 + packing.third * 100 + packing.left * 10 + packing.right) {
        case 11:
            blocks.template run<1, 1>(problem, packing, units, total);
            break;
        case 21:
            blocks.template run<2, 1>(problem, packing, units, total);
            break;
        case 22:
            blocks.template run<2, 2>(problem, packing, units, total);
            break;
        case 31:
            blocks.template run<3, 1>(problem, packing, units, total);
            break;
        case 32:
            blocks.template run<3, 2>(problem, packing, units, total);
            break;
        case 33:
            blocks.template run<3, 3>(problem, packing, units, total);
            break;
        case 41:
            blocks.template run<4, 1>(problem, packing, units, total);
            break;
        case 42:
            blocks.template run<4, 2>(problem, packing, units, total);
            break;
        case 43:
            blocks.template run<4, 3>(problem, packing, units, total);
            break;
        case 44:
            blocks.template run<4, 4>(problem, packing, units, total);
            break;
        case 444:
            blocks.template run_apart<typename Lanes::LongSum>(problem, packing, units, total);
            break;
        default:
            blocks.template run_apart<typename Lanes::LongestSum>(problem, packing, units, total);
            break;
    }
    (total << problem.halved).add_to(out);
    return true;
}
