// The path of class_sums.hpp for any processor: one number at a time, four abreast.
#include <array>

#include "class_sums/class_sums_inner.hpp"

namespace anonymatch::class_sums {
namespace {

struct Numbers {
    static constexpr std::size_t size = 4;
    using Modulus = Field;
    std::array<Word, size> x;

    static Numbers all(Word value) noexcept { return {{value, value, value, value}}; }
    static Numbers zero() noexcept { return all(0); }
    static Numbers load(const Word* from) noexcept {
        return {{from[0], from[1], from[2], from[3]}};
    }
    void store(Word* to) const noexcept {
        for (std::size_t k = 0; k < size; ++k) to[k] = x[k];
    }
    [[nodiscard]] Word sum(const Field& field) const noexcept {
        u128 total = 0;
        for (const Word one : x) total += one;
        return static_cast<Word>(total % field.p);
    }
    [[nodiscard]] Numbers reduced(const Field& field) const noexcept {
        Numbers made = *this;
        for (Word& one : made.x) one = field.reduced(one);
        return made;
    }
};

inline Numbers add(Numbers a, const Numbers& b) noexcept {
    for (std::size_t k = 0; k < Numbers::size; ++k) a.x[k] += b.x[k];
    return a;
}

inline Numbers multiply(Numbers a, const Numbers& b, const Field& field) noexcept {
    for (std::size_t k = 0; k < Numbers::size; ++k) a.x[k] = field.multiply(a.x[k], b.x[k]);
    return a;
}

}  // namespace

Word Portable::count(const Grid& grid, const OuterPoint& point) {
    return count_inner<Numbers>(grid, point);
}

void Portable::minors(const Grid& grid, const OuterPoint& point, Words& scratch, Words& by_point,
                      Words& sums) {
    minors_inner<Numbers>(grid, point, scratch, by_point, sums);
}

}  // namespace anonymatch::class_sums
