// The floating minors of signs.hpp, one sign vector a lane. Included by one file for each
// instruction set, inside its unnamed namespace, after signs_double_lanes.hpp and `multiply_add`.
//
// Four sign vectors (of the two fastest columns) make a block. The rows that feel neither column
// have the same products without one of them, M, in all four: with S the signed products of the
// other rows, they gain M sum S, and for the two columns M times sums of S over two of the four.
// Only the others go through prefix and suffix products four times. Rows go in pairs (a, b): with O
// the product of all other pairs, the products without a and b are O b and O a, fused with their
// addition.
//
// Blocks follow Gray code. A column that is about to flip takes the total so far with its sign
// (Abel's summation): sum_t d(t) s(t) = d(end) T(end) + 2 sum over flips of d(before) T(before).
// Totals pass through three levels of at most 32 additions each: blocks to a chunk, chunks to a
// stretch, stretches to a section, whose lanes are summed and added with compensation.

class DoubleMinors {
public:
    DoubleMinors(const DoubleProblem& problem, const MinorsPlan& plan)
        : problem_(problem),
          plan_(plan),
          n_(static_cast<std::size_t>(problem.n)),
          slots_(plan.rows.size()),
          outer_(problem.inner() - first_outer),
          chunk_(std::min(outer_, level_columns)),
          stretch_(std::min(outer_ - chunk_, level_columns)),
          above_(chunk_ + stretch_) {
        for (std::size_t slot = 0; slot < slots_; ++slot)
            for (std::size_t k = 0; k < problem.inner(); ++k) {
                const double twice = 2 * weight(slot, k);
                if (k < 2) pattern_[k][slot] = twice;
                if (k >= first_outer)
                    change_[1][k - first_outer][slot] =
                        -(change_[0][k - first_outer][slot] = twice);
            }
    }

    void run(std::uint64_t unit, DoubleSums& out) {
        const std::uint64_t sections = std::uint64_t{1} << (outer_ - above_);
        for (auto& column : section_)
            for (Vector& sum : column) sum = Vector{};
        for (std::uint64_t number = 0; number < sections; ++number) {
            const std::uint64_t gray = number ^ number >> 1;
            start(unit, gray);
            stretch((__builtin_parityll(unit) != 0) != (number % 2 != 0));
            settle(gray);
            if (number % 32 == 31 || number + 1 == sections) {
                add_up(unit, out);
                for (auto& column : section_)
                    for (Vector& sum : column) sum = Vector{};
            }
        }
    }

private:
    static constexpr std::size_t level_columns = 5;
    static constexpr std::size_t first_outer = 2 + lane_columns;
    static constexpr std::size_t most_slots = 2 * MinorsPlan::most_pairs;
    using Column = Vector[most_slots];

    double weight(std::size_t slot, std::size_t position) const noexcept {
        const std::size_t row = plan_.rows[slot];
        return row == MinorsPlan::nobody ? 0 : problem_.weight[row * n_ + plan_.columns[position]];
    }

    /// Row sums with the columns of the unit and the section as given, all others but lanes at +1.
    void start(std::uint64_t unit, std::uint64_t section) noexcept {
        const std::size_t first_section = first_outer + above_;
        for (std::size_t slot = 0; slot < slots_; ++slot)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                double sum = plan_.rows[slot] == MinorsPlan::nobody ? 1 : 0;
                for (std::size_t k = 0; k < n_; ++k) {
                    const bool minus =
                        k >= 2 && k < first_outer ? (lane >> (k - 2) & 1) != 0
                        : k < first_section       ? false
                        : k < problem_.inner()
                            ? (section >> (k - first_section) & 1) != 0
                            : k + 1 < n_ && (unit >> (k - problem_.inner()) & 1) != 0;
                    sum += minus ? -weight(slot, k) : weight(slot, k);
                }
                base_[slot][lane] = sum;
            }
    }

    /// Passes over a pair forwards: the flip of the block, its four products, prefix products.
    template <bool one, bool two>
    void forwards(std::size_t first, std::size_t last, const double* by,
                  Vector (&run)[4]) noexcept {
        for (std::size_t pair = first; pair < last; ++pair) {
            const std::size_t a = 2 * pair;
            const std::size_t b = a + 1;
            const Vector sum_a = base_[a] = base_[a] + by[a];
            const Vector sum_b = base_[b] = base_[b] + by[b];
            Vector(&product)[4] = product_[pair];
            Vector(&prefix)[4] = prefix_[pair];
            const Vector zero = product[0] = sum_a * sum_b;
            const Vector first_only =
                one ? product[1] = (sum_a - pattern_[0][a]) * (sum_b - pattern_[0][b]) : zero;
            const Vector second_only =
                two ? product[2] = (sum_a - pattern_[1][a]) * (sum_b - pattern_[1][b]) : zero;
            const Vector both = one && two
                                    ? product[3] = (sum_a - pattern_[0][a] - pattern_[1][a]) *
                                                   (sum_b - pattern_[0][b] - pattern_[1][b])
                                    : (one ? first_only : second_only);
            for (std::size_t k = 0; k < 4; ++k) prefix[k] = run[k];
            run[0] *= zero;
            run[1] *= first_only;
            run[2] *= second_only;
            run[3] *= both;
        }
    }

    /// Passes over a pair backwards: products without one row, added to the totals and, with
    /// `sign`, to the column that is about to flip.
    template <bool one, bool two>
    void backwards(std::size_t first, std::size_t last, const Vector& sign, Column& flips,
                   Vector (&run)[4]) noexcept {
        constexpr std::size_t at[4] = {0, one ? 1 : 0, two ? 2 : 0, (one ? 1 : 0) + (two ? 2 : 0)};
        for (std::size_t pair = last; pair-- > first;) {
            Vector others[4];
            for (std::size_t k = 0; k < 4; ++k) {
                others[k] = prefix_[pair][k] * run[k];
                run[k] *= product_[pair][at[k]];
            }
            for (std::size_t side = 0; side < 2; ++side) {
                const std::size_t mine = 2 * pair + side;
                const std::size_t other = 2 * pair + 1 - side;
                const Vector sum = base_[other];
                const Vector first_only = one ? sum - pattern_[0][other] : sum;
                const Vector second_only = two ? sum - pattern_[1][other] : sum;
                const Vector both = two ? first_only - pattern_[1][other] : first_only;
                Vector plus = multiply_add(others[0], sum, totals_[0][mine]);
                plus = multiply_add(others[1], first_only, plus);
                Vector minus = multiply_add(others[2], second_only, totals_[1][mine]);
                minus = multiply_add(others[3], both, minus);
                Vector half = multiply_add(others[1], first_only, totals_[2][mine]);
                half = multiply_add(others[3], both, half);
                totals_[0][mine] = plus;
                totals_[1][mine] = minus;
                totals_[2][mine] = half;
                flips[mine] = multiply_add(plus + minus, sign, flips[mine]);
            }
        }
    }

    void block(const double* by, bool odd, double sign_of_flip, Column& flips) noexcept {
        Vector alone = Vector{} + 1.0;
        for (std::size_t pair = 0; pair < plan_.ends[0]; ++pair) {
            const std::size_t a = 2 * pair;
            const std::size_t b = a + 1;
            base_[a] = base_[a] + by[a];
            base_[b] = base_[b] + by[b];
            prefix_[pair][0] = alone;
            const Vector product = product_[pair][0] = base_[a] * base_[b];
            alone *= product;
        }
        const Vector start = Vector{} + (odd ? -1.0 : 1.0);
        Vector run[4] = {start, -start, -start, start};
        forwards<true, false>(plan_.ends[0], plan_.ends[1], by, run);
        forwards<false, true>(plan_.ends[1], plan_.ends[2], by, run);
        forwards<true, true>(plan_.ends[2], plan_.ends[3], by, run);

        const Vector second = run[2] + run[3];
        const Vector all = (run[0] + run[1]) + second;
        const Vector first = run[1] + run[3];
        const Vector sign = Vector{} + sign_of_flip;
        for (Vector& product : run) product = alone;
        backwards<true, true>(plan_.ends[2], plan_.ends[3], sign, flips, run);
        backwards<false, true>(plan_.ends[1], plan_.ends[2], sign, flips, run);
        backwards<true, false>(plan_.ends[0], plan_.ends[1], sign, flips, run);

        Vector suffix = Vector{} + 1.0;
        for (std::size_t pair = plan_.ends[0]; pair-- > 0;) {
            const Vector others = prefix_[pair][0] * suffix;
            suffix *= product_[pair][0];
            for (std::size_t side = 0; side < 2; ++side) {
                const std::size_t mine = 2 * pair + side;
                const Vector without = others * base_[2 * pair + 1 - side];
                const Vector total = totals_[0][mine] =
                    multiply_add(without, all, totals_[0][mine]);
                totals_[1][mine] = multiply_add(without, second, totals_[1][mine]);
                totals_[2][mine] = multiply_add(without, first, totals_[2][mine]);
                flips[mine] = multiply_add(total, sign, flips[mine]);
            }
        }
    }

    /// All blocks of a chunk, which begins by the flips in `by`; their sums go to the stretch.
    void chunk(const double* by, bool odd) noexcept {
        for (Column& column : totals_)
            for (std::size_t slot = 0; slot < slots_; ++slot) column[slot] = Vector{};
        for (std::size_t k = 0; k < chunk_; ++k)
            for (std::size_t slot = 0; slot < slots_; ++slot) flips_[k][slot] = Vector{};
        const std::uint64_t blocks = std::uint64_t{1} << chunk_;
        for (std::uint64_t step = 1; step < blocks; ++step, odd = !odd) {
            const auto column = static_cast<std::size_t>(__builtin_ctzll(step));
            const bool minus = (step >> (column + 1) & 1) != 0;
            block(by, odd, minus ? -1 : 1, flips_[column]);
            by = change_[minus ? 0 : 1][column];
        }
        block(by, odd, 0, flips_[0]);
        const std::size_t alone = 2 * plan_.ends[0];
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            const Vector second = totals_[1][slot];
            const Vector total = slot < alone ? totals_[0][slot] : totals_[0][slot] + second;
            sums_[0][slot] += total - 2 * totals_[2][slot];
            sums_[1][slot] += total - 2 * second;
            sums_[2][slot] += total;
            for (std::size_t k = 0; k < chunk_; ++k) {
                const Vector twice = 2 * flips_[k][slot];
                sums_[3 + k][slot] += k + 1 == chunk_ ? twice - total : twice + total;
            }
        }
    }

    void stretch(bool odd) noexcept {
        for (Column& column : sums_)
            for (std::size_t slot = 0; slot < slots_; ++slot) column[slot] = Vector{};
        for (std::size_t k = 0; k < stretch_; ++k)
            for (std::size_t slot = 0; slot < slots_; ++slot) chunk_flips_[k][slot] = Vector{};
        const std::uint64_t chunks = std::uint64_t{1} << stretch_;
        double by[most_slots] = {};
        for (std::uint64_t step = 1; step <= chunks; ++step, odd = !odd) {
            chunk(by, odd);
            if (step == chunks) break;
            const auto column = static_cast<std::size_t>(__builtin_ctzll(step));
            const bool minus = (step >> (column + 1) & 1) != 0;
            for (std::size_t slot = 0; slot < slots_; ++slot) {
                if (minus)
                    chunk_flips_[column][slot] -= sums_[2][slot];
                else
                    chunk_flips_[column][slot] += sums_[2][slot];
                // A chunk ends with only its slowest column at -1, which goes back.
                by[slot] =
                    change_[minus ? 0 : 1][chunk_ + column][slot] + change_[0][chunk_ - 1][slot];
            }
        }
    }

    /// A stretch's sums to the section: columns in the order of the plan without the lanes'.
    void settle(std::uint64_t gray) noexcept {
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            const Vector total = sums_[2][slot];
            for (std::size_t k = 0; k < 3 + chunk_; ++k) section_[k][slot] += sums_[k][slot];
            for (std::size_t k = 0; k < stretch_; ++k) {
                const Vector twice = 2 * chunk_flips_[k][slot];
                section_[3 + chunk_ + k][slot] += k + 1 == stretch_ ? twice - total : twice + total;
            }
            for (std::size_t k = above_; k < outer_; ++k)
                if (gray >> (k - above_) & 1)
                    section_[3 + k][slot] -= total;
                else
                    section_[3 + k][slot] += total;
        }
    }

    void add_up(std::uint64_t unit, DoubleSums& out) const noexcept {
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            if (plan_.rows[slot] == MinorsPlan::nobody) continue;
            for (std::size_t k = 0; k < n_; ++k) {
                const bool in_lanes = k >= 2 && k < first_outer;
                const bool above = k >= problem_.inner();
                const bool minus = above && k + 1 < n_ && (unit >> (k - problem_.inner()) & 1) != 0;
                const std::size_t from = k < 2 ? k : in_lanes || above ? 2 : 3 + k - first_outer;
                const double sum = across(section_[from][slot], in_lanes ? k - 2 : lane_columns);
                out.cells[plan_.rows[slot] * n_ + plan_.columns[k]].add(minus ? -sum : sum);
            }
        }
    }

    const DoubleProblem& problem_;
    const MinorsPlan& plan_;
    std::size_t n_, slots_;
    std::size_t outer_;    // columns inside a unit but for the two fastest and the lanes'
    std::size_t chunk_;    // of these, the fastest
    std::size_t stretch_;  // the next ones
    std::size_t above_;    // the number of these two together
    double pattern_[2][most_slots];
    double change_[2][unit_bits][most_slots];  // row sums when a column flips: to +1, to -1
    Column base_;                              // row sums with the two fastest columns at +1
    Vector product_[MinorsPlan::most_pairs][4];
    Vector prefix_[MinorsPlan::most_pairs][4];
    // Over the chunk so far: terms with the second column at +1, at -1, and with the first one at
    // -1. For rows that feel neither the first of these is the total.
    Column totals_[3];
    Column flips_[level_columns];
    Column sums_[3 + level_columns];  // over the stretch: the two fastest columns, no column, the
                                      // chunk's
    Column chunk_flips_[level_columns];
    Column section_[3 + unit_bits];
};

inline void minors_double(const DoubleProblem& problem, Range units, DoubleSums& out) {
    const MinorsPlan plan(problem);
    const auto kernel = std::make_unique<DoubleMinors>(problem, plan);
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) kernel->run(unit, out);
}
