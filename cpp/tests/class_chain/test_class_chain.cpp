// Users' packets and loops in one mix: the chain against all its histories, and without loops against
// the chain over one number.
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "class_chain/class_chain.hpp"
#include "hidden_chain/hidden_chain.hpp"

namespace {

using namespace anonymatch;

struct Log {
    std::vector<std::uint8_t> arrival{1, 1, 0, 1, 0, 0, 1};
    std::vector<double> users{0.9, 0.5, 1.0, 0.7, 0.4, 1.0, 0.6};
    std::vector<double> loops{0.0, 0.3, 0.2, 0.1, 0.9, 0.0, 0.2};
    std::vector<double> stay{0.1, 0.2, 0.3, 0.2, 0.1, 0.4, 0.2};
    std::vector<double> keep = std::vector<double>(7, 0.8);
    std::vector<double> gap{0.2, 0.4, 0.1, 0.7, 0.3, 0.2, 0.5, 0.6};

    [[nodiscard]] ClassLog view() const { return {arrival, users, loops, stay, keep, gap}; }
};

/// The weight of all histories from event e on, with a and b packets of the two classes inside.
double weight(const Log& log, std::size_t e, int a, int b, bool drained) {
    const double time = std::exp(-log.gap[e] * (a + b));
    if (e == log.arrival.size()) return drained && a + b > 0 ? 0.0 : time;
    const bool in = log.arrival[e] != 0;
    double sum = log.stay[e] * weight(log, e + 1, a, b, drained);
    if (in || a > 0)
        sum += log.users[e] * (in ? 1 : a) * weight(log, e + 1, a + (in ? 1 : -1), b, drained);
    if (in || b > 0)
        sum += log.loops[e] * (in ? 1 : b) * weight(log, e + 1, a, b + (in ? 1 : -1), drained);
    return time * sum;
}

void evidence_is_the_weight_of_all_histories() {
    const Log log;
    for (const bool drained : {false, true}) {
        const auto figures =
            class_chain(log.view(), {.drained = drained, .rows = true}, CancelFlag());
        CHECK(figures.explained);
        CHECK(std::abs(figures.log_evidence - std::log(weight(log, 0, 0, 0, drained))) < 1e-12);
    }
}

void without_loops_it_is_the_chain_over_one_number() {
    Log log;
    for (std::size_t e = 0; e < log.arrival.size(); ++e) {
        log.loops[e] = 0.0;
        log.users[e] = log.arrival[e] != 0 ? 0.8 : 1.0;
        log.stay[e] = log.arrival[e] != 0 ? 0.2 : 0.3;
    }
    const auto figures = class_chain(log.view(), {.rows = true}, CancelFlag());
    HiddenOptions options;
    options.pairs = true;
    HiddenChain chain({log.arrival, log.users, log.stay, log.gap}, options, {});
    while (chain.advance(100)) {
    }
    const auto known = chain.figures();
    const std::vector<std::size_t> departures{2, 4, 5};
    std::vector<double> pairs(known.pairs.size(), 0.0);
    std::size_t entry = 0;
    for (std::size_t i = 0; i < figures.entries.size(); ++i) {
        CHECK(std::abs(figures.lost[i] - known.lost[i]) < 1e-12);
        CHECK(std::abs(figures.inside[i] - known.inside[i]) < 1e-12);
        for (std::int64_t k = 0; k < figures.entries[i]; ++k, ++entry)
            for (std::size_t j = 0; j < departures.size(); ++j)
                if (figures.entry_event[entry] == static_cast<std::int64_t>(departures[j]))
                    pairs[i * departures.size() + j] = figures.entry_value[entry];
    }
    CHECK(entry == figures.entry_value.size());
    for (std::size_t p = 0; p < pairs.size(); ++p)
        CHECK(std::abs(pairs[p] - known.pairs[p]) < 1e-12);
}

void what_nothing_explains_is_told() {
    Log log;
    log.stay[2] = log.users[2] = 0.0;
    log.loops[0] = log.loops[1] = 0.0;
    CHECK(!class_chain(log.view(), {}, CancelFlag()).explained);
}

void wrong_sizes_and_weights_are_refused() {
    Log log;
    log.gap.pop_back();
    CHECK(check::refused([&] { (void)class_chain(log.view(), {}, CancelFlag()); }));
    Log other;
    other.users[1] = -1.0;
    CHECK(check::refused([&] { (void)class_chain(other.view(), {}, CancelFlag()); }));
}

}  // namespace

int main() {
    evidence_is_the_weight_of_all_histories();
    without_loops_it_is_the_chain_over_one_number();
    what_nothing_explains_is_told();
    wrong_sizes_and_weights_are_refused();
    return check::report("test_class_chain");
}
