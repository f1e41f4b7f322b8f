// The sums over inner points, for any arithmetic on a few numbers at a time.
#pragma once

#include <cstddef>

#include "class_sums/class_sums_grid.hpp"

namespace anonymatch::class_sums {

template <class Numbers>
inline Numbers to_the_power(Numbers base, int exponent, const typename Numbers::Modulus& m) {
    while (!(exponent & 1)) {
        base = multiply(base, base, m);
        exponent >>= 1;
    }
    Numbers result = base;
    while (exponent >>= 1) {
        base = multiply(base, base, m);
        if (exponent & 1) result = multiply(result, base, m);
    }
    return result;
}

/// `start` times prod_i s_i^u_i, the sizes given by their steps: a product of all rows so far is
/// raised where the sizes fall. `last` is the fall behind the last row.
template <class Numbers, class Form>
inline Numbers product_of_powers(const Grid& grid, Numbers start, int last, Form form,
                                 const typename Numbers::Modulus& m) {
    Numbers all = form(0);
    for (std::size_t i = 0;; ++i) {
        const bool end = i + 1 == grid.rows;
        const int fall = end ? last : grid.steps[i];
        if (fall > 0) start = multiply(start, to_the_power(all, fall, m), m);
        if (end) return start;
        all = multiply(all, form(i + 1), m);
    }
}

template <class Numbers>
inline Word count_inner(const Grid& grid, const OuterPoint& point) {
    const typename Numbers::Modulus m(grid.field);
    Numbers total = Numbers::zero();
    std::size_t terms = 0;
    for (std::size_t v = 0; v < grid.points; v += Numbers::size) {
        const auto form = [&](std::size_t i) {
            return add(Numbers::all(point.sums[i]),
                       Numbers::load(&grid.table[i * grid.points + v]));
        };
        const Numbers start = Numbers::load(&grid.factor[v]);
        total = add(total, product_of_powers(grid, start, grid.steps.back(), form, m));
        if (++terms == reduce_after - 1) {
            total = total.reduced(grid.field);
            terms = 0;
        }
    }
    return grid.field.reduced(grid.field.multiply(total.sum(grid.field), point.factor));
}

template <class Numbers>
inline void minors_inner(const Grid& grid, const OuterPoint& point, Words& scratch, Words& by_point,
                         Words& sums) {
    const typename Numbers::Modulus m(grid.field);
    const std::size_t rows = grid.rows;
    const Numbers outer = Numbers::all(point.factor);
    const auto row = [](Words& words, std::size_t i) { return &words[i * Numbers::size]; };
    // Per row: s_i, the sum so far of what is left without it, and the product of what comes before.
    Word* const totals = row(scratch, rows);
    for (std::size_t i = 0; i < rows; ++i) Numbers::zero().store(totals + i * Numbers::size);
    std::size_t terms = 0;
    for (std::size_t v = 0; v < grid.points; v += Numbers::size) {
        for (std::size_t i = 0; i < rows; ++i)
            add(Numbers::all(point.sums[i]), Numbers::load(&grid.table[i * grid.points + v]))
                .store(row(scratch, i));
        const auto form = [&](std::size_t i) { return Numbers::load(row(scratch, i)); };
        Numbers start = multiply(outer, Numbers::load(&grid.factor[v]), m);
        start = product_of_powers(grid, start, grid.steps.back() - 1, form, m);
        // Products of the rows before each, then of those after it.
        Word* const before = row(scratch, 2 * rows);
        for (std::size_t i = 0; i < rows; ++i) {
            start.store(before + i * Numbers::size);
            if (i + 1 < rows) start = multiply(start, form(i), m);
        }
        Numbers after = Numbers::zero();
        for (std::size_t i = rows; i-- > 0;) {
            Numbers rest = Numbers::load(before + i * Numbers::size);
            if (i + 1 < rows) {
                rest = multiply(rest, after, m);
                after = multiply(after, form(i), m);
            } else {
                after = form(i);
            }
            Word* const total = totals + i * Numbers::size;
            add(Numbers::load(total), rest).store(total);
            Word* const at = &by_point[i * grid.points + v];
            add(Numbers::load(at), rest).store(at);
        }
        if (++terms == reduce_after - 1) {
            for (std::size_t k = 0; k < rows * Numbers::size; ++k)
                totals[k] = grid.field.reduced(totals[k]);
            terms = 0;
        }
    }
    for (std::size_t i = 0; i < rows; ++i)
        sums[i] = Numbers::load(totals + i * Numbers::size).sum(grid.field);
}

}  // namespace anonymatch::class_sums
