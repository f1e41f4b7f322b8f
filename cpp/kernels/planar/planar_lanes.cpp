#include "planar/planar_lanes.hpp"

#include <vector>

namespace anonymatch::planar {

#if defined(__x86_64__)
bool eliminate_avx2(const Factors& factors, CancelFlag cancel);
bool invert_avx2(const Factors& factors, const Inverse& inverse, CancelFlag cancel);
void add_products_avx2(const Factors& factors, Lanes* target, const std::int32_t* to,
                       const Lanes& factor, const Lanes* value, const std::int32_t* from,
                       std::size_t size);
void sum_products_avx2(const Factors& factors, Lanes& sum, const Lanes* left,
                       const std::int32_t* at_left, const Lanes* right,
                       const std::int32_t* at_right, std::size_t size);
bool eliminate_avx512(const Factors& factors, CancelFlag cancel);
bool invert_avx512(const Factors& factors, const Inverse& inverse, CancelFlag cancel);
void add_products_avx512(const Factors& factors, Lanes* target, const std::int32_t* to,
                         const Lanes& factor, const Lanes* value, const std::int32_t* from,
                         std::size_t size);
void sum_products_avx512(const Factors& factors, Lanes& sum, const Lanes* left,
                         const std::int32_t* at_left, const Lanes* right,
                         const std::int32_t* at_right, std::size_t size);
#endif

namespace {

using Vector = Lanes;

template <class Operation>
Vector each(const Operation& operation) noexcept {
    Vector result;
    for (int k = 0; k < 8; ++k) result.lane[k] = operation(k);
    return result;
}
inline Vector load(const Lanes& x) noexcept {
    return x;
}
inline void store(Lanes& x, const Vector& value) noexcept {
    x = value;
}
inline Vector all(double value) noexcept {
    return each([&](int) { return value; });
}
inline Vector multiply(const Vector& a, const Vector& b) noexcept {
    return each([&](int k) { return a.lane[k] * b.lane[k]; });
}
inline Vector add(const Vector& a, const Vector& b) noexcept {
    return each([&](int k) { return a.lane[k] + b.lane[k]; });
}
inline Vector subtract(const Vector& a, const Vector& b) noexcept {
    return each([&](int k) { return a.lane[k] - b.lane[k]; });
}
inline Vector multiply_subtract(const Vector& a, const Vector& b, const Vector& c) noexcept {
    return each([&](int k) { return __builtin_fma(a.lane[k], b.lane[k], -c.lane[k]); });
}
inline Vector negative_multiply_add(const Vector& a, const Vector& b, const Vector& c) noexcept {
    return each([&](int k) { return __builtin_fma(-a.lane[k], b.lane[k], c.lane[k]); });
}

#include "planar/planar_elimination.hpp"

bool eliminate_plain(const Factors& factors, CancelFlag cancel) {
    return eliminate_all(factors, cancel);
}
bool invert_plain(const Factors& factors, const Inverse& inverse, CancelFlag cancel) {
    return invert_all(factors, inverse, cancel);
}
void add_products_plain(const Factors& factors, Lanes* target, const std::int32_t* to,
                        const Lanes& factor, const Lanes* value, const std::int32_t* from,
                        std::size_t size) {
    add_all_products(factors, target, to, factor, value, from, size);
}
void sum_products_plain(const Factors& factors, Lanes& sum, const Lanes* left,
                        const std::int32_t* at_left, const Lanes* right,
                        const std::int32_t* at_right, std::size_t size) {
    sum_all_products(factors, sum, left, at_left, right, at_right, size);
}

}  // namespace

std::vector<Instructions> instructions() {
    std::vector<Instructions> known;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        known.push_back(
            {eliminate_avx512, invert_avx512, add_products_avx512, sum_products_avx512});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        known.push_back({eliminate_avx2, invert_avx2, add_products_avx2, sum_products_avx2});
#endif
    known.push_back({eliminate_plain, invert_plain, add_products_plain, sum_products_plain});
    return known;
}

Lanes times(const Factors& factors, const Lanes& x, const Lanes& y) {
    return Modulus(factors).product(x, y);
}

}  // namespace anonymatch::planar
