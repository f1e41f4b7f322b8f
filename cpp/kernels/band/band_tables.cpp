#include "band/band_tables.hpp"

namespace anonymatch::band {
namespace {

/// Masks of `bits` bits by size, rising, and the place of every mask among its size.
struct Masks {
    std::array<std::vector<unsigned>, low_limit + 1> of_size;
    std::array<std::uint8_t, 1U << low_limit> place{};

    explicit Masks(int bits) {
        for (unsigned mask = 0; mask < (1U << bits); ++mask) {
            auto& same = of_size[static_cast<std::size_t>(std::popcount(mask))];
            place[mask] = static_cast<std::uint8_t>(same.size());
            same.push_back(mask);
        }
    }
};

Joins make_joins(int bits) {
    const Masks masks(bits);
    Joins joins;
    for (int size = 0; size < bits; ++size) {
        const auto s = static_cast<std::size_t>(size);
        for (const unsigned mask : masks.of_size[s + 1])
            for (int bit = 0; bit < bits; ++bit)
                if ((mask >> bit & 1U) != 0)
                    joins.ups[s].push_back(
                        {masks.place[mask ^ (1U << bit)], static_cast<std::uint8_t>(bit)});
        for (const unsigned mask : masks.of_size[s])
            for (int bit = 0; bit < bits; ++bit)
                if ((mask >> bit & 1U) == 0)
                    joins.downs[s].push_back(
                        {masks.place[mask | 1U << bit], static_cast<std::uint8_t>(bit)});
    }
    return joins;
}

constexpr std::array<std::uint8_t, 256> held_low = [] {
    std::array<std::uint8_t, 256> held{};
    for (std::size_t mask = 1; mask < 256; ++mask)
        held[mask] = static_cast<std::uint8_t>(held[mask / 2] + mask % 2);
    return held;
}();

using Insertions =
    std::array<std::array<std::array<Insertion, low_limit + 1>, fresh_limit + 1>, low_limit + 1>;

Insertions make_insertions() {
    Insertions all;
    for (int bits = 0; bits <= low_limit; ++bits) {
        const Masks masks(bits);
        for (int fresh = 0; fresh <= fresh_limit && fresh <= bits; ++fresh)
            for (int size = 0; size <= bits; ++size) {
                Insertion& one =
                    all[static_cast<std::size_t>(bits)][static_cast<std::size_t>(fresh)]
                       [static_cast<std::size_t>(size)];
                for (const unsigned mask : masks.of_size[static_cast<std::size_t>(size)]) {
                    const unsigned held = mask & ((1U << fresh) - 1);
                    if (held == 0) {
                        one.none.push_back(masks.place[mask]);
                    } else if (std::has_single_bit(held)) {
                        one.one[static_cast<std::size_t>(std::countr_zero(held))].push_back(
                            masks.place[mask]);
                    } else {
                        one.more.push_back(masks.place[mask]);
                    }
                }
            }
    }
    return all;
}

}  // namespace

const Joins& joins(int bits) {
    static const auto all = [] {
        std::array<Joins, low_limit + 1> made;
        for (int b = 0; b <= low_limit; ++b) made[static_cast<std::size_t>(b)] = make_joins(b);
        return made;
    }();
    return all[static_cast<std::size_t>(bits)];
}

const Insertion& insertion(int bits, int fresh, int size) {
    static const Insertions all = make_insertions();
    return all[static_cast<std::size_t>(bits)][static_cast<std::size_t>(fresh)]
              [static_cast<std::size_t>(size)];
}

void BlockOffsets::locate(int upper, int low, int size) {
    if (upper == upper_ && low == low_ && size == size_) return;
    upper_ = upper;
    low_ = low;
    size_ = size;
    if (offsets_.size() < blocks()) offsets_.resize(blocks());
    std::uint32_t at = 0;
    std::array<std::uint32_t, band_width_limit + 1> lengths{};
    for (int held = 0; held <= upper; ++held)
        lengths[static_cast<std::size_t>(held)] =
            static_cast<std::uint32_t>(subsets(low, size - held));
    for (std::size_t mask = 0; mask < blocks(); ++mask) {
        offsets_[mask] = at;
        at += lengths[std::size_t{held_low[mask & 255]} + held_low[mask >> 8 & 255] +
                      held_low[mask >> 16]];
    }
}

}  // namespace anonymatch::band
