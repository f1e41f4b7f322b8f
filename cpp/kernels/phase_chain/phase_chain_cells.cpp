#include "phase_chain/phase_chain_cells.hpp"

#include <algorithm>
#include <cmath>

// Products and sums stay in their order, so every instruction set gives the same doubles.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ANONYMATCH_LANES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ANONYMATCH_LANES
#endif

namespace anonymatch::phase_chain {
namespace {

constexpr double log_largest = 300.0;  // beyond, weights are made from their logarithms
constexpr Index direct_largest = 900;  // binomials of more are beyond doubles

ANONYMATCH_LANES void add_scaled(double* out, const double* in, double factor, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] += factor * in[k];
}

ANONYMATCH_LANES void add_products(double* out, const double* in, const double* factors,
                                   std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] += factors[k] * in[k];
}

ANONYMATCH_LANES void multiply(double* out, double factor, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] *= factor;
}

/// Cells that come or go together: a block of rows along two sides.
struct Lines {
    std::size_t outer, outer_stride;  // what is the same for all moves
    std::size_t rows, row_stride;     // the side that moves go from
    std::size_t length, shift;        // the rest, and how far one move goes in it
};

Lines lines(const Box& box, std::size_t side) {
    if (side == 0)
        return {1, 0, box.length(0), box.stride(0), box.length(1) * box.length(2), box.length(2)};
    return {box.length(0), box.stride(0), box.length(1), box.length(2), box.length(2), 1};
}

}  // namespace

Box hull(const Box& a, const Box& b) {
    Box both;
    for (std::size_t side = 0; side < sides; ++side) {
        both.low[side] = std::min(a.low[side], b.low[side]);
        both.high[side] = std::max(a.high[side], b.high[side]);
    }
    return both;
}

Box overlap(const Box& a, const Box& b) {
    Box both;
    for (std::size_t side = 0; side < sides; ++side) {
        both.low[side] = std::max(a.low[side], b.low[side]);
        both.high[side] = std::min(a.high[side], b.high[side]);
    }
    return both;
}

void Cells::allocate() {
    std::size_t size = 0;
    for (Slice& slice : slices) {
        slice.offset = size;
        size += slice.box.cells();
    }
    values.assign(size, 0.0);
}

const Slice* Cells::find(Index total, Index count) const {
    Slice wanted;
    wanted.total = total;
    wanted.count = count;
    const auto place = std::lower_bound(slices.begin(), slices.end(), wanted, earlier);
    return place != slices.end() && place->total == total && place->count == count ? &*place
                                                                                   : nullptr;
}

double Cells::value(Index total, Index count, const Point& point) const {
    const Slice* slice = find(total, count);
    return slice != nullptr && slice->box.holds(point)
               ? values[slice->offset + slice->box.index(point)]
               : 0.0;
}

double Cells::sum() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

double product(const Cells& a, const Cells& b) {
    double sum = 0;
    for (const Slice& slice : a.slices) {
        const Slice* other = b.find(slice.total, slice.count);
        if (other == nullptr) continue;
        const Box both = overlap(slice.box, other->box);
        if (both.empty()) continue;
        each_row(both, [&](const Point& point, std::size_t, std::size_t length) {
            const double* x = &a.values[slice.offset + slice.box.index(point)];
            const double* y = &b.values[other->offset + other->box.index(point)];
            for (std::size_t k = 0; k < length; ++k) sum += x[k] * y[k];
        });
    }
    return sum;
}

void copy_cells(const double* from, const Box& source, double* to, const Box& target,
                double factor) {
    const Box both = overlap(source, target);
    if (both.empty()) return;
    each_row(both, [&](const Point& point, std::size_t, std::size_t length) {
        const double* x = from + source.index(point);
        double* y = to + target.index(point);
        for (std::size_t k = 0; k < length; ++k) y[k] = x[k] * factor;
    });
}

namespace {

/// One way from a slice before an event to one after it.
struct Branch {
    const Slice* source;
    Slice target;
    bool moved;  // came in, or left
};

std::vector<Branch> branches(const Rules& rules, const Cells& before, Kind kind, double stay) {
    const PhaseModel& model = rules.model;
    std::vector<Branch> all;
    const bool arrival = kind == Kind::arrival;
    const Index counted = rules.counts(arrival ? PhaseCount::lost : PhaseCount::cover);
    for (const Slice& slice : before.slices) {
        if (stay > 0 && (counted == 0 || slice.count < model.count_end)) {
            all.push_back({&slice, slice, false});
            all.back().target.count += counted;
        }
        if (!arrival && slice.total == 0) continue;
        all.push_back({&slice, slice, true});
        Slice& target = all.back().target;
        target.total += arrival ? 1 : -1;
        if (arrival && model.hops > 1) {
            ++target.box.low[rules.first_side()];
            ++target.box.high[rules.first_side()];
        }
    }
    return all;
}

/// Messages in the last stage at the first cell of a row; one fewer in each cell after it.
Index in_last(Index total, const Point& point) {
    return total - point[0] - point[1] - point[2];
}

}  // namespace

Cells Rules::after(const Cells& before, Kind kind, double stay) const {
    if (kind == Kind::end) return before;
    const auto ways = branches(*this, before, kind, stay);
    Cells result;
    for (const Branch& way : ways) result.slices.push_back(way.target);
    std::sort(result.slices.begin(), result.slices.end(), earlier);
    std::size_t size = 0;
    for (const Slice& slice : result.slices) {
        if (size > 0 && !earlier(result.slices[size - 1], slice))
            result.slices[size - 1].box = hull(result.slices[size - 1].box, slice.box);
        else
            result.slices[size++] = slice;
    }
    result.slices.resize(size);
    result.allocate();
    for (const Branch& way : ways) {
        const Slice& target = *result.find(way.target.total, way.target.count);
        const double* from = &before.values[way.source->offset];
        each_row(way.target.box, [&](const Point& point, std::size_t index, std::size_t length) {
            const double* x = from + index;
            double* y = &result.values[target.offset + target.box.index(point)];
            if (!way.moved) {
                for (std::size_t k = 0; k < length; ++k) y[k] += stay * x[k];
            } else if (kind == Kind::arrival) {
                for (std::size_t k = 0; k < length; ++k) y[k] += (1 - model.loss) * x[k];
            } else {
                const Index last = in_last(way.source->total, point);
                for (std::size_t k = 0; k < length; ++k)
                    y[k] += std::max(0, last - static_cast<Index>(k)) * x[k];
            }
        });
    }
    return result;
}

void Rules::weights_before(Cells& before, const Cells& after, Kind kind, double stay) const {
    std::fill(before.values.begin(), before.values.end(), 0.0);
    const bool event = kind != Kind::end;
    std::vector<Branch> ways;
    if (event)
        ways = branches(*this, before, kind, stay);
    else
        for (const Slice& slice : before.slices) ways.push_back({&slice, slice, false});
    const double rest = event ? stay : 1.0;
    for (const Branch& way : ways) {
        const Slice* target = after.find(way.target.total, way.target.count);
        if (target == nullptr) continue;
        const Box both = overlap(way.target.box, target->box);
        if (both.empty()) continue;
        each_row(both, [&](const Point& point, std::size_t, std::size_t length) {
            const double* x = &after.values[target->offset + target->box.index(point)];
            double* y = &before.values[way.source->offset + way.target.box.index(point)];
            if (!way.moved) {
                for (std::size_t k = 0; k < length; ++k) y[k] += rest * x[k];
            } else if (kind == Kind::arrival) {
                for (std::size_t k = 0; k < length; ++k) y[k] += (1 - model.loss) * x[k];
            } else {
                const Index last = in_last(way.source->total, point);
                for (std::size_t k = 0; k < length; ++k)
                    y[k] += std::max(0, last - static_cast<Index>(k)) * x[k];
            }
        });
    }
}

Moves::Moves(int hops, double gap, const Point& most, double cut) {
    if (hops == 1 || gap <= 0) return;
    const std::size_t first = sides - static_cast<std::size_t>(hops - 1);
    // exp(x J) = (1)(2 1)(3 2 1).. with x / (hops - a) for the step from stage a.
    for (std::size_t top = first; top < sides; ++top)
        for (std::size_t side = top + 1; side-- > first;) word_.push_back(side);
    for (std::size_t side = first; side < sides; ++side)
        fill(directions_[side], gap / static_cast<double>(sides - side), most[side], cut);
    for (const std::size_t side : word_) {
        passes_ += static_cast<double>(directions_[side].terms);
        log_scale_ += most[side] * std::log1p(gap / static_cast<double>(sides - side));
    }
}

void Moves::fill(Direction& direction, double step, Index most, double cut) {
    direction.width = at(most) + 1;
    const double log_scale = most * std::log1p(step);
    const bool direct = log_scale < log_largest && most <= direct_largest;
    std::vector<double>& weights = direction.weights;
    for (Index m = 0; m <= most; ++m) {
        const std::size_t row = at(m) * direction.width;
        weights.resize(row + direction.width, 0.0);
        for (Index n = m; n <= most; ++n) {
            if (!direct)
                weights[row + at(n)] =
                    std::exp(std::lgamma(n + 1.0) - std::lgamma(m + 1.0) -
                             std::lgamma(n - m + 1.0) + m * std::log(step) - log_scale);
            else if (m == 0)
                weights[row + at(n)] = std::exp(-log_scale);
            else
                weights[row + at(n)] =
                    weights[row - direction.width + at(n)] * (step * (n - m + 1) / m);
        }
        direction.terms = at(m) + 1;
        if (m > step * most && weights[row + at(most)] < cut) break;
    }
}

void Moves::forward(std::size_t step, double* cells, const Box& box,
                    std::vector<double>& scratch) const {
    const std::size_t side = word_[step];
    const Direction& direction = directions_[side];
    const double* weights = direction.weights.data();
    if (side == sides - 1) {
        const std::size_t length = box.length(side), low = at(box.low[side]);
        scratch.resize(length);
        each_row(box, [&](const Point&, std::size_t index, std::size_t) {
            double* out = cells + index;
            std::copy_n(out, length, scratch.begin());
            std::fill_n(out, length, 0.0);
            for (std::size_t m = 0; m < std::min(direction.terms, length); ++m)
                add_products(out, scratch.data() + m, weights + m * direction.width + low + m,
                             length - m);
        });
        return;
    }
    const Lines all = lines(box, side);
    for (std::size_t outer = 0; outer < all.outer; ++outer) {
        double* base = cells + outer * all.outer_stride;
        for (std::size_t row = 0; row < all.rows; ++row) {
            double* out = base + row * all.row_stride;
            const std::size_t n = at(box.low[side]) + row;
            multiply(out, weights[n], all.length);
            for (std::size_t m = 1; m < direction.terms && row + m < all.rows; ++m) {
                if (m * all.shift >= all.length) break;
                add_scaled(out + m * all.shift, out + m * all.row_stride,
                           weights[m * direction.width + n + m], all.length - m * all.shift);
            }
        }
    }
}

void Moves::backward(std::size_t step, double* cells, const Box& box,
                     std::vector<double>& scratch) const {
    const std::size_t side = word_[step];
    const Direction& direction = directions_[side];
    const double* weights = direction.weights.data();
    if (side == sides - 1) {
        const std::size_t length = box.length(side), low = at(box.low[side]);
        scratch.resize(length);
        each_row(box, [&](const Point&, std::size_t index, std::size_t) {
            double* out = cells + index;
            std::copy_n(out, length, scratch.begin());
            std::fill_n(out, length, 0.0);
            for (std::size_t m = 0; m < std::min(direction.terms, length); ++m)
                add_products(out + m, scratch.data(), weights + m * direction.width + low + m,
                             length - m);
        });
        return;
    }
    const Lines all = lines(box, side);
    for (std::size_t outer = 0; outer < all.outer; ++outer) {
        double* base = cells + outer * all.outer_stride;
        for (std::size_t row = all.rows; row-- > 0;) {
            double* out = base + row * all.row_stride;
            const std::size_t n = at(box.low[side]) + row;
            multiply(out, weights[n], all.length);
            for (std::size_t m = 1; m < direction.terms && m <= row; ++m) {
                if (m * all.shift >= all.length) break;
                add_scaled(out, out - m * all.row_stride + m * all.shift,
                           weights[m * direction.width + n], all.length - m * all.shift);
            }
        }
    }
}

}  // namespace anonymatch::phase_chain
