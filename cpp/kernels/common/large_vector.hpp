// Vectors for tens of megabytes: fresh memory costs more than the work done in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace anonymatch {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

/// Asks Linux to back this memory by huge pages: a hint that it may refuse.
inline void advise_huge([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

/// Asks Linux to back large blocks by huge pages (2 MiB instead of 4 KiB): fewer faults when they
/// are first touched, and random access that seldom misses the processor's table of pages. Elements
/// made without a value stay uninitialised.
template <class T>
struct LargeAllocator {
    static_assert(std::is_trivially_default_constructible_v<T>);
    using value_type = T;

    LargeAllocator() = default;
    template <class Other>
    LargeAllocator(const LargeAllocator<Other>& /*other*/) noexcept {}

    T* allocate(std::size_t size) {
        if (size > std::size_t(-1) / sizeof(T)) throw std::bad_array_new_length();
        if (!is_large(size)) return std::allocator<T>().allocate(size);
        void* memory = ::operator new(size * sizeof(T), std::align_val_t{huge_page});
        advise_huge(memory, size * sizeof(T));
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t size) noexcept {
        if (!is_large(size)) return std::allocator<T>().deallocate(memory, size);
        ::operator delete(memory, std::align_val_t{huge_page});
    }

    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) == 0) {
            ::new (static_cast<void*>(place)) U;
        } else {
            ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
        }
    }

    friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

private:
    static bool is_large(std::size_t size) { return size * sizeof(T) >= 2 * huge_page; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace anonymatch
