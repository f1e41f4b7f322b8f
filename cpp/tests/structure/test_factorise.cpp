#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "structure/factorise.hpp"

namespace {

using Hashes = std::vector<std::uint64_t>;
using Codes = anonymatch::LargeVector<std::int32_t>;

/// The same by a balanced tree.
void check_groups(const Hashes& hashes) {
    std::map<std::uint64_t, std::int32_t> seen;
    Codes codes;
    Codes first;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const auto fresh = static_cast<std::int32_t>(first.size());
        const auto [entry, is_new] = seen.try_emplace(hashes[i], fresh);
        if (is_new) first.push_back(static_cast<std::int32_t>(i));
        codes.push_back(entry->second);
    }
    const auto groups = anonymatch::group_hashes(hashes);
    CHECK(groups.codes == codes);
    CHECK(groups.first == first);
}

void test_by_hand() {
    const auto none = anonymatch::group_hashes({});
    CHECK(none.codes.empty() && none.first.empty());
    const auto some = anonymatch::group_hashes(Hashes{7, 0, 7, ~std::uint64_t{0}, 0, 5});
    CHECK((some.codes == Codes{0, 1, 0, 2, 1, 3}));
    CHECK((some.first == Codes{0, 1, 3, 5}));
}

void test_random() {
    std::mt19937_64 random(1);
    for (const std::size_t size : {1U, 2U, 10U, 11U, 100U, 1000U, 20000U}) {
        for (const std::uint64_t kinds : {1U, 2U, 9U, 300U, 1000000U}) {
            Hashes spread(size);
            for (auto& hash : spread) hash = (random() % kinds) * 0xD1342543DE82EF95U;
            check_groups(spread);
        }
    }
}

/// Hashes that agree in all bits but a few, wherever these are.
void test_weak_hashes() {
    for (int shift = 0; shift < 64; shift += 7) {
        Hashes weak;
        for (std::uint64_t i = 0; i < 5000; ++i) weak.push_back((i * i % 4999) << shift);
        check_groups(weak);
    }
}

/// Enough for huge pages, and for a table that grows several times.
void test_many_groups() {
    Hashes many;
    for (std::uint64_t i = 0; i < 1200000; ++i)
        many.push_back(i * i % 1000003 * 0xD1342543DE82EF95U);
    check_groups(many);
}

}  // namespace

int main() {
    test_by_hand();
    test_random();
    test_weak_hashes();
    test_many_groups();
    return check::report("test_factorise");
}
