// Memory that grows in place and goes back to the system when it is freed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "common/large_vector.hpp"

namespace anonymatch {

#if defined(__linux__)

inline constexpr std::size_t mapped_from = std::size_t{1} << 20;  // bytes; below, malloc is quicker

inline void free_pages(void* memory, std::size_t bytes) noexcept {
    if (bytes < mapped_from)
        std::free(memory);
    else
        munmap(memory, bytes);
}

/// The memory with more bytes, maybe elsewhere; null, and nothing changed, if there is not so much.
inline void* resized_pages(void* memory, std::size_t bytes, std::size_t more) noexcept {
    if (more < mapped_from) return std::realloc(memory, more);
    void* moved = bytes < mapped_from ? mmap(nullptr, more, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                      : mremap(memory, bytes, more, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return nullptr;
    if (more >= huge_page) advise_huge(moved, more);
    if (bytes < mapped_from) {
        if (bytes > 0) std::memcpy(moved, memory, bytes);
        std::free(memory);
    }
    return moved;
}

#else

inline void free_pages(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}

inline void* resized_pages(void* memory, std::size_t /*bytes*/, std::size_t more) noexcept {
    return std::realloc(memory, more);
}

#endif

}  // namespace anonymatch
