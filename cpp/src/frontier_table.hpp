// Growing arrays of states: keys and values side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "anonymatch/large_vector.hpp"

namespace anonymatch::frontier {

/// Raw growing memory. realloc moves large arrays by remapping pages on Linux, so growing neither
/// copies nor holds two copies; that is why this is no std::vector.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    ~Buffer() { std::free(data_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    void reserve(std::size_t wanted) {
        if (wanted <= capacity_) return;
        const std::size_t size = capacity_ * sizeof(T);
        const bool leap = size >= huge_from && size < huge_until;
        const std::size_t grown =
            std::max(wanted, leap ? 8 * capacity_ : capacity_ + capacity_ / 2);
        void* moved = leap ? huge_copy(grown * sizeof(T), size)
                           : std::realloc(static_cast<void*>(data_), grown * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = grown;
    }
    void release() noexcept {
        std::free(data_);
        data_ = nullptr;
        capacity_ = 0;
    }

private:
    static constexpr std::size_t huge_from = std::size_t{1} << 20;
    static constexpr std::size_t huge_until = std::size_t{32} << 20;

    void* huge_copy(std::size_t bytes, std::size_t used) {
        void* moved =
            std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
        if (moved == nullptr) return nullptr;
        advise_huge(moved, bytes);
        std::memcpy(moved, data_, used);
        std::free(data_);
        return moved;
    }

    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

template <class Word>
struct Table {
    Buffer<std::uint64_t> keys;
    Buffer<Word> values;
    std::size_t size = 0;

    void reserve(std::size_t states, std::size_t words) {
        keys.reserve(states);
        values.reserve(states * words);
    }
    void release() noexcept {
        keys.release();
        values.release();
        size = 0;
    }
    /// Moves `count` states from `from` down to `to`.
    void move_down(std::size_t from, std::size_t to, std::size_t count,
                   std::size_t words) noexcept {
        if (count == 0 || from == to) return;
        std::memmove(keys.data() + to, keys.data() + from, count * sizeof(std::uint64_t));
        std::memmove(values.data() + to * words, values.data() + from * words,
                     count * words * sizeof(Word));
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return keys.capacity() * sizeof(std::uint64_t) + values.capacity() * sizeof(Word);
    }
};

}  // namespace anonymatch::frontier
