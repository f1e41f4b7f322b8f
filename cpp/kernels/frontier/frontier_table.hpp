// Growing arrays of states: keys and values side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "common/pages.hpp"

namespace anonymatch::frontier {

/// Raw growing memory. Large arrays are mapped pages: they grow by remapping, which neither copies nor
/// holds two copies, and go back to the system when they are freed, where malloc would keep them for
/// the thread that had them. That is why this is no std::vector.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    ~Buffer() { release(); }
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
        if (!resize(std::max(wanted, capacity_ + capacity_ / 2))) throw std::bad_alloc();
    }
    /// Room for all that may come, if there are addresses for it: nothing is paid until it is used.
    void foresee(std::size_t wanted) noexcept {
        if (wanted > capacity_) static_cast<void>(resize(wanted));
    }
    void release() noexcept {
        free_pages(data_, capacity_ * sizeof(T));
        data_ = nullptr;
        capacity_ = 0;
    }

private:
    [[nodiscard]] bool resize(std::size_t size) noexcept {
        void* moved = resized_pages(data_, capacity_ * sizeof(T), size * sizeof(T));
        if (moved == nullptr) return false;
        data_ = static_cast<T*>(moved);
        capacity_ = size;
        return true;
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
