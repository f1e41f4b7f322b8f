// The floating minors of glynn.hpp, one sign vector a lane. Included by one file for each
// instruction set, inside its unnamed namespace, after glynn_double_lanes.hpp and `multiply_add`.
//
// Blocks follow Gray code. The third column, which flips after every other block, has totals of its
// own for either sign. Any other column that is about to flip takes the total so far with its sign
// (Abel's summation): sum_t d(t) s(t) = d(end) T(end) + 2 sum over flips of d(before) T(before).
// Totals pass through three levels: up to 64 blocks to a chunk, 16 chunks to a stretch, 32 stretches
// to a section, whose lanes are summed and added with compensation.

#include "glynn/glynn_minors_double_block.hpp"

class DoubleMinors : DoubleBlock {
public:
    DoubleMinors(const DoubleProblem& problem, const MinorsPlan& plan)
        : DoubleBlock(plan),
          problem_(problem),
          n_(static_cast<std::size_t>(problem.n)),
          slots_(plan.rows.size()),
          outer_(problem.inner() - first_outer),
          chunk_(std::min(outer_, chunk_columns)),
          stretch_(std::min(outer_ - chunk_, stretch_columns)),
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
    static constexpr std::size_t chunk_columns = 6;
    static constexpr std::size_t stretch_columns = 4;
    static constexpr std::size_t first_outer = 2 + lane_columns;

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

    /// All blocks of a chunk, which begins by the flips in `by`; their sums go to the stretch.
    void chunk(const double* by, bool odd) noexcept {
        for (Totals& totals : totals_)
            for (Column& column : totals)
                for (std::size_t slot = 0; slot < slots_; ++slot) column[slot] = Vector{};
        for (std::size_t k = 1; k < chunk_; ++k)
            for (std::size_t slot = 0; slot < slots_; ++slot) flips_[k][slot] = Vector{};
        // Two blocks at a time: the column that flips between them has totals of its own.
        const std::uint64_t blocks = std::uint64_t{1} << chunk_;
        for (std::uint64_t step = 2;; step += 2) {
            const bool before = (step & 2) == 0;
            block<false>(by, odd, totals_[before], totals_[!before], 0, flips_[0]);
            by = change_[before ? 0 : 1][0];
            if (step == blocks) {
                block<false>(by, !odd, totals_[!before], totals_[before], 0, flips_[0]);
                break;
            }
            const auto column = static_cast<std::size_t>(__builtin_ctzll(step));
            const bool minus = (step >> (column + 1) & 1) != 0;
            block<true>(by, !odd, totals_[!before], totals_[before], minus ? -1 : 1,
                        flips_[column]);
            by = change_[minus ? 0 : 1][column];
        }
        const std::size_t alone = 2 * plan_.ends[0];
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            const Vector second = totals_[0][1][slot] + totals_[1][1][slot];
            const bool split = slot >= alone;
            const Vector plus =
                split ? totals_[0][0][slot] + totals_[0][1][slot] : totals_[0][0][slot];
            const Vector minus =
                split ? totals_[1][0][slot] + totals_[1][1][slot] : totals_[1][0][slot];
            const Vector total = plus + minus;
            sums_[0][slot] += total - 2 * (totals_[0][2][slot] + totals_[1][2][slot]);
            sums_[1][slot] += total - 2 * second;
            sums_[2][slot] += total;
            sums_[3][slot] += plus - minus;
            for (std::size_t k = 1; k < chunk_; ++k) {
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
    std::size_t n_, slots_;
    std::size_t outer_;    // columns inside a unit but for the two fastest and the lanes'
    std::size_t chunk_;    // of these, the fastest
    std::size_t stretch_;  // the next ones
    std::size_t above_;    // the number of these two together
    double change_[2][unit_bits][most_slots];  // row sums when a column flips: to +1, to -1
    // Over the chunk so far, for either sign of the third column.
    Totals totals_[2];
    Column flips_[chunk_columns];
    Column sums_[3 + chunk_columns];  // over the stretch: the two fastest columns, no column, the
                                      // chunk's
    Column chunk_flips_[stretch_columns];
    Column section_[3 + unit_bits];
};

inline void minors_double(const DoubleProblem& problem, Range units, DoubleSums& out) {
    const MinorsPlan plan(problem);
    const auto kernel = std::make_unique<DoubleMinors>(problem, plan);
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) kernel->run(unit, out);
}
