// Memory that grows in place and goes back to the system when it is freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/large_vector.hpp"

#if defined(__linux__)
#include <unistd.h>
#endif

namespace anonymatch {

#if defined(__linux__)

inline constexpr std::size_t mapped_from = std::size_t{1} << 20;  // bytes; below, malloc is quicker

inline void free_pages(void* memory, std::size_t bytes) noexcept {
    if (bytes < mapped_from)
        std::free(memory);
    else
        munmap(memory, bytes);
}

/// Fresh pages; where they are many, from an address at which huge ones can begin. Null if there is not
/// so much.
inline void* fresh_pages(std::size_t bytes) noexcept {
    const auto map = [](std::size_t size) {
        void* memory =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
    };
    if (bytes < huge_page) return map(bytes);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // 4, 16 or 64 KiB on ARM
    const std::size_t whole = (bytes + page - 1) / page * page;
    char* memory = map(whole + huge_page);
    if (memory == nullptr) return nullptr;
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) % huge_page;
    if (before > 0) munmap(memory, before);
    if (before < huge_page) munmap(memory + before + whole, huge_page - before);
    return memory + before;
}

/// The memory with more bytes, maybe elsewhere; null, and nothing changed, if there is not so much.
inline void* resized_pages(void* memory, std::size_t bytes, std::size_t more) noexcept {
    if (more < mapped_from) return std::realloc(memory, more);
    void* moved =
        bytes < mapped_from ? fresh_pages(more) : mremap(memory, bytes, more, MREMAP_MAYMOVE);
    if (moved == nullptr || moved == MAP_FAILED) return nullptr;
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
