// Grids of class_sums.hpp, the walk over them, and which path runs.
#include "class_sums/class_sums.hpp"

#include <algorithm>
#include <cassert>

#include "class_sums/class_sums_grid.hpp"

namespace anonymatch {
namespace class_sums {

Grid::Grid(std::span<const Word> weights, std::span<const std::int32_t> sizes,
           std::span<const std::int32_t> orders, std::span<const Word> values,
           std::span<const Word> factors, Word prime)
    : field(prime), rows(sizes.size()), variables(orders.size()) {
    const auto weight = [&](std::size_t i, std::size_t j) {
        return field.in(weights[i * (variables + 1) + j]);
    };
    for (std::size_t i = 0; i < rows; ++i) {
        steps.push_back(sizes[i] - (i + 1 < rows ? sizes[i + 1] : 0));
        fixed.push_back(weight(i, variables));
    }
    std::size_t inside = 1;
    while (inner < variables && inside < inner_from)
        inside *= static_cast<std::size_t>(orders[variables - ++inner]);
    points = (inside + step - 1) / step * step;
    table.assign(rows * points, 0);
    factor.assign(points, 0);
    inner_values.assign(inner * points, 0);
    std::fill_n(factor.begin(), inside, field.in(1));
    std::size_t offset = values.size();
    std::size_t stride = 1;
    for (std::size_t j = variables; j-- > 0;) {
        const auto order = static_cast<std::size_t>(orders[j]);
        offset -= order;
        if (j < variables - inner) {
            Outer& one = outer.emplace_back();
            one.order = order;
            units *= order;
            one.parts.resize(rows * order);
            for (std::size_t t = 0; t < order; ++t) {
                one.values.push_back(field.in(values[offset + t]));
                one.factors.push_back(field.in(factors[offset + t]));
                for (std::size_t i = 0; i < rows; ++i)
                    one.parts[i * order + t] =
                        field.reduced(field.multiply(weight(i, j), one.values[t]));
            }
            continue;
        }
        Word* const x = &inner_values[(j - (variables - inner)) * points];
        for (std::size_t v = 0; v < inside; ++v) {
            const std::size_t t = v / stride % order;
            x[v] = field.in(values[offset + t]);
            factor[v] = field.reduced(field.multiply(factor[v], field.in(factors[offset + t])));
            for (std::size_t i = 0; i < rows; ++i) {
                Word& part = table[i * points + v];
                part = field.reduced(part + field.multiply(weight(i, j), x[v]));
            }
        }
        stride *= order;
    }
}

OuterPoint::OuterPoint(const Grid& grid, Word unit) : at(grid.outer.size()), grid_(&grid) {
    for (std::size_t l = 0; l < at.size(); ++l) {
        at[l] = unit % grid.outer[l].order;
        unit /= grid.outer[l].order;
    }
    renew();
}

void OuterPoint::advance() {
    for (std::size_t l = 0; l < at.size(); ++l) {
        if (++at[l] < grid_->outer[l].order) break;
        at[l] = 0;
    }
    renew();
}

void OuterPoint::renew() {
    const Field& field = grid_->field;
    sums = grid_->fixed;
    factor = field.in(1);
    for (std::size_t l = 0; l < at.size(); ++l) {
        const Grid::Outer& one = grid_->outer[l];
        factor = field.multiply(factor, one.factors[at[l]]);
        for (std::size_t i = 0; i < grid_->rows; ++i) sums[i] += one.parts[i * one.order + at[l]];
    }
    for (Word& sum : sums) sum = field.reduced(sum);
}

OuterSums::OuterSums(const Grid& grid)
    : weighted(grid.outer.size() * grid.rows),
      plain(grid.rows),
      grid_(&grid),
      waiting_(grid.outer.size() * grid.rows) {}

void OuterSums::add(const OuterPoint& point, std::span<const Word> sums, bool last) {
    const Field& field = grid_->field;
    const std::size_t rows = grid_->rows;
    Words carried(sums.begin(), sums.end());
    for (std::size_t l = 0; l < grid_->outer.size(); ++l) {
        const Grid::Outer& one = grid_->outer[l];
        const Word x = one.values[point.at[l]];
        Word* const totals = &weighted[l * rows];
        Word* const waiting = &waiting_[l * rows];
        for (std::size_t i = 0; i < rows; ++i) {
            totals[i] = field.reduced(totals[i] + field.multiply(carried[i], x));
            waiting[i] = field.reduced(waiting[i] + carried[i]);
        }
        if (!last && point.at[l] + 1 < one.order) return;
        carried.assign(waiting, waiting + rows);
        std::fill_n(waiting, rows, 0);
    }
    for (std::size_t i = 0; i < rows; ++i) plain[i] = field.reduced(plain[i] + carried[i]);
}

namespace {

template <class Path>
Word count_of(const Grid& grid, Word first, Word last) {
    Word total = 0;
    OuterPoint point(grid, first);
    for (Word unit = first; unit < last; ++unit, point.advance())
        total = grid.field.reduced(total + Path::count(grid, point));
    return grid.field.out(total);
}

template <class Path>
Words minors_of(const Grid& grid, Word first, Word last) {
    const Field& field = grid.field;
    Words scratch(3 * grid.rows * step);
    Words by_point(grid.rows * grid.points);
    Words sums(grid.rows);
    OuterSums outer(grid);
    OuterPoint point(grid, first);
    for (Word unit = first; unit < last; ++unit, point.advance()) {
        Path::minors(grid, point, scratch, by_point, sums);
        outer.add(point, sums, unit + 1 == last);
        if ((unit - first + 1) % (reduce_after - 1) == 0)
            for (Word& sum : by_point) sum = field.reduced(sum);
    }
    Words result;
    const std::size_t n_outer = grid.outer.size();
    for (std::size_t i = 0; i < grid.rows; ++i) {
        for (std::size_t j = 0; j < n_outer; ++j)
            result.push_back(field.out(outer.weighted[(n_outer - 1 - j) * grid.rows + i]));
        for (std::size_t j = 0; j < grid.inner; ++j) {
            Word sum = 0;
            for (std::size_t v = 0; v < grid.points; ++v)
                sum =
                    field.reduced(sum + field.multiply(field.reduced(by_point[i * grid.points + v]),
                                                       grid.inner_values[j * grid.points + v]));
            result.push_back(field.out(sum));
        }
        result.push_back(field.out(outer.plain[i]));
    }
    return result;
}

}  // namespace
}  // namespace class_sums

ClassSums::ClassSums(std::span<const std::uint64_t> weights, std::span<const std::int32_t> sizes,
                     std::span<const std::int32_t> orders, std::span<const std::uint64_t> points,
                     std::span<const std::uint64_t> factors, std::uint64_t prime) {
    assert(prime % 2 == 1 && prime < class_sums_largest_prime);
    assert(!sizes.empty() && sizes.size() <= class_sums_most_rows);
    assert(std::is_sorted(sizes.rbegin(), sizes.rend()) && sizes.back() >= 1);
    assert(weights.size() == sizes.size() * (orders.size() + 1));
    assert(points.size() == factors.size());
    grid_ =
        std::make_shared<const class_sums::Grid>(weights, sizes, orders, points, factors, prime);
}

std::uint64_t ClassSums::units() const noexcept {
    return grid_->units;
}

std::uint64_t ClassSums::count(std::uint64_t first, std::uint64_t last,
                               [[maybe_unused]] Isa isa) const {
    assert(first <= last && last <= units());
#if defined(__x86_64__)
    if (isa == Isa::avx512) return class_sums::count_of<class_sums::Avx512>(*grid_, first, last);
#endif
    return class_sums::count_of<class_sums::Portable>(*grid_, first, last);
}

std::vector<std::uint64_t> ClassSums::minors(std::uint64_t first, std::uint64_t last,
                                             [[maybe_unused]] Isa isa) const {
    assert(first <= last && last <= units());
#if defined(__x86_64__)
    if (isa == Isa::avx512) return class_sums::minors_of<class_sums::Avx512>(*grid_, first, last);
#endif
    return class_sums::minors_of<class_sums::Portable>(*grid_, first, last);
}

}  // namespace anonymatch
