// What is open for a message, against sums over its departures.
#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "passage/passage.hpp"

namespace {

using namespace anonymatch;

void check_by_definition(const std::vector<std::int32_t>& inside) {
    const PassageStay stay = passage_stay(inside);
    for (std::size_t from = 0; from < inside.size(); ++from) {
        double left = 1, bits = 0, squares = 0, departs = 0, ranks = 0;
        std::int64_t rank = 0;
        for (std::size_t k = from; k < inside.size(); ++k) {
            const double p = left / inside[k];
            bits -= p * std::log2(p);
            squares += p * p;
            departs += p;
            ranks += static_cast<double>(++rank) * p;
            left -= p;
        }
        if (left > 1e-12) {
            bits -= left * std::log2(left);
            squares += left * left;
        }
        CHECK(std::abs(stay.shannon[from] - bits) < 1e-9);
        CHECK(std::abs(stay.collision[from] - squares) < 1e-12);
        CHECK(std::abs(stay.guesses[from] - ranks / departs) < 1e-9);
    }
    CHECK(stay.allowed.back() == 1);
}

}  // namespace

int main() {
    check_by_definition({2, 1});
    check_by_definition({2, 2, 1});
    check_by_definition({3, 4, 4, 5, 4, 3, 2, 1});
    check_by_definition({5, 4, 4, 3});
    check_by_definition({70000, 70001, 70000});
    CHECK(passage_stay({}).allowed.size() == 1);
    bool refused = false;
    try {
        (void)passage_stay(std::vector<std::int32_t>{1, 0});
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
    return check::report("test_passage");
}
