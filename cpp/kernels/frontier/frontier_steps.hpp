// The steps of a frontier run: which bits a row sets, which it demands, which it clears.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_order.hpp"

namespace anonymatch::frontier {

/// Source states with `key & mask == expect` and at most `most` bits go to `key + delta` (modulo
/// 2^64). Among the sources of one stream the bits under `mask` agree, so adding `delta` keeps
/// their order.
struct Stream {
    std::uint64_t mask = 0;
    std::uint64_t expect = 0;
    std::uint64_t delta = 0;
    std::int32_t edge = -1;  // place in CSR order; -1 when no edge is used
    std::int32_t most = 64;
};

/// Square blocks: one step a row, leaving columns are demanded and cleared in the same step.
/// Otherwise a leaving column may be unused, and each is forgotten in a step of its own after its
/// last row. No more than n_columns - n_rows can stay unused, so a state with too many used live
/// columns is a dead end and is left out there.
class Steps {
public:
    Steps(const BlockView& block, std::span<const std::int32_t> order);

    [[nodiscard]] std::size_t size() const noexcept { return steps_.size(); }
    [[nodiscard]] std::size_t max_streams() const noexcept { return max_streams_; }
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Upper bounds for the whole run.
    [[nodiscard]] double most_states() const noexcept { return most_states_; }
    [[nodiscard]] double most_transitions() const noexcept { return most_transitions_; }
    /// The row of a step, or -1 for a forgetting step.
    [[nodiscard]] std::int32_t row(std::size_t step) const noexcept { return steps_[step].row; }
    [[nodiscard]] std::span<const std::int32_t> indptr() const noexcept { return indptr_; }
    /// The streams of a step, in the order of the row's columns.
    void streams(std::size_t step, std::vector<Stream>& out) const;

private:
    struct Step {
        std::int32_t row;
        std::int32_t slot;  // of the forgotten column
        std::int32_t most;  // used live columns after forgetting it
    };
    std::vector<std::int32_t> indptr_;
    std::vector<std::uint8_t> slots_;     // by edge
    std::vector<std::uint64_t> leaving_;  // by row, square blocks only
    std::vector<Step> steps_;
    std::size_t max_streams_ = 2;
    double most_states_;
    double most_transitions_;
};

}  // namespace anonymatch::frontier
