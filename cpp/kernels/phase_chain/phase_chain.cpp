#include "phase_chain/phase_chain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "phase_chain/phase_chain_job.hpp"

namespace anonymatch {

using namespace phase_chain;

namespace {

constexpr double posterior_cut = 1e-15;  // of the posterior, left out of what rows look at
constexpr double event_work = 6000;      // what an event costs for each slice, whatever its cells
constexpr double lane_work = 3000;
constexpr std::size_t small_box = 256;  // cells that are not worth saving
constexpr double allowed_from = 1e-12;
constexpr double tie = 1e-12;

/// Weights (1, x, x^2/2, ..) added up from power `from` to `to`.
double powers(double x, int from, int to) {
    double term = 1, sum = 0;
    for (int k = 0; k <= to; ++k) {
        if (k >= from) sum += term;
        term *= x / (k + 1);
    }
    return sum;
}

template <class Factor>
Sums sums(const double* cells, const Box& box, Factor&& factor) {
    Sums result;
    for (std::size_t side = 0; side < sides; ++side)
        result.by_side[side].assign(box.length(side), 0.0);
    each_row(box, [&](const Point& point, std::size_t index, std::size_t length) {
        double sum = 0;
        for (std::size_t k = 0; k < length; ++k) {
            const double value = cells[index + k] * factor(point, k);
            result.by_side[2][k] += value;
            sum += value;
        }
        result.by_side[0][at(point[0] - box.low[0])] += sum;
        result.by_side[1][at(point[1] - box.low[1])] += sum;
        result.total += sum;
    });
    return result;
}

/// Takes away borders that together hold no more than `least` on each end of a side; notes how
/// much that was.
void trim(Slice& slice, const Sums& sums, double least) {
    for (std::size_t side = 0; side < sides; ++side) {
        const std::vector<double>& sum = sums.by_side[side];
        std::size_t first = 0, last = sum.size() - 1;
        double below = 0, above = 0;
        while (first < last && below + sum[first] <= least) below += sum[first++];
        while (last > first && above + sum[last] <= least) above += sum[last--];
        slice.box.high[side] = slice.box.low[side] + static_cast<Index>(last);
        slice.box.low[side] += static_cast<Index>(first);
        slice.cut_below[side] += below;
        slice.cut_above[side] += above;
    }
}

/// How many counts beyond the first entry of `sum` get more than `least` when `rate` move on
/// average: an upper estimate, at most `most`.
Index reach(const double* sum, std::ptrdiff_t stride, std::size_t size, double rate, double least,
            Index most) {
    double factor = 1;  // rate^grown / grown!
    for (Index grown = 1; grown <= most; ++grown) {
        factor *= rate / grown;
        double got = 0, term = factor;
        for (std::size_t k = 0; k < size; ++k) {
            got += sum[static_cast<std::ptrdiff_t>(k) * stride] * term;
            if (term == 0 || !(got <= least)) break;
            term *= rate / (grown + static_cast<double>(k) + 1);
        }
        if (got <= least) return grown - 1;
    }
    return most;
}

/// Where messages of a slice can be after a gap.
Box grown(const Slice& slice, const Sums& sums, int hops, double gap, double least) {
    Box box = slice.box;
    const auto first = at(static_cast<std::ptrdiff_t>(sides) - (hops - 1));
    for (std::size_t side = first; side < sides; ++side) {
        const std::vector<double>& sum = sums.by_side[side];
        const int stages_after = static_cast<int>(sides - side);
        const double out = slice.box.high[side] * powers(gap, 1, stages_after);
        box.low[side] -= reach(sum.data(), 1, sum.size(), out, least, slice.box.low[side]);
        double in = 0;
        for (std::size_t before = first; before < side; ++before) {
            const int far = static_cast<int>(side - before);
            in += slice.box.high[before] * powers(gap, far, far);
        }
        if (in > 0)
            box.high[side] += reach(&sum.back(), -1, sum.size(), in, least,
                                    std::max(0, slice.total - slice.box.high[side]));
    }
    return box;
}

/// The part of the filter's box that messages pass in a gap on their way to a posterior's box: a
/// guess from how far they go on from there, and all of it where nothing may be left out. It is too
/// small where all must be in the last stage, as before many departures at once; rows then do not
/// add up, and are made again with less left out.
Box on_the_way(const Slice& slice, const Slice& filtered, const Sums& posterior, int hops,
               double gap, double least) {
    if (least <= 0 || filtered.wide.cells() <= small_box) return filtered.wide;
    Sums inner;
    for (std::size_t side = 0; side < sides; ++side) {
        const auto first = posterior.by_side[side].begin();
        inner.by_side[side].assign(first + (slice.box.low[side] - filtered.box.low[side]),
                                   first + (slice.box.high[side] - filtered.box.low[side]) + 1);
    }
    return overlap(grown(slice, inner, hops, gap, least), filtered.wide);
}

Point most_of(const std::vector<Slice>& slices) {
    Point most{};
    for (const Slice& slice : slices)
        for (std::size_t side = 0; side < sides; ++side)
            most[side] = std::max(most[side], slice.box.high[side]);
    return most;
}

double log2_of(double p) {
    return p > 0 ? std::log2(p) : 0.0;
}

}  // namespace

Entropies phase_chain::entropies(std::span<const double> probability, double inside, double lost) {
    Entropies result;
    double logs = 0, squares = 0;
    for (const double p : probability) {
        result.departed += p;
        logs -= p * log2_of(p);
        squares += p * p;
        result.largest = std::max(result.largest, p);
    }
    const double departed = result.departed;
    result.shannon_all = std::max(0.0, logs - inside * log2_of(inside) - lost * log2_of(lost));
    if (departed > 0) {
        result.shannon = std::max(0.0, logs / departed + log2_of(departed));
        result.collision = std::min(1.0, squares / (departed * departed));
    } else {
        result.collision = 1;
    }
    return result;
}

double phase_chain::guesses(std::vector<double>& probability, double departed) {
    if (!(departed > 0)) return 1;
    std::sort(probability.begin(), probability.end(), std::greater<>());
    double sum = 0;
    for (std::size_t k = 0; k < probability.size(); ++k)
        sum += static_cast<double>(k + 1) * probability[k];
    return std::max(1.0, sum / departed);
}

GroupFigures phase_chain::over_groups(std::vector<std::pair<Index, double>>& entries,
                                      double departed) {
    GroupFigures result;
    if (!(departed > 0)) return result;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < entries.size();) {
        double sum = 0;
        const Index group = entries[k].first;
        for (; k < entries.size() && entries[k].first == group; ++k) sum += entries[k].second;
        result.shannon -= sum / departed * log2_of(sum / departed);
        if (sum > result.largest * (1 + tie)) {
            result.largest = sum;
            result.guess = group;
        }
    }
    result.shannon = std::max(0.0, result.shannon);
    return result;
}

PhaseChain::Job::Job(const PhaseModel& model, std::span<const double> came,
                     std::span<const double> left, double end, std::span<const double> early)
    : rules{model}, arrivals(came.begin(), came.end()), departures(left.begin(), left.end()) {
    if (model.hops < 1 || model.hops > phase_chain_largest ||
        !(model.loss >= 0 && model.loss < 1) || !(model.cover >= 0 && std::isfinite(model.cover)) ||
        !(model.epsilon >= 0))
        throw std::invalid_argument("not a model of stages");
    const auto sorted = [&](const std::vector<double>& times) {
        return std::is_sorted(times.begin(), times.end()) &&
               std::all_of(times.begin(), times.end(),
                           [&](double time) { return std::isfinite(time) && time <= end; });
    };
    if (!sorted(arrivals) || !sorted(departures) || !std::isfinite(end))
        throw std::invalid_argument("times are not sorted, or end after the log");
    if (!early.empty() && (early.size() != departures.size() ||
                           !std::all_of(early.begin(), early.end(), [](double weight) {
                               return weight >= 0 && std::isfinite(weight);
                           })))
        throw std::invalid_argument("one weight a departure to have been inside before");
    merge(end, early);
    bound();
    norms.resize(events.size());
    lost.assign(arrivals.size(), 0.0);
    real.assign(departures.size(), 0.0);
    current.slices = {Slice{}};
    current.allocate();
    current.values[0] = 1;
    const Event& first = events.front();
    possible = first.least <= 0 && first.most >= 0 && first.least_count <= 0;
}

void PhaseChain::Job::merge(double end, std::span<const double> early) {
    std::size_t i = 0, j = 0;
    while (i < arrivals.size() || j < departures.size()) {
        const bool arrival =
            j == departures.size() || (i < arrivals.size() && arrivals[i] <= departures[j]);
        if (arrival) arrival_event.push_back(events.size());
        const double time = arrival ? arrivals[i] : departures[j];
        const double before = early.empty() || arrival ? 0.0 : early[j];
        const double stay = arrival ? rules.model.loss : rules.model.cover + before;
        events.push_back(
            {arrival ? Kind::arrival : Kind::departure, time, 0, arrival ? i : j, stay, 0, 0, 0});
        nobodys = nobodys || (!arrival && stay > 0);
        ++(arrival ? i : j);
    }
    events.push_back({Kind::end, end, 0, 0, 0, 0, 0, 0});
    for (std::size_t k = 1; k < events.size(); ++k)
        events[k].gap = events[k].time - events[k - 1].time;
}

void PhaseChain::Job::bound() {
    const PhaseModel& model = rules.model;
    Index least = std::max(model.total_end, 0);
    Index most = model.total_end >= 0 ? model.total_end : std::numeric_limits<Index>::max() / 2;
    Index count = model.counted == PhaseCount::nothing ? 0 : model.count_end;
    for (std::size_t k = events.size(); k-- > 0;) {
        Event& event = events[k];
        if (event.kind == Kind::arrival) {
            least = std::max(0, least - 1);
            if (model.loss == 0) --most;
            count -= rules.counts(PhaseCount::lost);
        } else if (event.kind == Kind::departure) {
            if (event.stay == 0) ++least;
            ++most;
            count -= rules.counts(PhaseCount::cover);
        }
        event.least = least;
        event.most = most;
        event.least_count = count;
    }
}

/// Sums of a slice by how much it matters: what cannot leave now is of no use where a departure
/// must be somebody.
Sums PhaseChain::Job::use_of(const double* values, const Slice& slice, std::size_t event) const {
    if (events[event].kind != Kind::departure)
        return sums(values, slice.box, [](const Point&, std::size_t) { return 1.0; });
    return sums(values, slice.box, [&](const Point& point, std::size_t q) {
        const Index last = slice.total - point[0] - point[1] - point[2] - static_cast<Index>(q);
        return std::max(0, last) + events[event].stay;
    });
}

/// From the table after an event to that before the next; false if nothing is left.
bool PhaseChain::Job::step(const Cells& after, std::size_t next, Cells& before, Norm& norm,
                           double& effort) const {
    const Event& event = events[next];
    const PhaseModel& model = rules.model;
    struct Work {
        const Slice* source;
        Slice slice;
        double factor;
        Sums sums;
    };
    std::vector<Work> works;
    for (const Slice& slice : after.slices)
        if (slice.total >= event.least && slice.total <= event.most &&
            slice.count >= event.least_count)
            works.push_back({&slice, slice, 1, {}});
    if (works.empty()) return false;
    const Index fewest = works.front().slice.total;
    double all = 0;
    for (Work& each : works) {
        each.factor = std::exp(-event.gap * (each.slice.total - fewest));
        each.sums = sums(&after.values[each.source->offset], each.source->box,
                         [](const Point&, std::size_t) { return 1.0; });
        each.sums.total *= each.factor;
        for (auto& side : each.sums.by_side)
            for (double& sum : side) sum *= each.factor;
        all += each.sums.total;
    }
    const double least = model.epsilon * all;
    Cells table;
    for (Work& each : works) {
        each.slice.box = grown(*each.source, each.sums, model.hops, event.gap, least);
        table.slices.push_back(each.slice);
    }
    table.allocate();
    const Moves moves(model.hops, event.gap, most_of(table.slices), model.epsilon * 0.01);
    std::vector<double> scratch;
    double total = 0;
    for (std::size_t k = 0; k < works.size(); ++k) {
        Slice& slice = table.slices[k];
        double* cells_here = &table.values[slice.offset];
        copy_cells(&after.values[works[k].source->offset], works[k].source->box, cells_here,
                   slice.box, works[k].factor);
        for (std::size_t m = 0; m < moves.steps(); ++m)
            moves.forward(m, cells_here, slice.box, scratch);
        works[k].sums = use_of(cells_here, slice, next);
        total += works[k].sums.total;
    }
    effort += static_cast<double>(table.values.size()) * moves.passes() +
              event_work * static_cast<double>(works.size());
    if (!(total > 0)) return false;
    before = {};
    for (std::size_t k = 0; k < works.size(); ++k) {
        const Sums& weighted = works[k].sums;
        if (!(weighted.total > model.epsilon * total)) continue;
        Slice slice = table.slices[k];
        slice.wide = slice.box;
        for (std::size_t side = 0; side < sides; ++side) {
            // Growth ends where less than this would have come.
            slice.cut_below[side] = slice.box.low[side] > 0 ? model.epsilon * total : 0;
            slice.cut_above[side] = slice.box.high[side] < slice.total ? model.epsilon * total : 0;
        }
        trim(slice, weighted, model.epsilon * total);
        for (std::size_t side = 0; side < sides; ++side) {
            slice.cut_below[side] /= total;
            slice.cut_above[side] /= total;
        }
        before.slices.push_back(slice);
    }
    const std::vector<Slice> kept_slices = before.slices;
    before.allocate();
    for (std::size_t k = 0; k < kept_slices.size(); ++k) {
        const Slice* source = table.find(kept_slices[k].total, kept_slices[k].count);
        copy_cells(&table.values[source->offset], source->box,
                   &before.values[before.slices[k].offset], before.slices[k].box, 1.0);
    }
    const double sum = before.sum();
    if (!(sum > 0)) return false;
    for (double& value : before.values) value /= sum;
    norm = {std::log(sum) + moves.log_scale(), fewest};
    return true;
}

bool PhaseChain::Job::forward(double limit) {
    if (!possible || position + 1 >= events.size()) return false;
    starts.push_back(position);
    checkpoints.push_back(current);
    double effort = 0;
    while (position + 1 < events.size() && effort < limit) {
        const Cells after = this->after(current, position);
        Norm norm;
        possible = step(after, position + 1, current, norm, effort);
        if (!possible) break;
        ++position;
        norms[position] = norm;
        log_evidence += norm.log - events[position].gap * norm.fewest;
        cells += static_cast<double>(current.values.size());
        slices += static_cast<double>(current.slices.size());
    }
    work += effort;
    behind = starts.size();
    return possible && position + 1 < events.size();
}

std::vector<Cells> PhaseChain::Job::tables(std::size_t stretch) const {
    const std::size_t first = starts[stretch];
    const std::size_t last = stretch + 1 < starts.size() ? starts[stretch + 1] : position;
    std::vector<Cells> all{checkpoints[stretch]};
    Norm norm;
    double effort = 0;
    for (std::size_t event = first; event < last; ++event) {
        Cells next;
        step(after(all.back(), event), event + 1, next, norm, effort);
        all.push_back(std::move(next));
    }
    return all;
}

/// Weights to come after an event, in proportion, from those before the next.
Cells PhaseChain::Job::weights_after(const Cells& after, const Cells& before_next, std::size_t next,
                                     double& drift) const {
    const double gap = events[next].gap;
    Cells result;
    result.slices = after.slices;
    result.allocate();
    std::vector<Slice> hulls;
    for (const Slice& slice : after.slices) {
        const Slice* other = before_next.find(slice.total, slice.count);
        hulls.push_back(slice);
        if (other != nullptr) hulls.back().box = hull(slice.box, other->wide);
    }
    const Moves moves(rules.model.hops, gap, most_of(hulls), rules.model.epsilon * 0.01);
    const Norm norm = norms[next];
    std::vector<double> scratch, buffer;
    for (std::size_t k = 0; k < hulls.size(); ++k) {
        const Slice* other = before_next.find(hulls[k].total, hulls[k].count);
        if (other == nullptr) continue;
        const Box& box = hulls[k].box;
        buffer.assign(box.cells(), 0.0);
        copy_cells(&before_next.values[other->offset], other->box, buffer.data(), box,
                   std::exp(-gap * (other->total - norm.fewest)));
        for (std::size_t m = moves.steps(); m-- > 0;)
            moves.backward(m, buffer.data(), box, scratch);
        // States with fewer than none in the last stage do not exist.
        each_row(box, [&](const Point& point, std::size_t index, std::size_t length) {
            const Index last = hulls[k].total - point[0] - point[1] - point[2];
            for (std::size_t q = at(std::max(0, last + 1)); q < length; ++q) buffer[index + q] = 0;
        });
        copy_cells(buffer.data(), box, &result.values[result.slices[k].offset],
                   result.slices[k].box, 1.0);
    }
    const double sum = product(after, result);
    if (sum > 0)
        for (double& value : result.values) value /= sum;
    // The sum is known from the filter; where it differs, the two looked at different states.
    drift = std::abs(sum * std::exp(moves.log_scale() - norm.log) - 1);
    return result;
}

/// What rows leave out of the posterior of a slice.
double PhaseChain::Job::posterior_least() const {
    return std::min(posterior_cut, 10 * rules.model.epsilon);
}

/// What the posterior may miss: what was cut off, times how much heavier the posterior is beside
/// the cut than the filter was.
double PhaseChain::Job::missing(const Cells& table, const Cells& to_come, std::size_t event) const {
    const PhaseModel& model = rules.model;
    const auto first = rules.first_side();
    const bool open = model.loss > 0 || nobodys;
    std::vector<Sums> weighted;
    double total = 0;
    for (const Slice& slice : table.slices) {
        weighted.push_back(use_of(&table.values[slice.offset], slice, event));
        total += weighted.back().total;
    }
    const auto ratio = [total](double posterior, double weight) {
        return weight > 0 ? posterior / (weight / total) : 0.0;
    };
    double all = 0;
    for (std::size_t k = 0; k < table.slices.size(); ++k) {
        const Slice& slice = table.slices[k];
        const double* y = &to_come.values[slice.offset];
        const Sums posterior =
            sums(&table.values[slice.offset], slice.box,
                 [&](const Point& point, std::size_t q) { return y[slice.box.index(point) + q]; });
        for (std::size_t side = first; side < sides; ++side) {
            const auto& heavy = posterior.by_side[side];
            const auto& light = weighted[k].by_side[side];
            all += slice.cut_below[side] * ratio(heavy.front(), light.front());
            all += slice.cut_above[side] * ratio(heavy.back(), light.back());
        }
        const bool below = slice.total > std::max(events[event].least, 0) &&
                           table.find(slice.total - 1, slice.count) == nullptr;
        const bool above =
            slice.total < events[event].most && table.find(slice.total + 1, slice.count) == nullptr;
        if (open && (below || above))
            all += model.epsilon * ratio(posterior.total, weighted[k].total);
    }
    return all;
}

void PhaseChain::Job::keep_event(std::size_t event, const Cells& before, const Cells& to_come,
                                 const Cells& after, const Cells& to_come_after) {
    Kept& here = kept[event];
    // The posterior's box in every slice of a table; its slices, and those cells of `values`.
    const int hops = rules.model.hops;
    const double gap = events[event].gap;
    const double least = posterior_least();
    const auto cut = [&](const Cells& table, const Cells& weights_here, const Cells& values) {
        Cells result;
        for (const Slice& slice : table.slices) {
            const Sums posterior = sums(
                &table.values[slice.offset], slice.box, [&](const Point& point, std::size_t q) {
                    return weights_here.values[slice.offset + slice.box.index(point) + q];
                });
            if (!(posterior.total > least)) continue;
            result.slices.push_back(slice);
            Slice& made = result.slices.back();
            trim(made, posterior, least);
            made.wide = on_the_way(made, slice, posterior, hops, gap, least);
        }
        result.allocate();
        for (const Slice& slice : result.slices) {
            const Slice* source = values.find(slice.total, slice.count);
            copy_cells(&values.values[source->offset], source->box, &result.values[slice.offset],
                       slice.box, 1.0);
        }
        return result;
    };
    Cells lanes = cut(before, to_come, before);
    for (Slice slice : lanes.slices) {
        if (--slice.total < 0) continue;
        for (Box* box : {&slice.box, &slice.wide})
            for (std::size_t side = 0; side < sides; ++side) {
                box->low[side] = std::max(0, box->low[side] - 1);
                box->high[side] = std::min(slice.total, box->high[side]);
            }
        if (!slice.box.empty()) here.lanes.push_back(slice);
    }
    if (events[event].kind == Kind::arrival)
        here.table = std::move(lanes);
    else if (events[event].kind == Kind::departure)
        here.table = cut(after, to_come_after, to_come_after);
    kept_bytes +=
        static_cast<double>(here.table.values.size() * sizeof(double) +
                            (here.table.slices.size() + here.lanes.size()) * sizeof(Slice));
}

bool PhaseChain::Job::backward(bool keep) {
    if (behind == 0 || !possible || position + 1 < events.size()) return false;
    const std::vector<Cells> all = tables(--behind);
    const std::size_t first = starts[behind];
    if (keep && kept.empty()) kept.resize(events.size());
    if (behind + 1 == starts.size()) {
        weights = all.back();
        std::fill(weights.values.begin(), weights.values.end(), 1.0);
        for (const Slice& slice : weights.slices)
            each_row(slice.box, [&](const Point& point, std::size_t index, std::size_t length) {
                const Index last = slice.total - point[0] - point[1] - point[2];
                for (std::size_t q = at(std::max(0, last + 1)); q < length; ++q)
                    weights.values[slice.offset + index + q] = 0;
            });
        cut_off += missing(all.back(), weights, position);
        if (keep) keep_event(position, all.back(), weights, all.back(), weights);
    }
    for (std::size_t event = first + all.size() - 1; event-- > first;) {
        const Cells& before = all[event - first];
        const Kind kind = events[event].kind;
        const Cells after = this->after(before, event);
        double drift = 0;
        const Cells to_come = weights_after(after, weights, event + 1, drift);
        cut_off += drift;
        weights = before;
        const double stay = events[event].stay;
        rules.weights_before(weights, to_come, kind, stay);
        if (kind == Kind::arrival && rules.model.loss > 0) {
            Cells branch = before;
            for (Slice& slice : branch.slices) slice.count += rules.counts(PhaseCount::lost);
            lost[events[event].which] = std::min(1.0, rules.model.loss * product(branch, to_come));
        } else if (kind == Kind::departure) {
            Cells branch = before;
            for (Slice& slice : branch.slices) slice.count += rules.counts(PhaseCount::cover);
            const double cover = stay > 0 ? stay * product(branch, to_come) : 0;
            real[events[event].which] = std::clamp(1.0 - cover, 0.0, 1.0);
        }
        cut_off += missing(before, weights, event);
        if (keep) keep_event(event, before, weights, after, to_come);
    }
    return behind > 0;
}

/// Others than the one followed, from after an event to before the next; their weights are
/// divided as the whole table was.
Cells PhaseChain::Job::follow(const Cells& others, std::size_t next) const {
    const Event& event = events[next];
    Cells result;
    for (const Slice& slice : kept[next].lanes)
        if (others.find(slice.total, slice.count) != nullptr) result.slices.push_back(slice);
    result.allocate();
    if (result.slices.empty()) return result;
    std::vector<Slice> hulls;
    for (const Slice& slice : result.slices) {
        hulls.push_back(slice);
        hulls.back().box = hull(slice.wide, others.find(slice.total, slice.count)->box);
    }
    const Moves moves(rules.model.hops, event.gap, most_of(hulls), posterior_least() * 0.01);
    std::vector<double> scratch, buffer;
    for (std::size_t k = 0; k < hulls.size(); ++k) {
        const Slice* source = others.find(hulls[k].total, hulls[k].count);
        const Box& box = hulls[k].box;
        buffer.assign(box.cells(), 0.0);
        copy_cells(&others.values[source->offset], source->box, buffer.data(), box,
                   std::exp(moves.log_scale() - norms[next].log -
                            event.gap * (source->total + 1 - norms[next].fewest)));
        for (std::size_t m = 0; m < moves.steps(); ++m)
            moves.forward(m, buffer.data(), box, scratch);
        copy_cells(buffer.data(), box, &result.values[result.slices[k].offset],
                   result.slices[k].box, 1.0);
    }
    return result;
}

std::vector<double> PhaseChain::Job::row_work() const {
    if (arrivals.empty()) return {};
    if (kept.empty()) throw std::logic_error("nothing was kept on the way back");
    // Cells of others up to each event, times the passes of a common gap.
    std::vector<double> before(events.size() + 1, 0.0);
    const double passes = cells > 0 ? std::max(1.0, (work - event_work * slices) / cells) : 1.0;
    for (std::size_t k = 0; k < events.size(); ++k) {
        double here = 0;
        for (const Slice& slice : kept[k].lanes)
            here += passes * static_cast<double>(slice.box.cells()) + lane_work;
        before[k + 1] = before[k] + here;
    }
    std::vector<double> result;
    const double far = 28.0 + 4.0 * rules.model.hops;
    std::size_t last = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        const double until = arrivals[i] + far;
        last = std::max(last, arrival_event[i]);
        while (last < events.size() && events[last].time <= until) ++last;
        result.push_back(before[last] - before[arrival_event[i]]);
    }
    return result;
}

PhaseRows PhaseChain::Job::rows(std::size_t first, std::size_t last, double tolerance,
                                std::span<const double> inside_logs,
                                std::span<const double> unseen_logs, std::span<double> pairs,
                                CancelFlag cancel) const {
    if (last > arrivals.size() || first > last || inside_logs.size() != arrivals.size() ||
        unseen_logs.size() != arrivals.size() ||
        (!pairs.empty() && pairs.size() != (last - first) * departures.size()))
        throw std::invalid_argument("not messages of this log, or not one weight for each");
    if (first < last && kept.empty()) throw std::logic_error("nothing was kept on the way back");
    const int hops = rules.model.hops;
    const auto kind_power = [&](double d) { return powers(d, hops - 1, hops - 1); };
    PhaseRows result;
    double pair_logs = 0, inside_sum = 0, unseen_sum = 0;
    std::vector<double> row;
    std::vector<std::pair<Index, double>> entries;
    for (std::size_t i = first; i < last && !cancel.raised(); ++i) {
        const std::size_t start = arrival_event[i];
        Cells others = kept[start].table;
        for (double& value : others.values) value *= 1 - rules.model.loss;
        double left = 1 - lost[i], inside = 0, departed = 0;
        row.clear();
        std::size_t first_departure = departures.size();
        for (std::size_t event = start + 1; event < events.size(); ++event) {
            others = follow(others, event);
            if (others.values.empty()) break;
            const double d = events[event].time - arrivals[i];
            const Kind kind = events[event].kind;
            if (kind == Kind::departure) {
                const double p = kind_power(d) * product(others, kept[event].table);
                if (row.empty()) first_departure = events[event].which;
                row.push_back(p);
                departed += p;
                left -= p;
            } else if (kind == Kind::end) {
                inside = powers(d, 0, hops - 1) * others.sum();
                left -= inside;
            }
            if (left < tolerance) break;
            others = after(others, event);
        }
        // Rows add up to one but for rounding and what was cut off.
        const double sum = departed + inside;
        const double factor = sum > 0 ? (1 - lost[i]) / sum : 0;
        if (lost[i] < 1) result.error = std::max(result.error, std::abs(1 - lost[i] - sum));
        for (double& p : row) p *= factor;
        inside *= factor;
        const Entropies figures = entropies(row, inside, lost[i]);
        std::int64_t guess = -1, allowed = 0;
        for (std::size_t k = row.size(); k-- > 0;) {
            if (row[k] > 0 && row[k] >= figures.largest * (1 - tie))
                guess = static_cast<std::int64_t>(first_departure + k);
            if (row[k] > allowed_from) ++allowed;
            if (row[k] > 0) {
                const double d = departures[first_departure + k] - arrivals[i];
                pair_logs += row[k] * ((hops > 1 ? (hops - 1) * std::log(d) : 0.0) - d -
                                       std::lgamma(static_cast<double>(hops)));
            }
        }
        if (!pairs.empty())
            std::copy(row.begin(), row.end(),
                      pairs.begin() + static_cast<std::ptrdiff_t>((i - first) * departures.size() +
                                                                  first_departure));
        if (!groups.empty()) {
            entries.clear();
            for (std::size_t k = 0; k < row.size(); ++k)
                entries.emplace_back(groups[first_departure + k], row[k]);
            const GroupFigures received = over_groups(entries, figures.departed);
            result.group_shannon.push_back(received.shannon);
            result.group_largest.push_back(received.largest);
            result.group_guess.push_back(received.guess);
        }
        result.guessing.push_back(guesses(row, figures.departed));
        inside_sum += inside * inside_logs[i];
        unseen_sum += (inside + lost[i]) * unseen_logs[i];
        result.departed.push_back(figures.departed);
        result.inside.push_back(inside);
        result.collision.push_back(figures.collision);
        result.shannon.push_back(figures.shannon);
        result.shannon_error.push_back(0);
        result.shannon_all.push_back(figures.shannon_all);
        result.shannon_all_error.push_back(0);
        result.largest.push_back(figures.largest);
        result.largest_error.push_back(0);
        result.guess.push_back(guess);
        result.allowed.push_back(allowed);
    }
    result.pair_logs = {pair_logs};
    result.inside_logs = {inside_sum};
    result.unseen_logs = {unseen_sum};
    return result;
}

PhaseChain::PhaseChain(const PhaseModel& model, std::span<const double> arrivals,
                       std::span<const double> departures, double end,
                       std::span<const double> early)
    : job_(std::make_unique<Job>(model, arrivals, departures, end, early)) {}
PhaseChain::~PhaseChain() = default;
PhaseChain::PhaseChain(PhaseChain&&) noexcept = default;
PhaseChain& PhaseChain::operator=(PhaseChain&&) noexcept = default;

void PhaseChain::group(std::span<const std::int32_t> groups) {
    if (groups.size() != job_->departures.size())
        throw std::invalid_argument("not one group for each departure");
    job_->groups.assign(groups.begin(), groups.end());
}
bool PhaseChain::forward(double work) {
    return job_->forward(work);
}
bool PhaseChain::possible() const noexcept {
    return job_->possible;
}
double PhaseChain::log_evidence() const noexcept {
    return job_->log_evidence;
}
double PhaseChain::share_done() const noexcept {
    return static_cast<double>(job_->position + 1) / static_cast<double>(job_->events.size());
}
double PhaseChain::work() const noexcept {
    return job_->work;
}
double PhaseChain::cells() const noexcept {
    return job_->cells;
}
std::size_t PhaseChain::stretches() const noexcept {
    return job_->starts.size();
}
bool PhaseChain::backward(bool keep) {
    return job_->backward(keep);
}
std::vector<double> PhaseChain::lost() const {
    return job_->lost;
}
std::vector<double> PhaseChain::real() const {
    return job_->real;
}
double PhaseChain::cut_off() const noexcept {
    return job_->cut_off;
}
std::vector<double> PhaseChain::row_work() const {
    return job_->row_work();
}
double PhaseChain::kept_bytes() const noexcept {
    return job_->kept_bytes;
}
PhaseRows PhaseChain::rows(std::size_t first, std::size_t last, double tolerance,
                           std::span<const double> inside_logs, std::span<const double> unseen_logs,
                           std::span<double> pairs, CancelFlag cancel) const {
    return job_->rows(first, last, tolerance, inside_logs, unseen_logs, pairs, cancel);
}

}  // namespace anonymatch
