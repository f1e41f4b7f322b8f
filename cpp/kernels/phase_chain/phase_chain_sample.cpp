#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/random.hpp"
#include "phase_chain/phase_chain.hpp"
#include "phase_chain/phase_chain_job.hpp"

namespace anonymatch {

using namespace phase_chain;

namespace {

constexpr double negligible = 1e-13;    // probability below which a departure is forgotten
constexpr std::size_t look_every = 32;  // departures between looks for those
constexpr double allowed_from = 1e-12;
constexpr double tie = 1e-12;

/// One drawn path: where it is, its random numbers.
struct Path {
    Random random;
    Index total = 0, count = 0;
    Point point{};
    bool undone = false;  // its moves of this gap
};

/// For a message in each stage of each path, the probability to be each departure to come. Newer
/// entries are earlier departures.
class Destinations {
public:
    Destinations(std::size_t paths, std::size_t stages) : paths_(paths), stages_(stages) {
        cells_.assign(paths * stages * capacity_, 0.0);
    }

    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    /// Of the first entry.
    [[nodiscard]] std::size_t latest() const { return latest_; }
    [[nodiscard]] double* of(std::size_t path, std::size_t stage) {
        return &cells_[(path * stages_ + stage) * capacity_ + begin_];
    }
    void add(std::size_t departure) {
        if (end_ == capacity_) make_room();
        if (begin_ == end_) latest_ = departure;
        ++end_;
        for (std::size_t row = 0; row < paths_ * stages_; ++row)
            cells_[row * capacity_ + end_ - 1] = 0;
    }
    void forget() {
        while (begin_ < end_) {
            for (std::size_t row = 0; row < paths_ * stages_; ++row)
                if (cells_[row * capacity_ + begin_] > negligible) return;
            ++begin_;
            --latest_;
        }
    }

private:
    void make_room() {
        const std::size_t wider = size() > capacity_ / 2 ? 2 * capacity_ : capacity_;
        std::vector<double> moved(paths_ * stages_ * wider, 0.0);
        for (std::size_t row = 0; row < paths_ * stages_; ++row)
            std::copy_n(&cells_[row * capacity_ + begin_], size(), &moved[row * wider]);
        cells_ = std::move(moved);
        capacity_ = wider;
        end_ -= begin_;
        begin_ = 0;
    }

    std::size_t paths_, stages_;
    std::size_t capacity_ = 64, begin_ = 0, end_ = 0, latest_ = 0;
    std::vector<double> cells_;
};

struct Jackknife {
    double value, error;
};

/// Without the bias of order one over the samples, and the standard error.
Jackknife jackknife(double all, std::span<const double> without) {
    const auto size = static_cast<double>(without.size());
    double mean = 0, squares = 0;
    for (const double each : without) mean += each / size;
    for (const double each : without) squares += (each - mean) * (each - mean);
    return {size * all - (size - 1) * mean, std::sqrt(squares * (size - 1) / size)};
}

}  // namespace

class PhaseSampler::Job {
public:
    Job(PhaseChain::Job& chain, std::size_t batches, std::size_t each, std::uint64_t seed,
        std::span<const double> inside_logs, std::span<const double> unseen_logs)
        : chain_(chain),
          batches_(batches),
          each_(each),
          stages_(static_cast<std::size_t>(chain.rules.model.hops)),
          to_come_(batches * each, stages_),
          stays_(batches * each * stages_, 1.0),
          inside_logs_(inside_logs.begin(), inside_logs.end()),
          unseen_logs_(unseen_logs.begin(), unseen_logs.end()),
          stretch_(chain.starts.size()) {
        if (batches < 2 || each < 1) throw std::invalid_argument("too few samples");
        if (!chain.possible || chain.position + 1 < chain.events.size())
            throw std::invalid_argument("the chain has not been filtered to its end");
        chain.cut_off = 0;
        for (std::size_t k = 0; k < batches * each; ++k) paths_.push_back({Random(seed, k)});
        const std::size_t n = chain.arrivals.size();
        for (auto* figure :
             {&rows_.departed, &rows_.inside, &rows_.collision, &rows_.shannon,
              &rows_.shannon_error, &rows_.shannon_all, &rows_.shannon_all_error, &rows_.largest,
              &rows_.largest_error, &rows_.guessing, &rows_.guessing_apart})
            figure->assign(n, 0.0);
        for (auto* figure :
             {&rows_.shannon_batches, &rows_.largest_batches, &rows_.guessing_batches})
            figure->assign(n * batches, 0.0F);
        rows_.guess.assign(n, -1);
        rows_.allowed.assign(n, 0);
        if (!chain.groups.empty()) {
            rows_.group_shannon.assign(n, 0.0);
            rows_.group_largest.assign(n, 0.0);
            rows_.group_guess.assign(n, -1);
        }
        rows_.asked.assign(chain.asked.size(), 0.0);
        for (auto* sum : {&rows_.pair_logs, &rows_.inside_logs, &rows_.unseen_logs})
            sum->assign(batches, 0.0);
    }

    bool back() {
        if (stretch_ == 0) return false;
        const bool last = stretch_ == chain_.starts.size();
        const std::vector<Cells> tables = chain_.tables(--stretch_);
        const std::size_t first = chain_.starts[stretch_];
        if (last) {
            draw_ends(tables.back());
            chain_.look_from_end(tables.back(), false);
        }
        for (std::size_t event = first + tables.size() - 1; event-- > first;) {
            const Cells& before = tables[event - first];
            const Cells after = chain_.after(before, event);
            chain_.look_back(event, before, after, false);
            undo_gap(after, tables[event - first + 1], chain_.events[event + 1].gap);
            undo_event(before, event);
        }
        return stretch_ > 0;
    }

    [[nodiscard]] const PhaseRows& rows() const noexcept { return rows_; }

private:
    [[nodiscard]] std::size_t batch_of(std::size_t path) const { return path / each_; }
    double* stays(std::size_t path) { return &stays_[path * stages_]; }

    void draw_ends(const Cells& table) {
        for (Path& path : paths_) {
            double left = path.random.unit() * table.sum();
            for (const Slice& slice : table.slices)
                each_row(slice.box, [&](const Point& point, std::size_t index, std::size_t size) {
                    for (std::size_t k = 0; k < size && left >= 0; ++k) {
                        const double value = table.values[slice.offset + index + k];
                        if (value <= 0) continue;
                        path.total = slice.total;
                        path.count = slice.count;
                        path.point = point;
                        path.point[2] += static_cast<Index>(k);
                        left -= value;
                    }
                });
        }
    }

    /// One direction after another, for slices that some path is in.
    void undo_gap(const Cells& after, const Cells& next, double gap) {
        if (gap <= 0 || stages_ == 1) return;
        wide_.clear();
        for (const Slice& slice : next.slices) {
            const Slice* source = after.find(slice.total, slice.count);
            const bool used = std::any_of(paths_.begin(), paths_.end(), [&](const Path& path) {
                return path.total == slice.total && path.count == slice.count;
            });
            if (!used || source == nullptr) continue;
            wide_.push_back(slice);
            wide_.back().box = hull(slice.wide, source->box);
        }
        Point least = wide_.empty() ? Point{} : wide_.front().box.low, most{};
        for (const Slice& slice : wide_)
            for (std::size_t side = 0; side < sides; ++side) {
                least[side] = std::min(least[side], slice.box.low[side]);
                most[side] = std::max(most[side], slice.box.high[side]);
            }
        const Moves moves(chain_.rules.stages, gap, least, most, chain_.rules.model.epsilon * 0.1);
        for (std::size_t which = 0; which < wide_.size(); ++which) {
            const Slice& slice = wide_[which];
            const Slice* source = after.find(slice.total, slice.count);
            rooms_.resize(moves.steps() + 1);
            rooms_[0].load(&after.values[source->offset], source->box, slice.box, moves, 1.0);
            rooms_[0].stay(moves);
            for (std::size_t step = 0; step < moves.steps(); ++step) {
                rooms_[step + 1] = rooms_[step];
                rooms_[step + 1].forward(moves, step);
            }
            for (std::size_t k = 0; k < paths_.size(); ++k) {
                if (paths_[k].undone || paths_[k].total != slice.total ||
                    paths_[k].count != slice.count)
                    continue;
                paths_[k].undone = true;
                for (std::size_t step = moves.steps(); step-- > 0;)
                    undo_moves(k, slice.total, moves, step);
            }
        }
        for (Path& path : paths_) {
            if (!path.undone) throw std::logic_error("a path left its table");
            path.undone = false;
        }
    }

    void undo_moves(std::size_t which, Index total, const Moves& moves, std::size_t step) {
        Path& path = paths_[which];
        const Room& from = rooms_[step];
        const Box& box = from.box();
        const std::size_t side = moves.side(step);
        const Index most =
            std::min(moves.terms(step) - 1,
                     std::min(box.high[side] - path.point[side],
                              side + 1 < sides ? path.point[side + 1] - box.low[side + 1] : total));
        // What went into a state is what is there after the step.
        double left = path.random.unit() * rooms_[step + 1].value(path.point);
        Index moved = 0;
        Point point = path.point;
        for (Index m = 0; m <= most; ++m) {
            const double weight = moves.weight(step, point[side], m) * from.value(point);
            if (weight > 0) {
                moved = m;
                left -= weight;
                if (left < 0) break;
            }
            ++point[side];
            if (side + 1 < sides) --point[side + 1];
        }
        if (moved == 0) return;
        path.point[side] += moved;
        if (side + 1 < sides) path.point[side + 1] -= moved;
        const std::size_t stage = side - (sides - (stages_ - 1));
        const double share = static_cast<double>(moved) / path.point[side];
        approach(to_come_.of(which, stage), to_come_.of(which, stage + 1), share, to_come_.size());
        double* stay = stays(which);
        stay[stage] += share * (stay[stage + 1] - stay[stage]);
    }

    void undo_event(const Cells& before, std::size_t event) {
        const Event& here = chain_.events[event];
        if (here.kind == Kind::arrival)
            undo_arrival(before, here.which);
        else if (here.kind == Kind::departure)
            undo_departure(before, here);
    }

    void undo_departure(const Cells& before, const Event& departure) {
        if (departure.which % look_every == 0) to_come_.forget();
        to_come_.add(departure.which);
        const Rules& rules = chain_.rules;
        const std::size_t last = stages_ - 1;
        for (std::size_t k = 0; k < paths_.size(); ++k) {
            Path& path = paths_[k];
            const Point& point = path.point;
            const Index candidates = path.total + 1 - point[0] - point[1] - point[2];
            const double real = candidates * before.value(path.total + 1, path.count, point);
            const Index counted = rules.counts(PhaseCount::cover);
            const double cover =
                departure.stay > 0
                    ? departure.stay * before.value(path.total, path.count - counted, point)
                    : 0.0;
            if (path.random.unit() * (real + cover) >= real && cover > 0) {
                path.count -= counted;
                continue;
            }
            ++path.total;
            double* row = to_come_.of(k, last);
            const double leaves = 1.0 / candidates;
            multiply(row, 1 - leaves, to_come_.size() - 1);
            row[to_come_.size() - 1] = leaves;
            stays(k)[last] *= 1 - leaves;
        }
    }

    void undo_arrival(const Cells& before, std::size_t message) {
        const Rules& rules = chain_.rules;
        const std::size_t size = to_come_.size();
        // One more entry for messages still inside at the end.
        sums_.assign(batches_ * (size + 1), 0.0);
        weights_.assign(batches_, 0.0);
        for (std::size_t k = 0; k < paths_.size(); ++k) {
            Path& path = paths_[k];
            Point from = path.point;
            if (stages_ > 1) --from[rules.first_side()];
            const double came =
                (1 - rules.model.loss) * before.value(path.total - 1, path.count, from);
            const Index counted = rules.counts(PhaseCount::lost);
            const double lost =
                rules.model.loss > 0
                    ? rules.model.loss * before.value(path.total, path.count - counted, path.point)
                    : 0.0;
            const double share = came > 0 ? came / (came + lost) : 0.0;
            double* sum = &sums_[batch_of(k) * (size + 1)];
            const double* row = to_come_.of(k, 0);
            add_scaled(sum, row, share, size);
            sum[size] += share * stays(k)[0];
            weights_[batch_of(k)] += share;
            if (path.random.unit() >= share && lost > 0) {
                path.count -= counted;
            } else {
                --path.total;
                path.point = from;
            }
        }
        finish_row(message);
    }

    /// Figures of a message from the sums over each batch.
    void finish_row(std::size_t message) {
        const std::size_t size = to_come_.size();
        const double lost = chain_.lost[message];
        double weight = 0;
        all_.assign(size + 1, 0.0);
        for (std::size_t b = 0; b < batches_; ++b) {
            weight += weights_[b];
            add(all_.data(), &sums_[b * (size + 1)], size + 1);
        }
        const auto scaled = [&](double over) { return over > 0 ? (1 - lost) / over : 0.0; };
        const auto figures_of = [&](std::vector<double>& row, double factor) {
            for (double& p : row) p *= factor;
            return entropies({row.data(), size}, row[size], lost);
        };
        without_.resize(batches_);
        if (!chain_.asked.empty()) rows_.asked[message] = asked_probability(message, weight);
        for (auto& each : loo_) each.resize(batches_);
        for (std::size_t b = 0; b < batches_; ++b) {
            without_row_ = all_;
            for (std::size_t q = 0; q <= size; ++q)
                without_row_[q] = std::max(0.0, all_[q] - sums_[b * (size + 1) + q]);
            const double left = weight - weights_[b];
            const Entropies figures = figures_of(without_row_, scaled(left));
            loo_[0][b] = figures.shannon;
            loo_[1][b] = figures.shannon_all;
            loo_[2][b] = figures.largest;
        }
        add_logs(message, weight);
        const Entropies figures = figures_of(all_, scaled(weight));
        rows_.departed[message] = figures.departed;
        rows_.inside[message] = std::max(0.0, 1 - lost - figures.departed);
        rows_.collision[message] = figures.collision;
        const double floor = unseen_share(lost, weight);
        const double bits =
            floor > 0 ? floor * std::log2(static_cast<double>(size + 4) / floor) : 0;
        const Jackknife shannon = jackknife(figures.shannon, loo_[0]);
        rows_.shannon[message] = std::max(0.0, shannon.value);
        rows_.shannon_error[message] =
            std::max(shannon.error, bits / std::max(figures.departed, floor + 1e-300));
        const Jackknife shannon_all = jackknife(figures.shannon_all, loo_[1]);
        rows_.shannon_all[message] = std::max(0.0, shannon_all.value);
        rows_.shannon_all_error[message] = std::max(shannon_all.error, bits);
        const Jackknife largest = jackknife(figures.largest, loo_[2]);
        for (std::size_t b = 0; b < batches_; ++b) {
            const auto apart = [&](double all, double without) {
                const auto size_of = static_cast<double>(batches_);
                return static_cast<float>(size_of * all - (size_of - 1) * without);
            };
            rows_.shannon_batches[message * batches_ + b] = apart(figures.shannon, loo_[0][b]);
            rows_.largest_batches[message * batches_ + b] = apart(figures.largest, loo_[2][b]);
        }
        rows_.largest[message] = std::clamp(largest.value, 0.0, 1.0);
        rows_.largest_error[message] = std::max(largest.error, floor);
        for (std::size_t q = 0; q < size; ++q) {
            if (all_[q] > 0 && all_[q] >= figures.largest * (1 - tie))
                rows_.guess[message] = static_cast<std::int64_t>(to_come_.latest() - q);
            if (all_[q] > allowed_from) ++rows_.allowed[message];
        }
        all_.resize(size);
        if (!chain_.groups.empty()) {
            entries_.clear();
            for (std::size_t q = 0; q < size; ++q)
                entries_.emplace_back(chain_.groups[to_come_.latest() - q], all_[q]);
            const GroupFigures received = over_groups(entries_, figures.departed);
            rows_.group_shannon[message] = received.shannon;
            rows_.group_largest[message] = received.largest;
            rows_.group_guess[message] = received.guess;
        }
        guess_figures(message, figures.departed);
    }

    /// Probability of the departure that was asked for, whose logarithm has no bias of order one
    /// over the samples.
    double asked_probability(std::size_t message, double weight) {
        const std::int64_t at =
            static_cast<std::int64_t>(to_come_.latest()) - chain_.asked[message];
        const std::size_t size = to_come_.size();
        if (chain_.asked[message] < 0 || at < 0 || at >= static_cast<std::int64_t>(size))
            return 0.0;
        const auto q = static_cast<std::size_t>(at);
        const double departs = 1 - chain_.lost[message];
        if (!(all_[q] > 0) || !(weight > 0)) return 0.0;
        const double all = departs * all_[q] / weight;
        for (std::size_t b = 0; b < batches_; ++b) {
            const double sum = all_[q] - sums_[b * (size + 1) + q];
            const double left = weight - weights_[b];
            if (!(sum > 1e-9 * all_[q]) || !(left > 0)) return all;
            without_[b] = std::log(departs * sum / left);
        }
        return std::min(departs, std::exp(jackknife(std::log(all), without_).value));
    }

    /// Guesses with the order of all samples, which is a little too good for them, and with that of
    /// one half for the other, which is a little too bad.
    void guess_figures(std::size_t message, double departed) {
        const std::size_t size = to_come_.size();
        rows_.guessing[message] = rows_.guessing_apart[message] = 1;
        float* batches = &rows_.guessing_batches[message * batches_];
        std::fill_n(batches, batches_, 1.0F);
        if (!(departed > 0)) return;
        rank(all_);
        const auto needed = [&](const double* row, double sum) {
            return sum > 0 ? std::max(1.0, dot(row, ranks_.data(), size) / sum) : 1.0;
        };
        rows_.guessing[message] = needed(all_.data(), departed);
        for (std::size_t b = 0; b < batches_; ++b) {
            const double* row = &sums_[b * (size + 1)];
            const double own = sum(row, size);
            batches[b] = static_cast<float>(own > 0 ? needed(row, own) : rows_.guessing[message]);
        }
        double apart = 0;
        for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
            without_row_.assign(size, 0.0);
            all_.assign(size, 0.0);
            for (std::size_t b = 0; b < batches_; ++b)
                add((b % 2 == half ? without_row_ : all_).data(), &sums_[b * (size + 1)], size);
            rank(without_row_);
            apart += needed(all_.data(), sum(all_.data(), size)) / 2;
        }
        rows_.guessing_apart[message] = std::max(apart, rows_.guessing[message]);
    }

    void rank(const std::vector<double>& row) {
        order_.resize(row.size());
        for (std::size_t q = 0; q < row.size(); ++q) order_[q] = {-row[q], q};
        std::sort(order_.begin(), order_.end());
        ranks_.resize(row.size());
        for (std::size_t q = 0; q < row.size(); ++q)
            ranks_[order_[q].second] = static_cast<double>(q + 1);
    }

    /// Probability that paths may have missed, where few of them say anything of a message.
    [[nodiscard]] double unseen_share(double lost, double weight) const {
        const auto all = static_cast<double>(paths_.size());
        return weight < 0.5 * all ? (1 - lost) / (1 + weight) : 0.0;
    }

    /// Terms of the expected log weight, by batch; `all_` holds sums of the whole.
    void add_logs(std::size_t message, double weight) {
        const std::size_t size = to_come_.size();
        const double lost = chain_.lost[message];
        logs_.resize(size);
        for (std::size_t q = 0; q < size; ++q) {
            const double d = chain_.departures[to_come_.latest() - q] - chain_.arrivals[message];
            logs_[q] = all_[q] > 0 ? chain_.rules.stages.log_density(d) : 0.0;
        }
        for (std::size_t b = 0; b < batches_; ++b) {
            const bool own = weights_[b] > 0;
            const double over = own ? weights_[b] : weight;
            if (!(over > 0)) continue;
            const double* sum = own ? &sums_[b * (size + 1)] : all_.data();
            const double factor = (1 - lost) / over;
            const double pair = dot(sum, logs_.data(), size);
            rows_.pair_logs[b] += factor * pair;
            rows_.inside_logs[b] += factor * sum[size] * inside_logs_[message];
            rows_.unseen_logs[b] += (factor * sum[size] + lost) * unseen_logs_[message];
        }
    }

    PhaseChain::Job& chain_;
    std::size_t batches_, each_, stages_;
    std::vector<Path> paths_;
    Destinations to_come_;
    std::vector<double> stays_;  // by path and stage: to be still inside at the end
    std::vector<double> inside_logs_, unseen_logs_;
    std::size_t stretch_;
    std::vector<Slice> wide_;
    std::vector<Room> rooms_;  // before and after each direction of a gap
    std::vector<double> sums_, weights_, all_, without_, without_row_, logs_;
    std::array<std::vector<double>, 3> loo_;
    std::vector<double> ranks_;
    std::vector<std::pair<double, std::size_t>> order_;
    std::vector<std::pair<Index, double>> entries_;
    PhaseRows rows_;
};

PhaseSampler::PhaseSampler(PhaseChain& chain, std::size_t batches, std::size_t each,
                           std::uint64_t seed, std::span<const double> inside_logs,
                           std::span<const double> unseen_logs)
    : job_(std::make_unique<Job>(*chain.job_, batches, each, seed, inside_logs, unseen_logs)) {}
PhaseSampler::~PhaseSampler() = default;
PhaseSampler::PhaseSampler(PhaseSampler&&) noexcept = default;
PhaseSampler& PhaseSampler::operator=(PhaseSampler&&) noexcept = default;
bool PhaseSampler::back() {
    return job_->back();
}
const PhaseRows& PhaseSampler::rows() const noexcept {
    return job_->rows();
}

}  // namespace anonymatch
