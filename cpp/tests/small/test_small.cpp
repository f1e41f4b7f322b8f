#include <vector>

#include "check.hpp"
#include "small/small.hpp"

using anonymatch::small_counts;
using anonymatch::SmallBlocks;

int main() {
    // K22; a 6-cycle; two users and three behaviours, all joined; one forced pair.
    const std::vector<std::int32_t> offsets{0, 2, 5, 7, 8};
    const std::vector<std::int32_t> behaviours{2, 3, 3, 1};
    const std::vector<std::int32_t> indptr{0, 2, 4, 6, 8, 10, 13, 16, 17};
    const std::vector<std::int32_t> indices{0, 1, 0, 1, 0, 1, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2, 0};
    const SmallBlocks blocks{offsets, behaviours, indptr, indices};

    std::vector<std::uint64_t> totals(4);
    std::vector<std::uint64_t> minors(indices.size());
    small_counts(blocks, totals, minors);
    CHECK_EQUAL(totals[0], 2);
    CHECK_EQUAL(totals[1], 2);
    CHECK_EQUAL(totals[2], 6);
    CHECK_EQUAL(totals[3], 1);
    const std::vector<std::uint64_t> through{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 1};
    CHECK_EQUAL(minors, through);

    small_counts(blocks, totals, {});
    CHECK_EQUAL(totals[2], 6);

    // Weighted: per [[1,2],[3,4]] = 10, minors the opposite entries.
    const std::vector<double> weights{1, 2, 3, 4};
    std::vector<double> sums(1);
    std::vector<double> rest(4);
    const SmallBlocks first{std::span(offsets).first(2), std::span(behaviours).first(1),
                            std::span(indptr).first(3), std::span(indices).first(4)};
    small_counts(first, weights, sums, rest);
    CHECK_EQUAL(sums[0], 10.0);
    CHECK_EQUAL(rest, (std::vector<double>{4, 3, 2, 1}));
    return check::report("test_small");
}
