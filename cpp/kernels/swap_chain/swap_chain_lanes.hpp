// A stretch of a sweep in vectors of replicas. Included by one file for each instruction set, inside
// its unnamed namespace, after that file chose its target and made `Lanes`.

#include "swap_chain/replica_vectors.hpp"

template <bool weighted, bool tilted>
std::int32_t stretch(const Sweep& sweep, std::size_t begin, std::size_t end, std::int32_t* crossing,
                     std::int32_t* taken) {
    // Sums and random numbers stay in registers; memory has them again at the end.
    Int crossed[parts] = {};
    Int took[parts] = {};
    Generator generator(sweep.random);
    std::uint64_t shared = *sweep.shared;
    std::int32_t pairs = 0;
    for (std::size_t i = begin; i < end; ++i) {
        shared += 0x9E3779B97F4A7C15U;
        std::uint64_t mix = (shared ^ (shared >> 30)) * 0xBF58476D1CE4E5B9U;
        mix = (mix ^ (mix >> 27)) * 0x94D049BB133111EBU;
        const auto reach =
            static_cast<std::uint64_t>(sweep.reach[i] < sweep.most ? sweep.reach[i] : sweep.most);
        const auto step = static_cast<std::int32_t>(1 + ((reach * (mix >> 32)) >> 32));
        const std::size_t k = i + static_cast<std::size_t>(step);
        if (reach == 0 || k >= sweep.rows) continue;
        ++pairs;
        std::int32_t* const a = sweep.held + i * replicas;
        std::int32_t* const b = sweep.held + k * replicas;
        const std::int32_t first_a = sweep.first[i];
        const std::int32_t first_b = sweep.first[k];
        const auto length_a = static_cast<std::uint32_t>(sweep.lengths[i]);
        const auto length_b = static_cast<std::uint32_t>(sweep.lengths[k]);
        const float tilt = sweep.tilt * static_cast<float>(step);
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t lane = part * Lanes::size;
            const Int at_a = load<Int>(a + lane);
            const Int at_b = load<Int>(b + lane);
            const Int to_a = at_b - first_a;
            const Int to_b = at_a - first_b;
            const Int fits = (Int)((Word)to_a < length_a) & (Int)((Word)to_b < length_b);
            const Int apart = at_b - at_a;
            Int take = fits;
            if constexpr (weighted || tilted) {
                Real gain = {};
                if constexpr (tilted) gain = __builtin_convertvector(apart, Real) * -tilt;
                if constexpr (weighted) {
                    float* const held_a = sweep.held_logs + i * replicas + lane;
                    float* const held_b = sweep.held_logs + k * replicas + lane;
                    const Real log_a = Lanes::gather(sweep.logs + sweep.offsets[i], to_a & fits);
                    const Real log_b = Lanes::gather(sweep.logs + sweep.offsets[k], to_b & fits);
                    const Real now_a = load<Real>(held_a);
                    const Real now_b = load<Real>(held_b);
                    gain += (log_a + log_b) - (now_a + now_b);
                    take &= (Int)(log_of_unit(generator.next(part)) < gain);
                    store(held_a, chosen(take, log_a, now_a));
                    store(held_b, chosen(take, log_b, now_b));
                } else {
                    take &= (Int)(log_of_unit(generator.next(part)) < gain);
                }
            }
            store(a + lane, chosen(take, at_b, at_a));
            store(b + lane, chosen(take, at_a, at_b));
            if constexpr (tilted) crossed[part] += take & (apart * step);
            took[part] -= take;
        }
    }
    *sweep.shared = shared;
    generator.save(sweep.random);
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t lane = part * Lanes::size;
        store(crossing + lane, load<Int>(crossing + lane) + crossed[part]);
        store(taken + lane, load<Int>(taken + lane) + took[part]);
    }
    return pairs;
}

SweepStretch stretch_of(bool weighted, bool tilted) {
    if (weighted) return tilted ? stretch<true, true> : stretch<true, false>;
    return tilted ? stretch<false, true> : stretch<false, false>;
}
