// Which path of signs.hpp runs.
#include <cassert>

#include "signs_packing.hpp"

namespace anonymatch {

bool supported(Isa isa) noexcept {
#if defined(__x86_64__)
    switch (isa) {
        case Isa::portable:
            return true;
        case Isa::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case Isa::avx512:
            return supported(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
    }
    return false;
#else
    return isa == Isa::portable;
#endif
}

Isa best_isa() noexcept {
    return supported(Isa::avx512) ? Isa::avx512 : supported(Isa::avx2) ? Isa::avx2 : Isa::portable;
}

std::uint64_t signs_units(int n) noexcept {
    return n - 1 <= detail::unit_bits ? 1 : std::uint64_t{1} << (n - 1 - detail::unit_bits);
}

int signs_factors(std::span<const std::uint32_t> matrix, int n) noexcept {
    return detail::pack(detail::SignsProblem(matrix, n)).factors();
}

void signs_count(std::span<const std::uint32_t> matrix, int n, std::uint64_t first,
                 std::uint64_t last, Isa isa, std::span<std::uint64_t> out) noexcept {
    assert(1 <= n && n <= signs_largest_n && supported(isa));
    assert(matrix.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    assert(first <= last && last <= signs_units(n) && 1 <= out.size() && out.size() <= 3);
    const detail::SignsProblem problem(matrix, n);
    const detail::Range units{first, last};
#if defined(__x86_64__)
    if (isa == Isa::avx512 && detail::count_avx512(problem, units, out)) return;
    if (isa == Isa::avx2 && detail::count_avx2(problem, units, out)) return;
#else
    static_cast<void>(isa);
#endif
    detail::count_portable(problem, units, out);
}

void signs_minors(std::span<const std::uint32_t> matrix, int n, std::uint64_t first,
                  std::uint64_t last, Isa isa, std::span<std::uint64_t> out) noexcept {
    assert(1 <= n && n <= signs_largest_n && supported(isa));
    assert(matrix.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    assert(first <= last && last <= signs_units(n));
    assert(out.size() % matrix.size() == 0 && out.size() / matrix.size() - 1 < 3);
    const detail::SignsProblem problem(matrix, n);
    const detail::Range units{first, last};
#if defined(__x86_64__)
    if (isa == Isa::avx512 && detail::minors_avx512(problem, units, out)) return;
#else
    static_cast<void>(isa);
#endif
    detail::minors_portable(problem, units, out);
}

}  // namespace anonymatch
