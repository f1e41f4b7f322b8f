// Merging the streams of one step: where each source state goes in the next layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_steps.hpp"

namespace anonymatch::frontier {

/// Finds, chunk by chunk, the sorted keys of the next layer and for every stream the pairs
/// (source index, place within the chunk). Its whole position is in the object, so a step can be
/// left and taken up again between chunks.
class KeyMerger {
public:
    /// Keys a chunk at most.
    static constexpr std::size_t chunk = 1024;

    explicit KeyMerger(std::size_t max_streams);

    void begin(std::span<const Stream> streams);
    /// Writes the next keys (room for `chunk` is needed) and returns how many; 0: the step is done.
    /// `source` must be the same layer, of fewer than 2^32 states, at every call of a step.
    std::size_t next(std::span<const std::uint64_t> source, std::uint64_t* keys);

    /// The pairs of the last chunk, for stream i.
    [[nodiscard]] std::span<const std::uint32_t> sources(std::size_t i) const noexcept {
        return {index_.data() + i * room + cursors_[i].from, cursors_[i].head - cursors_[i].from};
    }
    [[nodiscard]] std::span<const std::uint32_t> places(std::size_t i) const noexcept {
        return {place_.data() + i * room + cursors_[i].from, cursors_[i].head - cursors_[i].from};
    }
    /// States looked at since the object was made, once a stream.
    [[nodiscard]] double looked_at() const noexcept { return looked_at_; }
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    static constexpr std::size_t room = chunk + 16;  // whole vectors are stored, and an end mark
    struct Cursor {
        std::size_t scanned = 0;  // source states looked at
        std::size_t filled = 0;   // buffered targets
        std::size_t head = 0;     // the first not yet merged
        std::size_t from = 0;     // head before the last chunk
    };

    void refill(std::size_t i, std::span<const std::uint64_t> source);

    std::vector<Stream> streams_;
    std::vector<Cursor> cursors_;
    std::vector<std::uint64_t> target_;
    std::vector<std::uint32_t> index_;
    std::vector<std::uint32_t> place_;
    double looked_at_ = 0;
};

}  // namespace anonymatch::frontier
