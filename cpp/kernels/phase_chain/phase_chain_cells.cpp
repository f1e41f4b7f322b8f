#include "phase_chain/phase_chain_cells.hpp"

#include <algorithm>
#include <cmath>

namespace anonymatch::phase_chain {
namespace {

constexpr double log_largest = 300.0;  // beyond, weights are made from their logarithms
constexpr Index direct_largest = 900;  // binomials of more are beyond doubles

/// Messages in the last stage at the first cell of a row; one fewer in each cell after it.
Index in_last(Index total, const Point& point) {
    return total - point[0] - point[1] - point[2];
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

void Cells::place() {
    std::size_t size = 0;
    for (Slice& slice : slices) {
        slice.offset = size;
        size += slice.box.cells();
    }
    values.resize(size);
}

void Cells::allocate() {
    place();
    std::fill(values.begin(), values.end(), 0.0);
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
    return phase_chain::sum(values.data(), values.size());
}

double product(const Cells& a, const Cells& b, Index counted) {
    double sum = 0;
    for (const Slice& slice : a.slices) {
        const Slice* other = b.find(slice.total, slice.count + counted);
        if (other == nullptr) continue;
        const Box both = overlap(slice.box, other->box);
        if (both.empty()) continue;
        each_row(both, [&](const Point& point, std::size_t, std::size_t length) {
            const double* x = &a.values[slice.offset + slice.box.index(point)];
            const double* y = &b.values[other->offset + other->box.index(point)];
            sum += dot(x, y, length);
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

}  // namespace

Leaving::Leaving(const std::vector<Slice>& slices, double stay) {
    Index least = 0;
    for (const Slice& slice : slices) {
        most_ = std::max(most_, in_last(slice.total, slice.box.low));
        least = std::min(least, in_last(slice.total, slice.box.high));
    }
    // Rows of a room are a little longer than their boxes.
    least -= static_cast<Index>(lanes);
    for (Index k = most_; k >= least; --k) numbers_.push_back(std::max(0, k) + stay);
}

Cells Rules::after(const Cells& before, Kind kind, double stay) const {
    if (kind == Kind::end || kind == Kind::pause) return before;
    const Leaving leaving(before.slices, 0.0);
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
    // A slice that one branch fills needs no zeros.
    const bool single = ways.size() == size;
    if (single)
        result.place();
    else
        result.allocate();
    for (const Branch& way : ways) {
        const Slice& target = *result.find(way.target.total, way.target.count);
        const double* from = &before.values[way.source->offset];
        each_row(way.target.box, [&](const Point& point, std::size_t index, std::size_t length) {
            const double* x = from + index;
            double* y = &result.values[target.offset + target.box.index(point)];
            if (single && way.moved && kind == Kind::departure)
                copy_products(y, x, leaving.from(in_last(way.source->total, point)), length);
            else if (single)
                copy_scaled(y, x, way.moved ? 1 - model.loss : stay, length);
            else if (!way.moved)
                add_scaled(y, x, stay, length);
            else if (kind == Kind::arrival)
                add_scaled(y, x, 1 - model.loss, length);
            else
                add_products(y, x, leaving.from(in_last(way.source->total, point)), length);
        });
    }
    return result;
}

void Rules::weights_before(Cells& before, const Cells& after, Kind kind, double stay) const {
    const bool event = kind == Kind::arrival || kind == Kind::departure;
    const Leaving leaving(before.slices, 0.0);
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
            if (!way.moved)
                add_scaled(y, x, rest, length);
            else if (kind == Kind::arrival)
                add_scaled(y, x, 1 - model.loss, length);
            else
                add_products(y, x, leaving.from(in_last(way.source->total, point)), length);
        });
    }
}

Moves::Moves(const Stages& stages, double gap, const Point& least, const Point& largest, double cut)
    : least_(least) {
    const Steps all = stages.steps(gap);
    Point most = largest;
    most[2] += static_cast<Index>(lanes) - 1;  // rows of a room are so much longer
    const std::size_t first = sides - (stages.number() - 1);
    for (std::size_t k = 0; k < all.number; ++k) {
        const std::size_t side = first + all.stage[k];
        std::size_t same = 0;
        while (same < tables_.size() &&
               !(tables_[same].side == side && tables_[same].size == all.size[k]))
            ++same;
        if (same == tables_.size()) {
            tables_.push_back({side, all.size[k], 0, 0, {}, {}, {}});
            fill(tables_.back(), most[side], cut);
        }
        step_.push_back({side, same});
        passes_ += 0.5 * static_cast<double>(tables_[same].terms);
        log_scale_ += most[side] * std::log1p(all.size[k]);
        longest_ = std::max(longest_, tables_[same].terms);
    }
    for (std::size_t stage = 0; stage + 1 < stages.number() && all.number > 0; ++stage) {
        if (all.stay[stage] == 0) continue;
        const std::size_t side = first + stage;
        for (Index n = least[side]; n <= most[side]; ++n)
            stay_[side].push_back(std::exp(all.stay[stage] * (n - least[side])));
        log_scale_ += all.stay[stage] * least[side];
    }
}

void Moves::fill(Table& table, Index most, double cut) {
    const double step = table.size, log_scale = most * std::log1p(step);
    const bool direct = log_scale < log_largest && most <= direct_largest;
    std::vector<double>& weights = table.weights;
    table.width = at(most) + 1;
    const auto width = table.width;
    for (Index m = 0; m <= most; ++m) {
        const std::size_t row = at(m) * width;
        weights.resize(row + width, 0.0);
        double* out = &weights[row];
        if (!direct) {
            for (Index n = m; n <= most; ++n)
                out[n] = std::exp(std::lgamma(n + 1.0) - std::lgamma(m + 1.0) -
                                  std::lgamma(n - m + 1.0) + m * std::log(step) - log_scale);
        } else if (m == 0) {
            std::fill_n(out, width, std::exp(-log_scale));
        } else {
            const double* before = out - width;
            const double factor = step / m;
            for (Index n = m; n <= most; ++n) out[n] = before[n] * (factor * (n - m + 1));
        }
        table.terms = at(m) + 1;
        if (m > step * most && out[most] < cut) break;
    }
    table.of.assign(width, 1);
    table.left.assign(width, 1);
    for (std::size_t n = 1; n < width; ++n) {
        // All moves of n together weigh (1 + step)^(n - most).
        const double least = cut * std::exp((static_cast<double>(n) - most) * std::log1p(step));
        std::size_t m = std::min(table.terms, n + 1);
        while (m > 1 && weights[(m - 1) * width + n] < least) --m;
        table.of[n] = static_cast<std::uint32_t>(m);
    }
    for (std::size_t n = 0; n < width; ++n) {
        std::size_t m = table.left[n > 0 ? n - 1 : 0];
        while (n + m < width && m < table.of[n + m]) ++m;
        table.left[n] = static_cast<std::uint32_t>(m);
    }
    // Moves look past the end of a row, where there is nothing to move.
    weights.resize(weights.size() + table.terms + 2 * lanes, 0.0);
}

void Room::load(const double* from, const Box& source, const Box& target, const Moves& moves,
                double factor) {
    box_ = target;
    pad_ = 0;
    if (moves.steps() > 0) {
        const auto length = static_cast<Index>(box_.length(2)), wide = static_cast<Index>(lanes);
        box_.high[2] += (wide - length % wide) % wide;
        pad_ = (std::min(moves.longest(), box_.length(2)) + lanes - 1) / lanes * lanes;
    }
    pitch_ = pad_ + box_.length(2);
    cells_.assign(box_.length(0) * box_.length(1) * pitch_ + pad_, 0.0);
    const Box both = overlap(source, target);
    if (both.empty()) return;
    each_row(both, [&](const Point& point, std::size_t, std::size_t length) {
        const double* x = from + source.index(point);
        double* y = row(point) + (point[2] - box_.low[2]);
        copy_scaled(y, x, factor, length);
    });
}

Grid Room::grid() {
    return {&cells_[pad_],  box_.length(0),          box_.length(1),
            box_.length(2), box_.length(1) * pitch_, pitch_};
}

void Room::stay(const Moves& moves) {
    for (std::size_t side = 0; side < sides; ++side) {
        const std::vector<double>& factors = moves.stay_[side];
        if (factors.empty()) continue;
        const Index least = moves.least_[side];
        each_row(box_, [&](const Point& point, std::size_t, std::size_t length) {
            double* x = row(point);
            if (side == 2)
                multiply_by(x, &factors[at(box_.low[2] - least)], length);
            else
                multiply(x, factors[at(point[side] - least)], length);
        });
    }
}

void Room::forward(const Moves& moves, std::size_t step) {
    const Moves::Table& table = moves.tables_[moves.step_[step].table];
    const Weights weights{table.weights.data(), table.width, table.left.data(), table.of.data()};
    const auto low = at(box_.low[table.side]);
    if (table.side == 2)
        forward_last(grid(), weights, low);
    else if (table.side == 1)
        forward_rows(grid(), weights, low);
    else
        forward_planes(grid(), weights, low);
}

void Room::forward(const Moves& moves) {
    stay(moves);
    for (std::size_t step = 0; step < moves.steps(); ++step) forward(moves, step);
}

void Room::backward(const Moves& moves) {
    for (std::size_t step = moves.steps(); step-- > 0;) {
        const Moves::Table& table = moves.tables_[moves.step_[step].table];
        const Weights weights{table.weights.data(), table.width, table.left.data(),
                              table.of.data()};
        const auto low = at(box_.low[table.side]);
        if (table.side == 2)
            backward_last(grid(), weights, low);
        else if (table.side == 1)
            backward_rows(grid(), weights, low);
        else
            backward_planes(grid(), weights, low);
    }
    stay(moves);
}

void Room::clear_beyond(Index total) {
    each_row(box_, [&](const Point& point, std::size_t, std::size_t length) {
        double* x = row(point);
        const auto first = at(std::max(0, in_last(total, point) + 1));
        for (std::size_t k = first; k < length; ++k) x[k] = 0;
    });
}

void Room::store(double* to, const Box& target, double factor) const {
    const Box both = overlap(box_, target);
    if (both.empty()) return;
    each_row(both, [&](const Point& point, std::size_t, std::size_t length) {
        copy_scaled(to + target.index(point), row(point) + (point[2] - box_.low[2]), factor,
                    length);
    });
}

}  // namespace anonymatch::phase_chain
