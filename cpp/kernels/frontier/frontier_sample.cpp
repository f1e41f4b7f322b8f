#include "frontier/frontier_sample.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "common/random.hpp"

namespace anonymatch::frontier {
namespace {

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

}  // namespace

Sampler::Sampler(const BlockView& block, std::size_t size, std::uint64_t seed)
    : n_rows_(static_cast<std::size_t>(block.n_rows)),
      columns_(block.indices.begin(), size == 0 ? block.indices.begin() : block.indices.end()),
      states_(size, 0),
      generators_(size),
      samples_(size * n_rows_, -1) {
    // Every sample has its own generator, so the first samples do not depend on how many follow.
    for (std::size_t k = 0; k < size; ++k) generators_[k] = mixed(mixed(seed) + golden * (k + 1));
}

template <class Kind>
double Sampler::step_back(std::size_t step, std::int32_t row, std::span<const Stream> streams,
                          std::span<const std::uint64_t> keys, const double* values,
                          const Kind& kind) {
    struct Choice {
        std::size_t stream;
        ScaledReal chance;
    };
    std::vector<Choice> choices;
    choices.reserve(streams.size());
    for (std::size_t k = 0; k < states_.size(); ++k) {
        choices.clear();
        std::int64_t scale = std::numeric_limits<std::int64_t>::min();
        for (std::size_t i = 0; i < streams.size(); ++i) {
            const std::uint64_t before = states_[k] - streams[i].delta;
            if ((before & streams[i].mask) != streams[i].expect) continue;
            const auto at = std::lower_bound(keys.begin(), keys.end(), before);
            if (at == keys.end() || *at != before) continue;
            const auto index = static_cast<std::size_t>(at - keys.begin());
            choices.push_back({i, kind.product(streams[i].edge, values + index * kind.words())});
            scale = std::max(scale, choices.back().chance.exponent);
        }
        assert(!choices.empty());
        double total = 0;
        for (Choice& choice : choices) {
            const std::int64_t shift =
                std::max<std::int64_t>(choice.chance.exponent - scale, -2000);
            if (shift != 0)
                choice.chance.mantissa =
                    std::scalbn(choice.chance.mantissa, static_cast<int>(shift));
            total += choice.chance.mantissa;
        }
        const std::uint64_t bits = mixed(generators_[k] + golden * (step + 1));
        double left = static_cast<double>(bits >> 11) * 0x1p-53 * total;
        std::size_t chosen = 0;
        // Rounding may leave a little at the end: it belongs to the last choice.
        for (; chosen + 1 < choices.size(); ++chosen) {
            if (left < choices[chosen].chance.mantissa) break;
            left -= choices[chosen].chance.mantissa;
        }
        const Stream& stream = streams[choices[chosen].stream];
        states_[k] -= stream.delta;
        if (row >= 0)
            samples_[k * n_rows_ + static_cast<std::size_t>(row)] =
                columns_[static_cast<std::size_t>(stream.edge)];
    }
    return static_cast<double>(states_.size() * streams.size());
}

template double Sampler::step_back(std::size_t, std::int32_t, std::span<const Stream>,
                                   std::span<const std::uint64_t>, const double*, const PlainReal&);
template double Sampler::step_back(std::size_t, std::int32_t, std::span<const Stream>,
                                   std::span<const std::uint64_t>, const double*, const WideReal&);

}  // namespace anonymatch::frontier
