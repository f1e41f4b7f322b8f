// Which path of glynn.hpp runs.
#include <cassert>

#include "glynn/glynn_packing.hpp"

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

std::uint64_t glynn_units(int n) noexcept {
    return n - 1 <= glynn::unit_bits ? 1 : std::uint64_t{1} << (n - 1 - glynn::unit_bits);
}

GlynnMatrix::GlynnMatrix(std::span<const std::uint32_t> matrix, int n) {
    assert(1 <= n && n <= glynn_largest_n);
    assert(matrix.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    packed_ = std::make_shared<const glynn::Packed>(matrix, n);
}

int GlynnMatrix::n() const noexcept {
    return packed_->problem.n;
}

int GlynnMatrix::factors() const noexcept {
    return packed_->packing.factors();
}

void glynn_count(const GlynnMatrix& matrix, std::uint64_t first, std::uint64_t last, Isa isa,
                 std::span<std::uint64_t> out) noexcept {
    const glynn::Packed& packed = matrix.packed();
    assert(supported(isa) && first <= last && last <= glynn_units(matrix.n()));
    assert(1 <= out.size() && out.size() <= 3);
    const glynn::Range units{first, last};
#if defined(__x86_64__)
    if (isa == Isa::avx512 && glynn::count_avx512(packed, units, out)) return;
    if (isa == Isa::avx2 && glynn::count_avx2(packed, units, out)) return;
#else
    static_cast<void>(isa);
#endif
    glynn::count_portable(packed.problem, units, out);
}

int GlynnMatrix::kept_bits() const noexcept {
    return packed_->kept.fits ? 104 + packed_->problem.halved : 0;
}

void glynn_count_kept(const GlynnMatrix& matrix, std::uint64_t first, std::uint64_t last, Isa isa,
                      std::span<std::uint64_t> out) noexcept {
    assert(supported(isa) && first <= last && last <= glynn_units(matrix.n()));
    assert(out.size() == 3 && matrix.kept_bits() > 0);
#if defined(__x86_64__)
    if (isa == Isa::avx512 && glynn::count_kept_avx512(matrix.packed(), {first, last}, out)) return;
#endif
    glynn_count(matrix, first, last, isa, out);
}

void glynn_minors(const GlynnMatrix& matrix, std::uint64_t first, std::uint64_t last, Isa isa,
                  std::span<std::uint64_t> out) noexcept {
    const glynn::GlynnProblem& problem = matrix.packed().problem;
    [[maybe_unused]] const auto n = static_cast<std::size_t>(problem.n);
    assert(supported(isa) && first <= last && last <= glynn_units(problem.n));
    assert(out.size() % (n * n) == 0 && out.size() / (n * n) - 1 < 3);
    const glynn::Range units{first, last};
#if defined(__x86_64__)
    if (isa == Isa::avx512 && glynn::minors_avx512(problem, units, out)) return;
#else
    static_cast<void>(isa);
#endif
    glynn::minors_portable(problem, units, out);
}

}  // namespace anonymatch
