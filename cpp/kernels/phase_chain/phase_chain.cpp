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
constexpr double most_pauses = 1000;
constexpr double long_gap = 4, long_pauses = 40;

/// `add_row`(the row's first point, its index, where to add its cells, length) adds up a row.
template <class Row>
Sums sums(const Box& box, Row&& add_row) {
    Sums result;
    for (std::size_t side = 0; side < sides; ++side)
        result.by_side[side].assign(box.length(side), 0.0);
    double* cells = result.by_side[2].data();
    each_row(box, [&](const Point& point, std::size_t index, std::size_t length) {
        const double sum = add_row(point, index, cells, length);
        result.by_side[0][at(point[0] - box.low[0])] += sum;
        result.by_side[1][at(point[1] - box.low[1])] += sum;
        result.total += sum;
    });
    return result;
}

Sums plain_sums(const double* cells, const Box& box) {
    return sums(box, [&](const Point&, std::size_t index, double* out, std::size_t length) {
        return add(out, cells + index, length);
    });
}

Sums product_sums(const double* cells, const double* others, const Box& box) {
    return sums(box, [&](const Point&, std::size_t index, double* out, std::size_t length) {
        return add_products(out, cells + index, others + index, length);
    });
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
Box grown(const Slice& slice, const Sums& sums, const Transitions& moves, std::size_t stages,
          double least) {
    Box box = slice.box;
    const std::size_t first = sides - (stages - 1);
    for (std::size_t side = first; side < sides; ++side) {
        const std::vector<double>& sum = sums.by_side[side];
        const std::size_t stage = side - first;
        double out = 0, in = 0;
        for (std::size_t after = stage + 1; after < stages; ++after) out += moves[stage][after];
        out *= slice.box.high[side] / moves[stage][stage];
        box.low[side] -= reach(sum.data(), 1, sum.size(), out, least, slice.box.low[side]);
        for (std::size_t before = 0; before < stage; ++before)
            in += slice.box.high[first + before] * moves[before][stage] / moves[before][before];
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
Box on_the_way(const Slice& slice, const Slice& filtered, const Sums& posterior,
               const Transitions& moves, std::size_t stages, double least) {
    if (least <= 0 || filtered.wide.cells() <= small_box) return filtered.wide;
    Sums inner;
    for (std::size_t side = 0; side < sides; ++side) {
        const auto first = posterior.by_side[side].begin();
        inner.by_side[side].assign(first + (slice.box.low[side] - filtered.box.low[side]),
                                   first + (slice.box.high[side] - filtered.box.low[side]) + 1);
    }
    return overlap(grown(slice, inner, moves, stages, least), filtered.wide);
}

Point most_of(const std::vector<Slice>& slices) {
    Point most{};
    for (const Slice& slice : slices)
        for (std::size_t side = 0; side < sides; ++side)
            most[side] = std::max(most[side], slice.box.high[side]);
    return most;
}

Point least_of(const std::vector<Slice>& slices) {
    Point least = slices.empty() ? Point{} : slices.front().box.low;
    for (const Slice& slice : slices)
        for (std::size_t side = 0; side < sides; ++side)
            least[side] = std::min(least[side], slice.box.low[side]);
    return least;
}

double log2_of(double p) {
    return p > 0 ? std::log2(p) : 0.0;
}

}  // namespace

Entropies phase_chain::entropies(std::span<const double> probability, double inside, double lost) {
    Entropies result;
    const auto [departed, logs, squares, largest] =
        row_sums(probability.data(), probability.size());
    result.departed = departed;
    result.largest = largest;
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
    : rules{model, Stages(model)},
      arrivals(came.begin(), came.end()),
      departures(left.begin(), left.end()) {
    if (!(model.loss >= 0 && model.loss < 1) || !(model.cover >= 0 && std::isfinite(model.cover)) ||
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
    cut_at.assign(events.size(), 0.0);
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
    add_pauses();
    for (std::size_t k = 0; k < events.size(); ++k)
        if (events[k].kind == Kind::arrival) arrival_event.push_back(k);
}

/// Cuts long gaps. Of stages with different rates all parts must be short; beyond `most_pauses` of
/// them nothing changes any more but what all have in common. Where nothing is cut off, of equal
/// ones too: after a while only few numbers inside are left, and the others no longer set the scale.
void PhaseChain::Job::add_pauses() {
    const bool unlike = std::isfinite(rules.stages.longest_gap());
    if (!unlike && rules.model.epsilon > 0) return;
    const double longest = unlike ? rules.stages.longest_gap() : long_gap;
    const double most = unlike ? most_pauses : long_pauses;
    std::vector<Event> all;
    for (const Event& event : events) {
        const double parts = std::min(std::ceil(event.gap / longest), most);
        for (double part = 1; part < parts; ++part)
            all.push_back(
                {Kind::pause, event.time - event.gap + part * longest, longest, 0, 0, 0, 0, 0});
        all.push_back(event);
        if (parts > 1) all.back().gap -= (parts - 1) * longest;
    }
    events = std::move(all);
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
/// must be somebody. `row`(first point, index) is where a row is.
template <class Row>
Sums PhaseChain::Job::use_of(const Slice& slice, const Leaving& leaving, std::size_t event,
                             Row&& row) const {
    if (events[event].kind != Kind::departure)
        return sums(slice.box, [&](const Point& point, std::size_t index, double* out,
                                   std::size_t n) { return add(out, row(point, index), n); });
    return sums(slice.box, [&](const Point& point, std::size_t index, double* out, std::size_t n) {
        const Index last = slice.total - point[0] - point[1] - point[2];
        return add_products(out, row(point, index), leaving.from(last), n);
    });
}

/// From the table after an event to that before the next; false if nothing is left.
bool PhaseChain::Job::step(const Cells& after, std::size_t next, Cells& before, Norm& norm,
                           double& effort, std::vector<Room>& rooms) const {
    const Event& event = events[next];
    const PhaseModel& model = rules.model;
    struct Work {
        const Slice* source;
        Slice slice;
        double factor;
        Sums sums;
    };
    std::vector<Work> works;
    for (const Slice& slice : after.slices) {
        if (slice.total < event.least || slice.total > event.most ||
            slice.count < event.least_count)
            continue;
        // Where nobody could leave, nothing is left.
        Sums held = plain_sums(&after.values[slice.offset], slice.box);
        if (held.total > 0) works.push_back({&slice, slice, 1, std::move(held)});
    }
    if (works.empty()) return false;
    const Index fewest = works.front().slice.total;
    double all = 0;
    for (Work& each : works) {
        each.factor = std::exp(-event.gap * (each.slice.total - fewest));
        each.sums.total *= each.factor;
        for (auto& side : each.sums.by_side) multiply(side.data(), each.factor, side.size());
        all += each.sums.total;
    }
    const double least = model.epsilon * all;
    std::vector<Slice> boxes;
    const Transitions gap_moves = transitions(event.gap);
    for (Work& each : works) {
        each.slice.box = grown(*each.source, each.sums, gap_moves, rules.stages.number(), least);
        boxes.push_back(each.slice);
    }
    const Moves moves(rules.stages, event.gap, least_of(boxes), most_of(boxes),
                      model.epsilon * 0.1);
    const Leaving leaving(boxes, event.stay);
    if (rooms.size() < works.size()) rooms.resize(works.size());
    double total = 0;
    for (std::size_t k = 0; k < works.size(); ++k) {
        const Slice& slice = boxes[k];
        rooms[k].load(&after.values[works[k].source->offset], works[k].source->box, slice.box,
                      moves, works[k].factor);
        rooms[k].forward(moves);
        works[k].sums = use_of(slice, leaving, next, [&](const Point& point, std::size_t) {
            return rooms[k].row(point);
        });
        total += works[k].sums.total;
        effort += static_cast<double>(slice.box.cells()) * moves.passes() + event_work;
    }
    if (!(total > 0)) return false;
    before.slices.clear();
    std::vector<std::size_t> sources;
    for (std::size_t k = 0; k < works.size(); ++k) {
        const Sums& weighted = works[k].sums;
        if (!(weighted.total > model.epsilon * total)) continue;
        Slice slice = boxes[k];
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
        sources.push_back(k);
    }
    before.place();
    for (std::size_t k = 0; k < sources.size(); ++k)
        rooms[sources[k]].store(&before.values[before.slices[k].offset], before.slices[k].box,
                                1 / total);
    norm = {std::log(total) + moves.log_scale(), fewest};
    return true;
}

bool PhaseChain::Job::forward(double limit) {
    if (!possible || position + 1 >= events.size()) return false;
    starts.push_back(position);
    checkpoints.push_back(current);
    double effort = 0;
    std::vector<Room> rooms;
    while (position + 1 < events.size() && effort < limit) {
        const Cells after = this->after(current, position);
        Norm norm;
        possible = step(after, position + 1, current, norm, effort, rooms);
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
    std::vector<Room> rooms;
    for (std::size_t event = first; event < last; ++event) {
        Cells next;
        step(after(all.back(), event), event + 1, next, norm, effort, rooms);
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
    result.place();
    std::vector<Slice> hulls;
    for (const Slice& slice : after.slices) {
        const Slice* other = before_next.find(slice.total, slice.count);
        hulls.push_back(slice);
        if (other != nullptr) hulls.back().box = hull(slice.box, other->wide);
    }
    const Moves moves(rules.stages, gap, least_of(hulls), most_of(hulls),
                      rules.model.epsilon * 0.1);
    const Norm norm = norms[next];
    Room room;
    for (std::size_t k = 0; k < hulls.size(); ++k) {
        const Slice* other = before_next.find(hulls[k].total, hulls[k].count);
        const Slice& slice = result.slices[k];
        if (other == nullptr) {
            std::fill_n(&result.values[slice.offset], slice.box.cells(), 0.0);
            continue;
        }
        room.load(&before_next.values[other->offset], other->box, hulls[k].box, moves,
                  std::exp(-gap * (other->total - norm.fewest)));
        room.backward(moves);
        room.clear_beyond(hulls[k].total);
        room.store(&result.values[slice.offset], slice.box);
    }
    const double sum = product(after, result);
    if (sum > 0) multiply(result.values.data(), 1 / sum, result.values.size());
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
    const Leaving leaving(table.slices, events[event].stay);
    for (const Slice& slice : table.slices) {
        weighted.push_back(use_of(slice, leaving, event, [&](const Point&, std::size_t index) {
            return &table.values[slice.offset + index];
        }));
        total += weighted.back().total;
    }
    const auto ratio = [total](double posterior, double weight) {
        return weight > 0 ? posterior / (weight / total) : 0.0;
    };
    double all = 0;
    for (std::size_t k = 0; k < table.slices.size(); ++k) {
        const Slice& slice = table.slices[k];
        const Sums posterior =
            product_sums(&table.values[slice.offset], &to_come.values[slice.offset], slice.box);
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
    const std::size_t stages = rules.stages.number();
    const Transitions moves = transitions(events[event].gap);
    const double least = posterior_least();
    const auto cut = [&](const Cells& table, const Cells& weights_here, const Cells& values) {
        Cells result;
        for (const Slice& slice : table.slices) {
            const Sums posterior = product_sums(&table.values[slice.offset],
                                                &weights_here.values[slice.offset], slice.box);
            if (!(posterior.total > least)) continue;
            result.slices.push_back(slice);
            Slice& made = result.slices.back();
            trim(made, posterior, least);
            made.wide = on_the_way(made, slice, posterior, moves, stages, least);
        }
        result.allocate();
        for (const Slice& slice : result.slices) {
            const Slice* source = values.find(slice.total, slice.count);
            copy_cells(&values.values[source->offset], source->box, &result.values[slice.offset],
                       slice.box, 1.0);
        }
        return result;
    };
    Cells arriving = cut(before, to_come, before);
    for (Slice slice : arriving.slices) {
        if (--slice.total < 0) continue;
        for (Box* box : {&slice.box, &slice.wide})
            for (std::size_t side = 0; side < sides; ++side) {
                box->low[side] = std::max(0, box->low[side] - 1);
                box->high[side] = std::min(slice.total, box->high[side]);
            }
        if (!slice.box.empty()) here.lanes.push_back(slice);
    }
    if (events[event].kind == Kind::arrival)
        here.table = std::move(arriving);
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
    if (behind + 1 == starts.size()) look_from_end(all.back(), keep);
    for (std::size_t event = first + all.size() - 1; event-- > first;) {
        const Cells& before = all[event - first];
        look_back(event, before, this->after(before, event), keep);
    }
    return behind > 0;
}

/// Weights to come at the end: all states that exist are alike.
void PhaseChain::Job::look_from_end(const Cells& last, bool keep) {
    weights = last;
    std::fill(weights.values.begin(), weights.values.end(), 1.0);
    for (const Slice& slice : weights.slices)
        each_row(slice.box, [&](const Point& point, std::size_t index, std::size_t length) {
            const Index in_last = slice.total - point[0] - point[1] - point[2];
            for (std::size_t q = at(std::max(0, in_last + 1)); q < length; ++q)
                weights.values[slice.offset + index + q] = 0;
        });
    multiply(weights.values.data(), 1 / product(last, weights), weights.values.size());
    cut(position, missing(last, weights, position));
    if (keep) keep_event(position, last, weights, last, weights);
}

/// One event back: weights to come before it, and what became of its message.
void PhaseChain::Job::look_back(std::size_t event, const Cells& before, const Cells& after,
                                bool keep) {
    const Kind kind = events[event].kind;
    double drift = 0;
    const Cells to_come = weights_after(after, weights, event + 1, drift);
    weights.slices = before.slices;
    weights.allocate();
    const double stay = events[event].stay;
    rules.weights_before(weights, to_come, kind, stay);
    if (kind == Kind::arrival && rules.model.loss > 0) {
        const Index counted = rules.counts(PhaseCount::lost);
        lost[events[event].which] =
            std::min(1.0, rules.model.loss * product(before, to_come, counted));
    } else if (kind == Kind::departure) {
        const Index counted = rules.counts(PhaseCount::cover);
        const double cover = stay > 0 ? stay * product(before, to_come, counted) : 0;
        real[events[event].which] = std::clamp(1.0 - cover, 0.0, 1.0);
    }
    cut(event, drift + missing(before, weights, event));
    if (keep) keep_event(event, before, weights, after, to_come);
}

void PhaseChain::Job::cut(std::size_t event, double share) {
    cut_off += share;
    cut_at[event] = share;
}

/// The most that may be missing around any message, who forgets what was long before or after it.
double PhaseChain::Job::cut_off_near() const {
    double most = 0, sum = 0;
    const double reach = 2 * longest_stay();
    std::size_t first = 0;
    for (std::size_t event = 0; event < events.size(); ++event) {
        sum += cut_at[event];
        while (events[event].time - events[first].time > reach) sum -= cut_at[first++];
        most = std::max(most, sum);
    }
    return std::max(most, 0.0);
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
    const Moves moves(rules.stages, event.gap, least_of(hulls), most_of(hulls),
                      posterior_least() * 0.01);
    Room room;
    for (std::size_t k = 0; k < hulls.size(); ++k) {
        const Slice* source = others.find(hulls[k].total, hulls[k].count);
        room.load(&others.values[source->offset], source->box, hulls[k].box, moves,
                  std::exp(moves.log_scale() - norms[next].log -
                           event.gap * (source->total + 1 - norms[next].fewest)));
        room.forward(moves);
        room.store(&result.values[result.slices[k].offset], result.slices[k].box);
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
    const double far = longest_stay();
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
                const double p = rules.stages.density(d) * product(others, kept[event].table);
                if (row.empty()) first_departure = events[event].which;
                row.push_back(p);
                departed += p;
                left -= p;
            } else if (kind == Kind::end) {
                inside = rules.stages.survival(d) * others.sum();
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
                pair_logs += row[k] * rules.stages.log_density(d);
            }
        }
        if (!pairs.empty())
            std::copy(row.begin(), row.end(),
                      pairs.begin() + static_cast<std::ptrdiff_t>((i - first) * departures.size() +
                                                                  first_departure));
        if (!asked.empty()) {
            const std::int64_t at = asked[i] - static_cast<std::int64_t>(first_departure);
            const bool there = asked[i] >= 0 && at >= 0 && at < std::ssize(row);
            result.asked.push_back(there ? row[static_cast<std::size_t>(at)] : 0.0);
        }
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
void PhaseChain::ask(std::span<const std::int32_t> departures) {
    if (departures.size() != job_->arrivals.size())
        throw std::invalid_argument("not one departure that is asked for by message");
    job_->asked.assign(departures.begin(), departures.end());
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
double PhaseChain::cut_off_near() const {
    return job_->cut_off_near();
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
