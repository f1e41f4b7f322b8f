// Random numbers that depend on a seed and the number of a draw alone.
#pragma once

#include <cstdint>

namespace anonymatch {

/// The output function of splitmix64 (Steele, Lea, Flood 2014).
inline std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// One stream of splitmix64 for each pair of seed and index.
class Random {
public:
    Random(std::uint64_t seed, std::uint64_t index) noexcept
        : state_(mixed(mixed(seed) + golden * (index + 1))) {}

    std::uint64_t bits() noexcept { return mixed(state_ += golden); }
    /// In [0, 1).
    double unit() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// In [0, size), from the 32 bits given; off by at most size * 2^-32.
    static std::uint32_t below(std::uint32_t size, std::uint32_t bits) noexcept {
        return static_cast<std::uint32_t>((std::uint64_t{size} * bits) >> 32);
    }

private:
    static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
    std::uint64_t state_;
};

}  // namespace anonymatch
