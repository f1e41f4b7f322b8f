// The state of a chain as bytes and back, on one kind of machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace anonymatch {

/// Arrays one after another, each behind its size in bytes.
class SnapshotWriter {
public:
    template <class T>
    void put(const T* values, std::size_t size) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::uint64_t bytes = size * sizeof(T);
        append(&bytes, sizeof bytes);
        append(values, size * sizeof(T));
    }
    template <class Vector>
    void put(const Vector& values) {
        put(values.data(), values.size());
    }
    [[nodiscard]] std::vector<std::uint8_t> bytes() && { return std::move(bytes_); }

private:
    void append(const void* from, std::size_t size) {
        const auto* const begin = static_cast<const std::uint8_t*>(from);
        if (size > 0) bytes_.insert(bytes_.end(), begin, begin + size);
    }

    std::vector<std::uint8_t> bytes_;
};

/// Reads them in the same order; nothing beyond the bytes is read, whatever they say.
class SnapshotReader {
public:
    explicit SnapshotReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    /// Whether the next array has exactly this size; it is copied then.
    template <class T>
    bool take(T* into, std::size_t size) {
        if (next() != size * sizeof(T)) return false;
        if (size > 0) std::memcpy(into, bytes_.data() + sizeof(std::uint64_t), size * sizeof(T));
        bytes_ = bytes_.subspan(sizeof(std::uint64_t) + size * sizeof(T));
        return true;
    }
    /// The same for a vector that has this size, or none.
    template <class Vector>
    bool take_or_none(Vector& into, std::size_t size) {
        into.resize(next() == 0 ? 0 : size);
        return take(into.data(), into.size());
    }
    [[nodiscard]] bool at_end() const { return bytes_.empty(); }

private:
    /// Bytes of the next array; no size that an array has if there is none.
    [[nodiscard]] std::uint64_t next() const {
        constexpr auto none = ~std::uint64_t{0};
        if (bytes_.size() < sizeof(std::uint64_t)) return none;
        std::uint64_t size = 0;
        std::memcpy(&size, bytes_.data(), sizeof size);
        return size <= bytes_.size() - sizeof size ? size : none;
    }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace anonymatch
