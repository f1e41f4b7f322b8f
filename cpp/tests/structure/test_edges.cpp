#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

#include "check.hpp"
#include "structure/edges.hpp"

namespace {

using Ints = anonymatch::LargeVector<std::int32_t>;

/// The same by a stable sort of positions.
void check_edges(const Ints& rows, const Ints& columns, std::int32_t n_rows) {
    Ints order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    const auto row = [&](std::int32_t i) { return rows[static_cast<std::size_t>(i)]; };
    const auto column = [&](std::int32_t i) { return columns[static_cast<std::size_t>(i)]; };
    const auto before = [&](std::int32_t i, std::int32_t j) {
        return row(i) != row(j) ? row(i) < row(j) : column(i) < column(j);
    };
    std::stable_sort(order.begin(), order.end(), before);
    Ints indptr(static_cast<std::size_t>(n_rows) + 1, 0);
    Ints indices;
    std::int32_t duplicates = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        indices.push_back(column(order[k]));
        duplicates += k > 0 && !before(order[k - 1], order[k]);
    }
    for (const std::int32_t user : rows) ++indptr[static_cast<std::size_t>(user) + 1];
    std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
    const bool sorted = duplicates == 0 && std::is_sorted(order.begin(), order.end());

    for (const bool ordered : {false, true}) {
        const auto edges = anonymatch::sort_edges(rows, columns, n_rows, ordered);
        CHECK(edges.indptr == indptr);
        CHECK(edges.indices == indices);
        CHECK(edges.order == (ordered && !sorted ? order : Ints{}));
        CHECK_EQUAL(edges.duplicates, duplicates);
    }
}

void test_by_hand() {
    check_edges({}, {}, 0);
    check_edges({}, {}, 3);
    check_edges({0}, {0}, 1);
    check_edges({0, 0}, {0, 0}, 1);
    check_edges({0, 1, 1, 3}, {5, 0, 5, 5}, 5);
    const auto edges =
        anonymatch::sort_edges(Ints{2, 0, 2, 2, 0}, Ints{1, 4, 0, 1, 3}, 3, /*ordered=*/true);
    CHECK((edges.indptr == Ints{0, 2, 2, 5}));
    CHECK((edges.indices == Ints{3, 4, 0, 1, 1}));
    CHECK((edges.order == Ints{4, 1, 2, 0, 3}));
    CHECK_EQUAL(edges.duplicates, 1);
}

/// Rows of every length that is sorted in its own way, with and without duplicates.
void test_random() {
    std::mt19937 random(1);
    const std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t n_rows : {1, 2, 7, 100, 3000}) {
        for (const std::int32_t n_columns : {1, 5, 60, 4000, largest}) {
            for (const std::size_t size : {2U, 9U, 40U, 900U, 9000U}) {
                Ints rows(size);
                Ints columns(size);
                for (auto& row : rows) {
                    row = static_cast<std::int32_t>(random() % static_cast<unsigned>(n_rows));
                }
                for (auto& column : columns) {
                    column = static_cast<std::int32_t>(random() % static_cast<unsigned>(n_columns));
                    if (n_columns == largest && random() % 8 == 0) column = largest;
                }
                check_edges(rows, columns, n_rows);
                std::sort(rows.begin(), rows.end());
                check_edges(rows, columns, n_rows);
            }
        }
    }
}

void test_rows_of_each_length() {
    std::mt19937 random(2);
    Ints rows;
    Ints columns;
    for (std::int32_t length = 0; length < 80; ++length) {
        for (std::int32_t k = 0; k < length; ++k) {
            rows.push_back(length);
            columns.push_back(static_cast<std::int32_t>(random() % 100));
        }
    }
    check_edges(rows, columns, 80);
}

void test_sorted_edges() {
    Ints rows;
    Ints columns;
    for (std::int32_t row = 0; row < 50; row += 3) {
        for (std::int32_t column = row; column < 60; column += 4) {
            rows.push_back(row);
            columns.push_back(column);
        }
    }
    check_edges(rows, columns, 50);
    std::swap(columns[0], columns[1]);
    check_edges(rows, columns, 50);
    columns[1] = columns[0];
    check_edges(rows, columns, 50);
}

/// Enough for huge pages.
void test_many_edges() {
    std::mt19937 random(3);
    Ints rows(1500000);
    Ints columns(rows.size());
    for (auto& row : rows) row = static_cast<std::int32_t>(random() % 200000);
    for (auto& column : columns) column = static_cast<std::int32_t>(random() % 1000);
    check_edges(rows, columns, 200000);
}

}  // namespace

int main() {
    test_by_hand();
    test_random();
    test_rows_of_each_length();
    test_sorted_edges();
    test_many_edges();
    return check::report("test_edges");
}
