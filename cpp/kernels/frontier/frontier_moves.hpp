// The pairs of a merge, kept so that the way back need not merge again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_merge.hpp"
#include "frontier/frontier_table.hpp"

namespace anonymatch::frontier {

struct MovePairs {
    std::span<const std::uint32_t> sources;
    std::span<const std::uint32_t> places;
};

/// Written forward, chunk by chunk; read step by step from the last to the first, each step's
/// chunks in the order in which they were written.
class Moves {
public:
    static constexpr std::size_t bytes_a_move = sizeof(std::uint32_t) + sizeof(std::uint16_t);

    /// Room for so many moves in all.
    void foresee(std::size_t moves) noexcept {
        sources_.foresee(moves);
        places_.foresee(moves);
    }

    void begin_step() { steps_.push_back({sizes_.size(), size_}); }

    void add(const KeyMerger& merger, std::size_t streams, std::size_t chunk) {
        sizes_.push_back(static_cast<std::uint32_t>(chunk));
        for (std::size_t i = 0; i < streams; ++i) {
            const std::span<const std::uint32_t> from = merger.sources(i);
            const std::span<const std::uint32_t> to = merger.places(i);
            sizes_.push_back(static_cast<std::uint32_t>(from.size()));
            sources_.reserve(size_ + from.size());
            places_.reserve(size_ + from.size());
            std::copy(from.begin(), from.end(), sources_.data() + size_);
            std::copy(to.begin(), to.end(), places_.data() + size_);
            size_ += from.size();
        }
    }

    /// To the first chunk of the last step that was not read yet.
    void rewind() { at_ = steps_.back(); }
    /// The length of the next chunk of the step; 0 at its end.
    [[nodiscard]] std::size_t next_chunk() noexcept {
        return at_.sizes == sizes_.size() ? 0 : sizes_[at_.sizes++];
    }
    /// The pairs of the chunk's next stream; good until the next call.
    [[nodiscard]] MovePairs next_stream() {
        const std::size_t n = sizes_[at_.sizes++];
        const std::uint16_t* places = places_.data() + at_.moves;
        std::copy_n(places, n, wide_.begin());
        const std::uint32_t* sources = sources_.data() + at_.moves;
        at_.moves += n;
        return {{sources, n}, {wide_.data(), n}};
    }
    void end_step() {
        sizes_.resize(steps_.back().sizes);
        size_ = steps_.back().moves;
        steps_.pop_back();
    }

    void release() noexcept {
        sources_.release();
        places_.release();
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return sources_.capacity() * sizeof(std::uint32_t) +
               places_.capacity() * sizeof(std::uint16_t) +
               sizes_.capacity() * sizeof(std::uint32_t);
    }

private:
    struct Place {
        std::size_t sizes = 0;
        std::size_t moves = 0;
    };
    Buffer<std::uint32_t> sources_;
    Buffer<std::uint16_t> places_;  // within a chunk, so they are short
    std::size_t size_ = 0;
    std::vector<std::uint32_t> sizes_;  // of each chunk, then of each of its streams
    std::vector<Place> steps_;
    Place at_;
    std::vector<std::uint32_t> wide_ = std::vector<std::uint32_t>(KeyMerger::chunk);
};

}  // namespace anonymatch::frontier
