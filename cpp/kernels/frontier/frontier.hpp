// Frontier dynamic programme: weighted count of perfect matchings, all edge counts, exact samples.
//
// Rows are done one by one in a given order. A state is the set of used columns that still have
// rows to come; its value is the weighted number of ways to match the rows done so far that use
// exactly it (and the columns already gone: all of them in a square block, any of them otherwise).
// Layers are lists sorted by key. For a row, the states that lack column c keep their order when c
// is set, and so do those among them that hold all leaving columns when these are cleared: a row of
// degree d is a d-way merge of sorted streams. Nothing is hashed and memory is only streamed.
//
// Exactness. Words modulo 2^64 and modulo primes only add and multiply, never divide, so they are
// the residues of the true integer. Doubles only add and multiply positive numbers: every state's
// value takes at most deg(row) roundings a row, so the count has relative error at most (1 +
// 2^-53)^edges - 1 <= 1.01 * edges * 2^-53 (edges < 2^46), a posterior, a ratio of two sums of
// products of such values, at most 2.1 * (edges + 1100) * 2^-53. Layers are scaled by powers of
// two. When the values of a layer spread so far that one scale could lose some, the job starts
// again with an exponent a state; then nothing overflows, and a term is dropped only below 2^-969
// of the sum it joins. So no number of rows and no spread of weights spoils these bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "frontier/frontier_order.hpp"

namespace anonymatch {

enum class FrontierTask { count, edges, sample };

/// mantissa * 2^exponent, mantissa in [1, 2) or 0.
struct ScaledReal {
    double mantissa = 0;
    std::int64_t exponent = 0;
};

/// What to compute, over integers given by residues. Word 0 is modulo 2^64 and word k > 0 modulo
/// `primes[k - 1]`, odd, 2^32 < prime < 2^63 (primality is for the caller's remaindering; the
/// kernel does not divide).
struct FrontierWords {
    std::span<const std::uint64_t> primes;
    /// Empty (all weights one), or edge-major: words a edge, in CSR order, each reduced.
    std::span<const std::uint64_t> weights;
};

/// The same over doubles.
struct FrontierReals {
    std::span<const double> weights;  // empty, or one a edge, positive and finite
};

/// A job. Make it, call `run` until it says true, then read results. It copies its input.
class Frontier {
public:
    /// `order` is a permutation of rows with width <= frontier_width_limit (std::invalid_argument
    /// otherwise). Task count or edges. `byte_limit` (0: none) is for edges: if all layers would
    /// take more, every k-th is kept and the others are made again on the way back (one more pass).
    Frontier(const BlockView& block, std::span<const std::int32_t> order,
             const FrontierWords& values, FrontierTask task, std::size_t byte_limit = 0);
    /// Task count or edges over doubles.
    Frontier(const BlockView& block, std::span<const std::int32_t> order,
             const FrontierReals& values, FrontierTask task, std::size_t byte_limit = 0);
    /// `size` independent matchings, each with chance weight / count; a function of the arguments.
    Frontier(const BlockView& block, std::span<const std::int32_t> order,
             const FrontierReals& values, std::size_t size, std::uint64_t seed,
             std::size_t byte_limit = 0);
    ~Frontier();
    Frontier(Frontier&&) noexcept;
    Frontier& operator=(Frontier&&) noexcept;

    /// Does about `max_transitions` (at least some) and says whether the job is finished. Returns
    /// false early when `cancel` is raised. The answer does not depend on how the work is cut.
    bool run(double max_transitions, CancelFlag cancel = {});

    [[nodiscard]] double transitions_done() const noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;  // allocated now
    [[nodiscard]] std::size_t peak_states() const noexcept;

    /// One residue a word (words).
    [[nodiscard]] std::vector<std::uint64_t> count_words() const;
    /// Edge-major, CSR order, words a edge: the sum over matchings through the edge of the product
    /// of the *other* weights, that is the edge's minor (words, task edges).
    [[nodiscard]] std::vector<std::uint64_t> edge_words() const;

    [[nodiscard]] ScaledReal count_real() const;  // doubles, all tasks
    /// CSR order: chance of the edge, weight * minor / count; all 0 when the count is 0 (doubles,
    /// task edges).
    [[nodiscard]] std::vector<double> posteriors() const;
    /// size * n_rows columns, sample-major, by row of the block; empty when the count is 0.
    [[nodiscard]] std::vector<std::int32_t> samples() const;

    class Job;

private:
    std::unique_ptr<Job> job_;
    double spent_ = 0;  // transitions of a job in plain doubles that was given up
};

}  // namespace anonymatch
