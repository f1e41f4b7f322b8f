#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "table_chain/table_chain.hpp"

namespace am = anonymatch;

namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

/// Three kinds on a ring of three classes: nobody can change with one other alone.
struct Case {
    std::vector<std::int32_t> kinds{0, 0, 1, 1, 2, 2};
    std::vector<std::int32_t> classes{0, 1, 1, 2, 0, 2};
    std::vector<std::int32_t> start{4, 0, 3, 0, 0, 5};  // kinds of 4, 3 and 5 people
    std::vector<std::int32_t> people{4, 3, 5};
};

/// A ring: every table is the start with some number that goes around.
double weight_of(const Case& test, int moved) {
    double weight = 1.0;
    const int sign[] = {-1, 1, -1, 1, 1, -1};
    for (std::size_t pair = 0; pair < 6; ++pair) {
        const int number = test.start[pair] + sign[pair] * moved;
        if (number < 0) return 0.0;
        weight /= std::tgamma(number + 1.0);
    }
    return weight;
}

void numbers_are_as_often_as_they_weigh() {
    const Case test;
    double whole = 0.0, mean = 0.0;
    for (int moved = -5; moved <= 5; ++moved) {
        whole += weight_of(test, moved);
        mean += weight_of(test, moved) * moved;
    }
    mean /= whole;
    const am::TableChain chain(test.kinds, test.classes, test.people);
    const auto drawn = chain.run(test.start, 7, 1, 400000, unlimited);
    CHECK_EQUAL(drawn.worms, 400000U);
    CHECK(std::abs(drawn.means[0] - (4.0 - mean)) < 0.01);
    CHECK(std::abs(drawn.means[4] - mean) < 0.01);
    std::int32_t people = drawn.numbers[0] + drawn.numbers[1];
    CHECK_EQUAL(people, 4);
    CHECK_EQUAL(drawn.numbers[1] + drawn.numbers[2], 3);
}

/// Two kinds and two classes are hypergeometric, however many people there are.
void large_classes_are_mixed() {
    const std::vector<std::int32_t> kinds{0, 0, 1, 1}, classes{0, 1, 0, 1};
    const std::vector<std::int32_t> people{30000, 10000};
    const am::TableChain chain(kinds, classes, people);
    const std::vector<std::int32_t> start{20000, 10000, 0, 10000};
    const auto drawn = chain.run(start, 3, 0, 200, unlimited);
    CHECK(std::abs(drawn.means[0] - 15000.0) < 60.0);
}

void a_stretch_is_a_function_of_its_arguments() {
    const Case test;
    const am::TableChain chain(test.kinds, test.classes, test.people);
    const auto one = chain.run(test.start, 1, 2, 100, unlimited),
               same = chain.run(test.start, 1, 2, 100, unlimited);
    CHECK(one.numbers == same.numbers && one.means == same.means);
    CHECK(chain.run(test.start, 1, 3, 100, unlimited).means != one.means);
}

void what_is_no_table_is_refused() {
    const Case test;
    const am::TableChain chain(test.kinds, test.classes, test.people);
    using Numbers = std::vector<std::int32_t>;
    CHECK(check::refused([&] { (void)chain.run(Numbers{1, 2}, 1, 0, 1, unlimited); }));
    CHECK(check::refused([&] { (void)chain.run(Numbers{4, 0, 3, 0, 0, -5}, 1, 0, 1, unlimited); }));
    CHECK(check::refused([&] { (void)chain.run(Numbers{4, 0, 3, 0, 0, 4}, 1, 0, 1, unlimited); }));
    const auto made = [](const Numbers& kinds, const Numbers& classes, const Numbers& people) {
        return check::refused([&] { am::TableChain(kinds, classes, people); });
    };
    CHECK(made({}, {}, {}));
    CHECK(made({0, 0}, {1, 0}, {1, 1}));
    CHECK(made({0, 0}, {0, 0}, {1}));
    CHECK(made({0, 2}, {0, 1}, {1, 1}));
    CHECK(made({-1, 0}, {0, 1}, {1, 1}));
    CHECK(made({0, 1}, {0, 2}, {1, 1}));
    CHECK(made({0, 1}, {0, 1}, {1, 0}));
    CHECK(made({0, 1}, {0, 1}, {1, 1, 1}));
}

void it_gives_up_when_told() {
    const std::vector<std::int32_t> kinds{0, 0, 1, 1}, classes{0, 1, 0, 1};
    const std::vector<std::int32_t> people{300000, 300000}, start{300000, 0, 0, 300000};
    const am::TableChain chain(kinds, classes, people);
    const std::uint8_t raised = 1;
    CHECK(chain.run(start, 1, 0, 10, unlimited, am::CancelFlag(&raised)).worms < 10U);
    CHECK(chain.run(start, 1, 0, 10, 100).worms < 10U);
}

}  // namespace

int main() {
    numbers_are_as_often_as_they_weigh();
    large_classes_are_mixed();
    a_stretch_is_a_function_of_its_arguments();
    what_is_no_table_is_refused();
    it_gives_up_when_told();
    return check::report("test_table_chain");
}
