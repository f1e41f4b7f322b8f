#include "band_tables.hpp"

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

void block_offsets(int upper, int low, int size, std::vector<std::uint32_t>& offsets) {
    const std::size_t blocks = std::size_t{1} << upper;
    offsets.resize(blocks);
    std::array<std::uint32_t, band_width_limit + 1> lengths{};
    for (int held = 0; held <= upper; ++held)
        lengths[static_cast<std::size_t>(held)] =
            static_cast<std::uint32_t>(subsets(low, size - held));
    std::uint32_t at = 0;
    for (std::size_t mask = 0; mask < blocks; ++mask) {
        offsets[mask] = at;
        at += lengths[static_cast<std::size_t>(std::popcount(mask))];
    }
}

}  // namespace anonymatch::band
