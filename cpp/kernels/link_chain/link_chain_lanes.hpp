// A stretch of a sweep in vectors of replicas. Included by one file for each instruction set, inside
// its unnamed namespace, after that file chose its target and made `Lanes`.

#include "swap_chain/replica_vectors.hpp"

// Replicas look at the same moves. If all took whatever is no worse they would stay as alike as they
// began, so that each stays with one in four by itself: the log of 3/4.
constexpr float stay = -0.287682072F;

/// One stream for all replicas (splitmix64).
struct Shared {
    std::uint64_t state;

    std::uint64_t next() {
        state += 0x9E3779B97F4A7C15U;
        std::uint64_t mix = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9U;
        mix = (mix ^ (mix >> 27)) * 0x94D049BB133111EBU;
        return mix ^ (mix >> 31);
    }
    /// Below `size`, from the upper half of the bits.
    static std::int32_t below(std::int32_t size, std::uint64_t bits) {
        return static_cast<std::int32_t>((static_cast<std::uint64_t>(size) * (bits >> 32)) >> 32);
    }
};

inline Int all(std::int32_t value) {
    return Int{} + value;
}

inline Real all(float value) {
    return Real{} + value;
}

/// The log of the probability to take what gains so much.
inline Real lower(Real gain) {
    return chosen((Int)(gain < 0.0F), gain, Real{}) + stay;
}

/// One bit for each replica of a part, in its lane.
inline Int bits_of(std::size_t part) {
    Int bits = {};
    for (std::size_t l = 0; l < Lanes::size; ++l)
        bits[l] = static_cast<std::int32_t>(1U << (part * Lanes::size + l));
    return bits;
}

/// Rows i and k exchange what they have; to have nothing is one of the things.
template <bool weighted>
inline void swap_rows(const Sweep& sweep, std::size_t i, std::size_t k, Generator& generator) {
    const Run run_a = sweep.runs[i];
    const Run run_b = sweep.runs[k];
    const Real none_a = all(sweep.unpaired[i]);
    const Real none_b = all(sweep.unpaired[k]);
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t lane = part * Lanes::size;
        std::int32_t* const a = sweep.held + i * replicas + lane;
        std::int32_t* const b = sweep.held + k * replicas + lane;
        const Int at_a = load<Int>(a);
        const Int at_b = load<Int>(b);
        const Int alone_a = (Int)(at_a < 0);
        const Int alone_b = (Int)(at_b < 0);
        const Int to_a = at_b - run_a.first;
        const Int to_b = at_a - run_b.first;
        const Int fits_a = ~alone_b & (Int)((Word)to_a < static_cast<std::uint32_t>(run_a.length));
        const Int fits_b = ~alone_a & (Int)((Word)to_b < static_cast<std::uint32_t>(run_b.length));
        Real log_a = {};
        Real log_b = {};
        Real now_a = {};
        Real now_b = {};
        if constexpr (weighted) {
            log_a = Lanes::gather(sweep.logs + sweep.offsets[i], to_a & fits_a);
            log_b = Lanes::gather(sweep.logs + sweep.offsets[k], to_b & fits_b);
            now_a = load<Real>(sweep.held_logs + i * replicas + lane);
            now_b = load<Real>(sweep.held_logs + k * replicas + lane);
        }
        const Real gain = (chosen(alone_b, none_a, log_a) + chosen(alone_a, none_b, log_b)) -
                          (chosen(alone_a, none_a, now_a) + chosen(alone_b, none_b, now_b));
        const Int take = (fits_a | alone_b) & (fits_b | alone_a) &
                         (Int)(log_of_unit(generator.next(part)) < lower(gain));
        store(a, chosen(take, at_b, at_a));
        store(b, chosen(take, at_a, at_b));
        if constexpr (weighted) {
            store(sweep.held_logs + i * replicas + lane, chosen(take, log_a, now_a));
            store(sweep.held_logs + k * replicas + lane, chosen(take, log_b, now_b));
        }
    }
}

/// Row i gives up the column that it has in a run, or takes one of the run if it has none: any of
/// them, and each replica its own, which is as likely as the way back but for their number.
template <bool weighted>
inline void pair_or_part(const Sweep& sweep, std::size_t i, Run run, Generator& generator) {
    const auto length = static_cast<float>(run.length);
    const float gain = sweep.log_lengths[run.length] - sweep.unpaired[i] - sweep.cover;
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t lane = part * Lanes::size;
        std::int32_t* const held = sweep.held + i * replicas + lane;
        const Int at = load<Int>(held);
        const Int has = (Int)((Word)(at - run.first) < static_cast<std::uint32_t>(run.length));
        const Int alone = (Int)(at < 0);
        const Word random = generator.next(part);
        const Real place =
            __builtin_convertvector((Int)(generator.next(part) >> 8), Real) * 0x1p-24F;
        Int pairs = load<Int>(sweep.pairs + lane);
        Int possible = has & (Int)(pairs > sweep.least);
        Int column = at;
        Real log = {};
        if (Lanes::mask(alone) != 0) {
            Int to = __builtin_convertvector(place * length, Int);
            to = chosen((Int)(to < run.length), to, all(run.length - 1));  // by rounding
            column = chosen(alone, to + run.first, at);
            const Int open = Lanes::gather_short(sweep.open, column & alone) & bits_of(part);
            const Int takes = alone & (Int)(open != 0) & (Int)(pairs < sweep.most);
            possible |= takes;
            if constexpr (weighted)
                log = Lanes::gather(sweep.logs + sweep.offsets[i],
                                    (column - sweep.runs[i].first) & takes);
        }
        float* const held_logs = sweep.held_logs + i * replicas + lane;
        Real now = {};
        if constexpr (weighted) now = load<Real>(held_logs);
        const Int take = possible & (Int)(log_of_unit(random) <
                                          lower(chosen(has, all(-gain) - now, all(gain) + log)));
        const std::uint32_t taken = Lanes::mask(take);
        if (taken == 0) continue;
        store(held, chosen(take, chosen(has, all(-1), column), at));
        if constexpr (weighted) store(held_logs, chosen(take & alone, log, now));
        pairs += take & has;  // which is -1
        pairs -= take & alone;
        store(sweep.pairs + lane, pairs);
        for (std::uint32_t left = taken; left != 0; left &= left - 1) {
            const auto l = static_cast<std::size_t>(__builtin_ctz(left));
            sweep.open[column[l]] =
                static_cast<std::uint16_t>(sweep.open[column[l]] ^ 1U << (lane + l));
        }
    }
}

/// Row i moves from the column that it has to its mirror image in a run, about a middle that is the
/// same for all replicas: so that each such move is its own way back.
template <bool weighted>
inline void move_column(const Sweep& sweep, std::size_t i, Run run, std::int32_t middle,
                        Generator& generator) {
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t lane = part * Lanes::size;
        std::int32_t* const held = sweep.held + i * replicas + lane;
        const Int at = load<Int>(held);
        const Int from = at - run.first;
        const Int inside = (Int)((Word)from < static_cast<std::uint32_t>(run.length));
        Int to = middle - from;
        to += (Int)(to < 0) & run.length;
        const Int column = (to + run.first) & inside;
        const Int possible =
            inside & (Int)((Lanes::gather_short(sweep.open, column) & bits_of(part)) != 0);
        const Word random = generator.next(part);
        if (Lanes::mask(possible) == 0) continue;
        Int take = possible;
        if constexpr (weighted) {
            float* const held_logs = sweep.held_logs + i * replicas + lane;
            const Real now = load<Real>(held_logs);
            const Real log = Lanes::gather(sweep.logs + sweep.offsets[i],
                                           (column - sweep.runs[i].first) & possible);
            take &= (Int)(log_of_unit(random) < lower(log - now));
            store(held_logs, chosen(take, log, now));
        } else {
            take &= (Int)(log_of_unit(random) < lower(Real{}));
        }
        store(held, chosen(take, column, at));
        for (std::uint32_t left = Lanes::mask(take); left != 0; left &= left - 1) {
            const auto l = static_cast<std::size_t>(__builtin_ctz(left));
            const auto bit = 1U << (lane + l);
            sweep.open[at[l]] = static_cast<std::uint16_t>(sweep.open[at[l]] | bit);
            sweep.open[column[l]] = static_cast<std::uint16_t>(sweep.open[column[l]] & ~bit);
        }
    }
}

/// Weights of a row that will be looked at soon come from afar.
inline void fetch(const Sweep& sweep, std::size_t i) {
    if (i >= sweep.rows) return;
    const Run core = sweep.cores[i];
    const float* const begin = sweep.logs + sweep.offsets[i] + (core.first - sweep.runs[i].first);
    for (std::int32_t k = 0; k < core.length; k += 16) __builtin_prefetch(begin + k);
    for (std::size_t part = 0; part < 2; ++part)
        __builtin_prefetch(part == 0 ? static_cast<const void*>(sweep.held + i * replicas)
                                     : static_cast<const void*>(sweep.held_logs + i * replicas));
}

template <bool weighted>
void stretch(const Sweep& sweep, std::size_t begin, std::size_t end) {
    Generator generator(sweep.random);
    Shared shared{*sweep.shared};
    for (std::size_t i = begin; i < end; ++i) {
        if constexpr (weighted) fetch(sweep, i + static_cast<std::size_t>(sweep.reach[i]) + 2);
        const auto step = 1 + Shared::below(sweep.reach[i], shared.next());
        const std::size_t k = i + static_cast<std::size_t>(step);
        if (sweep.reach[i] > 0 && k < sweep.rows) swap_rows<weighted>(sweep, i, k, generator);
        if (sweep.runs[i].length == 0) continue;
        const std::uint64_t bits = shared.next();
        pair_or_part<weighted>(sweep, i, (bits & 3U) != 0 ? sweep.cores[i] : sweep.runs[i],
                               generator);
        const Run run = (bits & 12U) != 0 ? sweep.cores[i] : sweep.runs[i];
        move_column<weighted>(sweep, i, run, Shared::below(run.length, bits), generator);
    }
    *sweep.shared = shared.state;
    generator.save(sweep.random);
}

SweepStretch stretch_of(bool weighted) {
    return weighted ? stretch<true> : stretch<false>;
}
