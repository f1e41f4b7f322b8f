#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "profile_chain/profile_chain.hpp"

namespace am = anonymatch;

namespace {

/// Three rounds of up to four messages; one sender comes twice in the last, one message was lost in the
/// second, and one message out of the first is nobody's.
struct Case {
    std::vector<std::int32_t> starts{0, 3, 6, 10};
    std::vector<std::int32_t> sender{0, 1, -1, 0, 2, 1, 1, 2, 0, 1};
    std::vector<std::int32_t> receiver{0, 1, 2, 0, 1, -1, 0, 0, 1, 2};
    std::vector<double> base{0.4, 0.4, 0.2};

    [[nodiscard]] am::RoundLog log() const { return {3, 3, starts, sender, receiver, {}, {}, {}}; }
};

/// Runs of messages out with weights, in one round.
struct RunCase {
    std::vector<std::int32_t> starts{0, 4};
    std::vector<std::int32_t> sender{0, 1, 0, 2};
    std::vector<std::int32_t> receiver{0, 1, 1, 0};
    std::vector<std::int32_t> first{0, 0, 1, 2};
    std::vector<std::int32_t> last{3, 4, 4, 4};
    std::vector<float> weights{1, .5F, .25F, 1, .5F, .25F, .125F, 1, .5F, .25F, 1, .5F};
    std::vector<double> base{0.5, 0.5};

    [[nodiscard]] am::RoundLog log() const {
        return {3, 2, starts, sender, receiver, first, last, weights};
    }
};

/// Log of the law of a matching, by its definition.
double log_law(const am::RoundLog& log, const std::vector<double>& base, am::ProfilePrior prior,
               const std::vector<std::int32_t>& matching) {
    const auto entries = am::round_entries(log);
    std::map<std::pair<int, int>, int> counts;
    std::map<int, int> totals;
    double sum = 0.0;
    for (std::size_t i = 0; i < matching.size(); ++i) {
        const int s = log.sender[i];
        const int r = log.receiver[static_cast<std::size_t>(matching[i])];
        if (!log.first.empty()) {
            if (matching[i] < log.first[i] || matching[i] >= log.last[i]) return -INFINITY;
            sum += std::log(
                log.weights[static_cast<std::size_t>(entries[i] + matching[i] - log.first[i])]);
        }
        if (s < 0 || r < 0) continue;
        ++counts[{s, r}];
        ++totals[s];
    }
    for (const auto& [pair, count] : counts) {
        const double mass = prior.strength * base[static_cast<std::size_t>(pair.second)];
        sum += std::lgamma(mass + count) - std::lgamma(mass);
    }
    for (const auto& [s, total] : totals)
        sum -= std::lgamma(prior.strength + total) - std::lgamma(prior.strength);
    return sum;
}

/// Probabilities of entries by all matchings.
std::vector<double> by_enumeration(const am::RoundLog& log, const std::vector<double>& base,
                                   am::ProfilePrior prior) {
    const auto entries = am::round_entries(log);
    std::vector<double> shares(static_cast<std::size_t>(entries.back()), 0.0);
    double total = 0.0;
    std::vector<std::int32_t> matching(log.sender.size());
    std::iota(matching.begin(), matching.end(), 0);
    const auto visit = [&](auto&& self, std::size_t round) -> void {
        if (round + 1 == log.starts.size()) {
            const double weight = std::exp(log_law(log, base, prior, matching));
            total += weight;
            for (std::size_t i = 0; weight > 0 && i < matching.size(); ++i) {
                std::size_t t = 0;
                while (log.starts[t + 1] <= static_cast<std::int32_t>(i)) ++t;
                const std::int32_t first = log.first.empty() ? log.starts[t] : log.first[i];
                shares[static_cast<std::size_t>(entries[i] + matching[i] - first)] += weight;
            }
            return;
        }
        const auto begin = matching.begin() + log.starts[round];
        const auto end = matching.begin() + log.starts[round + 1];
        std::sort(begin, end);
        do self(self, round + 1);
        while (std::next_permutation(begin, end));
    };
    visit(visit, 0);
    for (double& share : shares) share /= total;
    return shares;
}

template <class Some>
void agrees(bool ordered) {
    const Some test;
    const am::RoundLog log = test.log();
    const am::ProfilePrior prior{0.7, 8.0};
    const auto wanted = by_enumeration(log, test.base, prior);
    std::vector<std::int32_t> start(log.sender.size());
    std::iota(start.begin(), start.end(), 0);
    std::vector<double> shares(wanted.size(), 0.0);
    const int chains = 20;
    const int sweeps = 10000;
    for (std::uint64_t seed = 0; seed < chains; ++seed) {
        am::ProfileChain chain(log, test.base, prior, start, 2, seed);
        if (ordered) CHECK(chain.order(5, {}));
        CHECK(chain.sweep(200, {.power = ordered ? 1.0 : 0.6}, {}));
        CHECK(chain.sweep(100, {}, {}));
        CHECK(chain.sweep(sweeps, {.record = true}, {}));
        CHECK(chain.trace().size() == sweeps + 300);
        for (std::size_t e = 0; e < wanted.size(); ++e)
            shares[e] += static_cast<double>(chain.sums()[e]) / sweeps / chains;
    }
    for (std::size_t e = 0; e < wanted.size(); ++e) CHECK(std::abs(shares[e] - wanted[e]) < 0.01);
}

void chains_agree_with_all_matchings() {
    agrees<Case>(false);
    agrees<Case>(true);
    agrees<RunCase>(false);
}

void marginals_agree_with_all_matchings() {
    const std::vector<std::int32_t> starts{0, 3, 5};
    const std::vector<std::int32_t> who{0, 0, 0, 0, 0};
    const am::RoundLog log{1, 1, starts, who, who, {}, {}, {}};
    const std::vector<double> weights{1, 2, 0, 3, 1, 1, 0, 1, 4, 2, 1, 1, 5};
    std::vector<double> shares;
    CHECK(am::round_marginals(log, weights, shares, {}));
    // 1*1*4 + 1*1*1 + 2*3*4 + 2*1*0 + 0 = 29
    CHECK(std::abs(shares[0] - 5.0 / 29) < 1e-12);
    CHECK(std::abs(shares[1] - 24.0 / 29) < 1e-12);
    CHECK(std::abs(shares[9] - 10.0 / 11) < 1e-12);
}

}  // namespace

int main() {
    chains_agree_with_all_matchings();
    marginals_agree_with_all_matchings();
    return check::report("test_profile_chain");
}
