// Bands: blocks whose rows are intervals of columns with rising ends, as logs by time are.
//
// Rows are done in order. Before a row the live columns are a window, and a state is the set of
// those in use. The next row may take any column of its window, so a step is the same for all sets
// of one size, and states need no keys: the values of all k-sets of a window lie in one array, by
// rising mask, the oldest column at the highest bit. Let F be the columns that leave with the row,
// E those that come with it, R the others. With X the values where F is all used and Y_c those
// where it is used but for c, the next layer is
//   E unused:        sum of w_c * Y_c over F, plus Up(X), Up(X)[U] = sum of w_c * X[U - c] over U
//   one c of E used: w_c * X
//   more of E used:  0.
// X and all Y_c are stretches of the array. Up adds whole blocks (masks equal in the higher bits)
// but for the lowest eight bits, where tables say what joins what. A block with more columns than
// rows keeps the sets of several sizes, one array each, and sums over the subsets of F.
//
// Exactness. Whole numbers have digits of b bits (the plan's `digit_bits`, 52 in a square block),
// one array a digit. A digit of the next layer is a sum of at most 0.98 * 2^(64 - b) digits, each
// below 2^b, so none overflows before its carry is taken, and none when a carry comes; a digit more
// is opened when a carry asks for it. The count is the sum
// over the states of one layer of ways before times ways after.
// Doubles: every value is a sum of products of positive numbers, with at most `roundings` roundings
// on the way (a row: one a column, and one a stretch that is added), and is scaled by powers of
// two. So are the weights of a row, to a largest in [1, 2), so that any positive finite weights do.
// A layer is looked at before its values may leave 2^-200 .. 2^200; when they spread further than
// that, or the weights of a row beyond 2^500, the job says `failed`: so nothing is ever dropped, and
// products of two values and a weight, and a sum of them, stay in range. So a count has relative error at most 1.01 * roundings * 2^-53. A
// chance is a ratio of sums of products of a value before, a weight and a value after. Such a sum
// adds up to 70 terms of a block (40 roundings at most), then up to 4096 blocks, then up to 1024
// such parts: a chance has relative error at most 2.1 * (roundings + 5200) * 2^-53.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "frontier/frontier.hpp"

namespace anonymatch {

/// Row i has the columns starts[i] .. stops[i] - 1. Both rise (not strictly), starts[0] = 0,
/// starts[i] <= stops[i - 1], stops.back() = n_columns; std::invalid_argument otherwise.
struct BandView {
    std::span<const std::int32_t> starts;
    std::span<const std::int32_t> stops;
};

/// Windows up to this width are served; wider ones have too many states anyway.
inline constexpr std::int32_t band_width_limit = 30;

/// What a band costs. The unit of work is about the time of one addition of doubles.
struct BandPlan {
    bool feasible = false;
    std::int32_t width = 0;            // widest window
    double work = 0;                   // of one pass over doubles
    double words_work = 0;             // of the exact count
    double peak_states = 0;            // most states of a layer
    double total_states = 0;           // of all layers
    double words_bytes = 0;            // of the exact count
    int digit_bits = 52;               // of a digit of the exact count
    double roundings = 0;              // at most, of a value over doubles
    std::size_t meeting = 0;           // the row before which two passes over digits meet
    std::vector<double> row_work;      // of each row, over doubles
    std::vector<double> row_bits;      // what each row adds at most to log2 of the count
    std::vector<double> layer_states;  // before the first row, and after each

    [[nodiscard]] double real_bytes() const;
    /// For all chances of a stretch, one of so many: the least limit of bytes that is of use. With
    /// less there are more segments, and the first layer of each is kept.
    [[nodiscard]] double kept_bytes(double stretches = 1) const;
    /// What all chances of such a stretch take with this limit (0: the least).
    [[nodiscard]] double edge_bytes(double stretches = 1, double byte_limit = 0) const;
};

BandPlan plan_band(const BandView& band);

enum class BandTask {
    count_words,
    count_real,
    edges,
    forward_words,  // passes: a layer goes in, the one at the other end of the stretch comes out
    back_words,
    forward_real,
    back_real,
};

/// Some rows of a band, and the layers at their ends. A long band can be done in stretches:
/// passes from both ends give the layers between them, where they meet the count, and chances of a
/// stretch need the two layers at its ends.
struct BandStretch {
    std::size_t first = 0;
    std::size_t last = static_cast<std::size_t>(-1);  // rows up to this one
    std::span<const std::uint64_t> digits{};          // the layer that goes in, an array a digit
    std::span<const double> before{};                 // ways before the first row
    std::span<const double> after{};                  // ways after the last
};

/// The values of a layer's states are `values` times 2^exponent.
struct BandLayer {
    std::vector<double> values;
    std::int64_t exponent = 0;
};

/// The count where ways before and ways after a layer meet, least significant word first.
std::vector<std::uint64_t> meet_words(std::span<const std::uint64_t> before,
                                      std::span<const std::uint64_t> after, std::size_t states,
                                      int digit_bits);
/// The same over doubles, with at most 5200 roundings.
double meet_real(std::span<const double> before, std::span<const double> after);

/// A job. Make it, call `run` until it says true, then read results. It copies its input.
class Band {
public:
    /// `weights` is empty, or one positive finite double an edge, by row (not with count_words).
    /// `byte_limit` (0: none) is for edges: layers beyond it are dropped and made again.
    Band(const BandView& band, std::span<const double> weights, BandTask task,
         std::size_t byte_limit = 0, const BandStretch& stretch = {});
    ~Band();
    Band(Band&&) noexcept;
    Band& operator=(Band&&) noexcept;

    /// Does about `max_work` (at least a step) and says whether the job is finished.
    bool run(double max_work, CancelFlag cancel = {});

    [[nodiscard]] double work_done() const noexcept;
    /// Whether values spread too far for one scale a layer: there is no result (doubles).
    [[nodiscard]] bool failed() const noexcept;
    /// The count, least significant word first (count_words).
    [[nodiscard]] std::vector<std::uint64_t> count_words() const;
    [[nodiscard]] ScaledReal count_real() const;              // count_real, edges of all rows
    [[nodiscard]] std::vector<double> posteriors() const;     // edges: chances, by row
    [[nodiscard]] std::vector<std::uint64_t> digits() const;  // forward_words, back_words
    [[nodiscard]] BandLayer layer() const;                    // forward_real, back_real

    class Job;

private:
    std::unique_ptr<Job> job_;
};

}  // namespace anonymatch
