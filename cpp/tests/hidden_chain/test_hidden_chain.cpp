// The chain over how many messages are inside, against explanations by definition and closed forms.
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "hidden_chain/hidden_chain.hpp"

namespace {

using namespace anonymatch;

struct Log {
    std::vector<std::uint8_t> arrival;
    std::vector<double> move, stay, gap;

    [[nodiscard]] HiddenLog view() const { return {arrival, move, stay, gap}; }
};

/// Times in mean delays; arrivals come first at equal times.
Log log_of(const std::vector<double>& came, const std::vector<double>& left, double loss,
           double cover, double end) {
    Log log;
    double now = 0.0;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < came.size() || j < left.size()) {
        const bool in = j == left.size() || (i < came.size() && came[i] <= left[j]);
        const double time = in ? came[i++] : left[j++];
        log.arrival.push_back(in ? 1 : 0);
        log.move.push_back(in ? 1.0 - loss : 1.0);
        log.stay.push_back(in ? loss : cover);
        log.gap.push_back(time - now);
        now = time;
    }
    log.gap.push_back(end - now);
    return log;
}

HiddenFigures solved(const Log& log, const HiddenOptions& options,
                     const std::vector<std::int32_t>& groups = {}) {
    HiddenChain chain(log.view(), options, groups);
    CHECK(chain.stuck() == -1);
    while (chain.advance(3)) {
    }
    return chain.figures();
}

bool close(double left, double right, double error = 1e-12) {
    return std::abs(left - right) <= error * (1.0 + std::abs(right));
}

/// Every explanation of a log in turn: `choice` has a departure, -1 (lost) or -2 (inside) each.
struct Sums {
    double evidence = 0.0;
    std::vector<double> lost, inside, pairs;
};

void explain(const std::vector<double>& came, const std::vector<double>& left, double loss,
             double cover, double end, std::vector<int>& choice, Sums& sums) {
    const std::size_t i = choice.size();
    if (i < came.size()) {
        for (int what = -2; what < static_cast<int>(left.size()); ++what) {
            bool taken = what >= 0 && left[static_cast<std::size_t>(what)] < came[i];
            for (const int other : choice) taken = taken || (what >= 0 && other == what);
            if (taken) continue;
            choice.push_back(what);
            explain(came, left, loss, cover, end, choice, sums);
            choice.pop_back();
        }
        return;
    }
    double weight = 1.0;
    std::size_t real = 0;
    for (std::size_t k = 0; k < came.size(); ++k) {
        if (choice[k] == -1) {
            weight *= loss;
        } else if (choice[k] == -2) {
            weight *= (1 - loss) * std::exp(-(end - came[k]));
        } else {
            ++real;
            weight *= (1 - loss) * std::exp(-(left[static_cast<std::size_t>(choice[k])] - came[k]));
        }
    }
    weight *= std::pow(cover, static_cast<double>(left.size() - real));
    sums.evidence += weight;
    for (std::size_t k = 0; k < came.size(); ++k) {
        if (choice[k] == -1)
            sums.lost[k] += weight;
        else if (choice[k] == -2)
            sums.inside[k] += weight;
        else
            sums.pairs[k * left.size() + static_cast<std::size_t>(choice[k])] += weight;
    }
}

void test_explanations_by_definition() {
    const std::vector<double> came{0.0, 0.4, 1.0, 1.0, 2.5};
    const std::vector<double> left{0.7, 1.0, 2.0, 2.6};
    const double end = 3.0;
    for (const double loss : {0.0, 0.2}) {
        for (const double cover : {0.0, 0.7}) {
            Sums sums{0.0, std::vector<double>(5), std::vector<double>(5), std::vector<double>(20)};
            std::vector<int> choice;
            explain(came, left, loss, cover, end, choice, sums);
            HiddenOptions options;
            options.pairs = true;
            options.together = 2;  // compressed on the way
            const auto figures = solved(log_of(came, left, loss, cover, end), options);
            CHECK(close(figures.log_evidence, std::log(sums.evidence)));
            for (std::size_t i = 0; i < 5; ++i) {
                CHECK(close(figures.lost[i], sums.lost[i] / sums.evidence));
                CHECK(close(figures.inside[i], sums.inside[i] / sums.evidence, 1e-11));
                for (std::size_t j = 0; j < 4; ++j)
                    CHECK(close(figures.pairs[i * 4 + j], sums.pairs[i * 4 + j] / sums.evidence,
                                1e-11));
            }
        }
    }
}

void test_everybody_out_is_a_product() {
    std::vector<double> came, left;
    double bits = 0.0;
    for (int i = 0; i < 60; ++i) came.push_back(i);
    for (int i = 0; i < 60; ++i) left.push_back(i + 5.5 + (i > 54 ? 0.1 * i : 0.0));
    for (std::size_t j = 0; j < 60; ++j) {
        std::size_t inside = 0;
        while (inside < 60 && came[inside] <= left[j]) ++inside;
        bits += std::log2(static_cast<double>(inside - j));
    }
    HiddenOptions options;
    options.end_inside = 0;
    const auto figures = solved(log_of(came, left, 0.0, 0.0, 80.0), options);
    CHECK(close(figures.joint_bits, bits, 1e-11));
    for (const double real : figures.real) CHECK(close(real, 1.0));
    CHECK(figures.miss < 1e-10);
}

void test_numbers_are_kept() {
    const std::vector<double> came{0.0, 0.4, 1.0, 1.5, 2.5};
    const std::vector<double> left{0.7, 1.1, 2.0, 2.6};
    HiddenOptions options;
    options.counted = Counted::losses;
    options.number = 2;
    auto log = log_of(came, left, 0.5, 0.7, 3.0);
    const auto figures = solved(log, options);
    double lost = 0.0;
    for (const double one : figures.lost) lost += one;
    CHECK(close(lost, 2.0));
    options.counted = Counted::cover;
    options.number = 3;
    double real = 0.0;
    for (const double one : solved(log, options).real) real += one;
    CHECK(close(real, 1.0));
}

void test_groups_add_up() {
    const std::vector<double> came{0.0, 0.4, 1.0};
    const std::vector<double> left{0.7, 1.1, 2.0};
    HiddenOptions options;
    options.end_inside = 0;
    options.guessing_every = 1;
    const auto figures = solved(log_of(came, left, 0.0, 0.0, 3.0), options, {0, 0, 0});
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(close(figures.group_probability[i], 1.0));
        CHECK(close(figures.group_shannon[i], 0.0));
        CHECK(figures.guessing[i] >= 1.0);
    }
}

void test_impossible_logs_are_told() {
    HiddenChain early(log_of({1.0}, {0.5}, 0.0, 0.0, 2.0).view(), {}, {});
    CHECK(early.stuck() == 0);
    CHECK(!early.advance(10));
    HiddenOptions options;
    options.end_inside = 2;
    HiddenChain few(log_of({1.0}, {}, 0.0, 0.0, 2.0).view(), options, {});
    CHECK(few.stuck() >= 0);
    options.end_inside = -1;
    options.counted = Counted::losses;
    options.number = 3;
    HiddenChain none(log_of({1.0}, {}, 0.5, 0.0, 2.0).view(), options, {});
    while (none.advance(1)) {
    }
    CHECK(none.log_evidence() == -std::numeric_limits<double>::infinity());
}

void test_empty_and_wrong_logs() {
    const Log nothing{{}, {}, {}, {1.0}};
    CHECK(close(solved(nothing, {}).log_evidence, 0.0));
    Log wrong = log_of({0.0}, {1.0}, 0.1, 0.1, 2.0);
    wrong.stay[0] = std::nan("");
    bool refused = false;
    try {
        const HiddenChain chain(wrong.view(), {}, {});
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

}  // namespace

int main() {
    test_explanations_by_definition();
    test_everybody_out_is_a_product();
    test_numbers_are_kept();
    test_groups_add_up();
    test_impossible_logs_are_told();
    test_empty_and_wrong_logs();
    return check::report("test_hidden_chain");
}
