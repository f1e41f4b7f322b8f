// Where messages may have come out, against all histories of small networks; and drawn logs.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "network/network.hpp"

namespace {

using namespace anonymatch;
using Ints = std::vector<std::int32_t>;
using Numbers = std::vector<std::int64_t>;

struct Log {
    Ints from, to;
    Numbers before;
    std::int32_t mixes;

    [[nodiscard]] NetworkEvents events() const { return {from, to, before, mixes}; }
};

bool near(double a, double b, double error = 1e-12) {
    return std::abs(a - b) < error;
}

/// Mixes A, B, then C, D; three messages come to A and two to B. 64 histories, counted by hand.
Log small() {
    return {{-1, -1, -1, 0, -1, 1, -1, 0, 2, 0, 1, 3, 2, 2, 3},
            {0, 0, 1, 2, 1, 2, 0, 3, -1, 2, 3, -1, -1, -1, -1},
            Numbers(15, -1),
            4};
}

void check_small() {
    const Log log = small();
    const Ints inside = network_inside(log.events());
    CHECK((inside == Ints{0, 0, 0, 2, 0, 2, 0, 2, 2, 1, 1, 2, 2, 1, 1}));
    const Numbers targets{0, 1, 2, 4, 6}, asked{8, -1, 13, 11, 8};
    const NetworkTargets result =
        network_forward(log.events(), inside, targets, asked, {8, 1e-12, true}, {});
    const double bits[] = {2.25, 2.25, 2.25, 2.25, 2.0};
    for (std::size_t k = 0; k < 5; ++k) {
        CHECK(near(result.shannon[k], bits[k]));
        CHECK(near(result.left[k], 1.0));
    }
    CHECK(near(result.asked[0], 0.25) && near(result.asked[2], 0.125));
    CHECK(result.asked[1] == 0.0 && result.asked[4] == 0.0);
    CHECK(result.guess[0] == 8 && near(result.largest[0], 0.25));
    CHECK(near(result.guesses[4], 2.5));
    CHECK((result.candidates == Numbers{5, 5, 5, 5, 4}));
    const std::vector<double> rows = network_rows(log.events(), inside, targets);
    for (std::size_t k = 0; k < 2; ++k) {  // x, v, y, z, w
        const double expected[] = {0.25, 0.125, 0.25, 0.25, 0.125};
        const std::size_t out[] = {8, 11, 12, 13, 14};
        for (std::size_t j = 0; j < 5; ++j) CHECK(near(rows[k * 15 + out[j]], expected[j]));
    }
}

/// The first mix tells: the packets of its first departures are known.
void check_told() {
    Log log = small();
    const std::pair<std::size_t, std::int64_t> told[] = {{3, 0}, {7, 1}, {9, 6}};
    for (const auto& [departure, arrival] : told) {
        log.to[static_cast<std::size_t>(arrival)] = network_carried;
        log.from[departure] = network_carried;
        log.before[departure] = arrival;
    }
    const Ints inside = network_inside(log.events());
    const std::vector<double> rows = network_rows(log.events(), inside, Numbers{0, 1, 6});
    CHECK(near(rows[8], 0.5) && near(rows[12], 0.25) && near(rows[13], 0.25));
    CHECK(near(rows[15 + 11], 0.5) && near(rows[15 + 14], 0.5));
    CHECK(near(rows[30 + 12], 0.5) && near(rows[30 + 13], 0.5));
}

void check_refused() {
    Log log = small();
    log.from[3] = 1;
    CHECK(network_inside(log.events())[5] > 0);
    log.from[0] = 1;
    CHECK(network_inside(log.events())[0] == -1);
    log.from[0] = 4;
    CHECK(check::refused([&] { (void)network_inside(log.events()); }));
    const Log good = small();
    const Ints inside = network_inside(good.events());
    CHECK(check::refused(
        [&] { (void)network_forward(good.events(), inside, Numbers{3}, Numbers{-1}, {}, {}); }));
}

/// All of a drawn log's packets come out, in chains of their hops, and the mass adds up.
void check_drawn(const NetworkMix& mix, double link, std::size_t stay) {
    std::vector<double> arrivals;
    Ints routes;
    for (int k = 0; k < 400; ++k) {
        arrivals.push_back(0.1 * k);
        for (std::int32_t layer = 0; layer < 3; ++layer)
            routes.push_back(3 * layer + (k * (layer + 1)) % 3);
    }
    const NetworkLog log = network_draw(arrivals, routes, 3, 9, mix, link, 7, {});
    const NetworkEvents events{log.from, log.to, log.before, 9};
    const Ints inside = network_inside(events);
    CHECK(std::is_sorted(log.time.begin(), log.time.end()));
    Numbers targets, asked;
    std::size_t out = 0;
    for (std::size_t e = 0; e < log.from.size(); ++e) {
        CHECK(inside[e] >= 0);
        out += log.to[e] == network_outside;
        if (log.from[e] == network_outside) targets.push_back(static_cast<std::int64_t>(e));
    }
    CHECK(out + stay >= 400);
    asked.assign(targets.size(), -1);
    const NetworkTargets result =
        network_forward(events, inside, targets, asked, {64, 0.0, false}, {});
    double total = 0;
    for (const double left : result.left) {
        CHECK(left < 1 + 1e-12);
        total += left;
    }
    CHECK(near(total, static_cast<double>(out), 1e-6));  // every exit is somebody's
}

/// Coins of a full mix: how many leave at once, and how long nobody does, as the law has it.
void check_coins() {
    // Forty come at once. Each leaves at a tick with probability p = share, so the flush at tick k
    // takes Binomial(number inside, p) of them.
    const double p = 0.02;
    double first = 0, alone = 0;
    const int runs = 4000;
    for (int run = 0; run < runs; ++run) {
        const std::vector<double> arrivals(40, 0.0);
        const Ints routes(40, 0);
        const NetworkLog log =
            network_draw(arrivals, routes, 1, 1, {NetworkMix::Kind::coins, 1, 1, 0, p, 0, 1}, 0,
                         static_cast<std::uint64_t>(run), {});
        std::vector<double> out;
        for (std::size_t e = 0; e < log.from.size(); ++e)
            if (log.to[e] == network_outside) out.push_back(log.time[e]);
        first += std::floor(out[0]);  // ticks before it: the clock begins within a second
        alone += out[1] > out[0];
    }
    const double stay = std::pow(1 - p, 40), sole = 40 * p * std::pow(1 - p, 39) / (1 - stay);
    CHECK(std::abs(first / runs - stay / (1 - stay)) < 0.06);  // 4.5 standard errors
    CHECK(std::abs(alone / runs - sole) < 0.035);
}

}  // namespace

int main() {
    check_coins();
    check_small();
    check_told();
    check_refused();
    using Kind = NetworkMix::Kind;
    for (const double link : {0.0, 0.05}) {
        check_drawn({Kind::exponential, 0.5, 1, 0, 1, 0, 1}, link, 0);
        check_drawn({Kind::batch, 1, 4, 2, 1, 0, 1}, link, 9 * 5);
        check_drawn({Kind::timed, 0.7, 1, 0, 1, 0, 1}, link, 0);
        check_drawn({Kind::timed, 0.7, 1, 3, 1, 0, 1}, link, 9 * 3);
        check_drawn({Kind::timed_share, 0.7, 1, 3, 0.5, 0, 1}, link, 9 * 3);
        check_drawn({Kind::coins, 0.7, 1, 0, 0.5, 0, 1}, link, 0);
        check_drawn({Kind::normal_coins, 0.7, 1, 0, 1, 3, 2}, link, 9 * 10);
        // 4e10 ticks, at nearly all of which nobody leaves.
        check_drawn({Kind::timed, 1e-9, 1, 0, 1, 0, 1}, link, 0);
        check_drawn({Kind::timed_share, 1e-9, 1, 3, 0.5, 0, 1}, link, 9 * 3);
        check_drawn({Kind::coins, 1e-9, 1, 2, 1e-3, 0, 1}, link, 9 * 3);
        check_drawn({Kind::normal_coins, 1e-9, 1, 0, 1, 20, 1}, link, 9 * 20);
        check_drawn({Kind::timed, 1e-18, 1, 0, 1, 0, 1}, link, 0);  // finer than times are
    }
    return check::report("test_network");
}
