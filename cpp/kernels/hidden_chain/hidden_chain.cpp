#include "hidden_chain/hidden_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hidden_chain/hidden_chain_basis.hpp"
#include "hidden_chain/hidden_chain_lanes.hpp"

namespace anonymatch {
namespace {

using hidden_chain::Basis;
using hidden_chain::Window;

constexpr std::size_t kBlock = 1024;  // events whose layers are in memory at once
constexpr double kOpen = 1e-12;       // probability above which a departure counts as open
constexpr double kTie = 1e-12;        // relative: probabilities that are equal but for rounding
constexpr double kEntry = 1e-14;      // probability above which a sparse matrix has an entry

/// Weights of the states between two events, by x and then by k.
struct Layer {
    Window window;
    std::vector<double> values;
};

double entropy(double p) {
    return p > 0.0 ? -p * std::log2(p) : 0.0;
}

/// Entropy of two branches with these weights, in bits, times their sum.
double branching(double left, double right) {
    if (!(left > 0.0) || !(right > 0.0)) return 0.0;
    const double sum = left + right;
    return -left * std::log2(left / sum) - right * std::log2(right / sum);
}

}  // namespace

class HiddenChain::Job {
public:
    Job(const HiddenLog& log, const HiddenOptions& options, std::span<const std::int32_t> groups,
        std::span<const std::int32_t> asked);

    std::int64_t stuck() const { return stuck_; }
    bool advance(std::int64_t events);
    double log_evidence() const { return out_.log_evidence; }
    std::int64_t done() const { return done_; }
    HiddenFigures figures() { return std::move(out_); }

private:
    void find_support();
    [[nodiscard]] bool going() const {
        return out_.log_evidence > -std::numeric_limits<double>::infinity() &&
               !(back_ && event_ == 0);
    }
    [[nodiscard]] bool counts(std::size_t e) const {
        return options_.counted == (arrival_[e] != 0 ? Counted::losses : Counted::cover) &&
               layers_ > 1;
    }
    /// How k changes if the event moves it.
    [[nodiscard]] std::int64_t moves(std::size_t e) const { return arrival_[e] != 0 ? 1 : -1; }
    [[nodiscard]] double weight(std::size_t e, std::int64_t k) const {
        return arrival_[e] != 0 ? move_[e] : move_[e] * static_cast<double>(k);
    }
    static double at(const Layer& layer, std::int64_t k, std::size_t x) {
        const Window& w = layer.window;
        if (k < w.lo || k > w.hi) return 0.0;
        return layer.values[x * w.width() + static_cast<std::size_t>(k - w.lo)];
    }

    double step(std::size_t e, const Layer& from, Layer& to) const;
    void trim(Layer& layer) const;
    void forward();
    void turn();
    void recompute(std::size_t block);
    void backward();
    void after(std::size_t e);
    void before(std::size_t e, const Layer& alpha);
    void tally(std::size_t e, const Layer& alpha);
    void finish_row();
    void summarise(std::size_t i, std::vector<double>& row, double departed);
    void group_row(std::size_t i, const std::vector<double>& row, double departed);
    void move_rows(std::size_t e, const Layer& alpha);

    std::vector<std::uint8_t> arrival_;
    std::vector<double> move_, stay_, gap_;
    HiddenOptions options_;
    std::vector<std::int32_t> groups_, asked_;
    std::size_t events_, layers_;
    std::int64_t n_in_ = 0;
    std::int64_t n_out_ = 0;
    std::int64_t stuck_ = -1;
    std::vector<std::int32_t> low_, high_;  // numbers inside that are possible before each event

    std::int64_t done_ = 0;
    std::size_t event_ = 0;  // forwards: the next event; backwards: one more than the next one
    bool back_ = false;
    double log_ = 0.0;
    Layer current_;
    std::vector<Layer> marks_;  // before the first event of each block
    std::vector<Layer> block_;
    std::size_t block_first_ = 0;

    // The way back. beta_: weight to come, before the event that was looked at last.
    Layer beta_, next_;
    std::vector<double> up_, stayed_;  // its parts by state: the event moves k, or not
    std::vector<double> moved_;        // posterior of the moves, by the state after the event
    std::int64_t i_ = 0;
    std::int64_t j_ = 0;
    std::unique_ptr<Basis> basis_;
    std::vector<double> staying_;  // probability of a tagged message to stay inside, by ring
    std::size_t ring_ = 0;
    std::vector<double> mixture_, sorted_, shares_;
    std::vector<std::int32_t> touched_;
    HiddenFigures out_;
};

HiddenChain::Job::Job(const HiddenLog& log, const HiddenOptions& options,
                      std::span<const std::int32_t> groups, std::span<const std::int32_t> asked)
    : arrival_(log.arrival.begin(), log.arrival.end()),
      move_(log.move.begin(), log.move.end()),
      stay_(log.stay.begin(), log.stay.end()),
      gap_(log.gap.begin(), log.gap.end()),
      options_(options),
      groups_(groups.begin(), groups.end()),
      asked_(asked.begin(), asked.end()),
      events_(arrival_.size()),
      layers_(options.counted == Counted::nothing ? 1
                                                  : static_cast<std::size_t>(options.number) + 1) {
    if (move_.size() != events_ || stay_.size() != events_ || gap_.size() != events_ + 1)
        throw std::invalid_argument("a hidden chain needs one weight an event and one gap more");
    const auto bad = [](double value) { return !(value >= 0.0) || !std::isfinite(value); };
    if (std::any_of(move_.begin(), move_.end(), bad) ||
        std::any_of(stay_.begin(), stay_.end(), bad) || std::any_of(gap_.begin(), gap_.end(), bad))
        throw std::invalid_argument("weights and gaps must be finite and not negative");
    for (const auto in : arrival_) ++(in != 0 ? n_in_ : n_out_);
    if (!asked_.empty() && asked_.size() != static_cast<std::size_t>(n_in_))
        throw std::invalid_argument("one departure that is asked for by arrival");
    if (!groups_.empty() && groups_.size() != static_cast<std::size_t>(n_out_))
        throw std::invalid_argument("one group a departure");
    find_support();
    current_.values.assign(layers_, 0.0);
    current_.window = {0, 0};
    current_.values[0] = 1.0;
    out_.log_evidence = stuck_ >= 0 ? -std::numeric_limits<double>::infinity() : 0.0;
    out_.widest = 1;
}

/// Numbers inside that can be reached, and from which the end can be: intervals, for every step
/// leaves a number or moves it by one.
void HiddenChain::Job::find_support() {
    low_.resize(events_ + 1);
    high_.resize(events_ + 1);
    std::int32_t low = 0;
    std::int32_t high = 0;
    for (std::size_t e = 0; e <= events_; ++e) {
        low_[e] = low;
        high_[e] = high;
        if (e == events_) break;
        const bool may_move = move_[e] > 0.0;
        const bool may_stay = stay_[e] > 0.0;
        if (arrival_[e] != 0) {
            low += may_stay ? 0 : 1;
            high += may_move ? 1 : 0;
            if (!may_stay && !may_move) high = low - 1;
        } else {
            const bool leaves = may_move && high > 0;
            if (!may_stay) high = leaves ? high - 1 : -1;
            low = std::max(0, leaves ? low - 1 : low);
            if (!may_stay && !leaves) low = 0;
        }
        if (low > high) {
            stuck_ = static_cast<std::int64_t>(e);
            return;
        }
    }
    std::int32_t least = 0;
    std::int32_t most = std::numeric_limits<std::int32_t>::max() / 2;
    if (options_.end_inside >= 0) least = most = static_cast<std::int32_t>(options_.end_inside);
    for (std::size_t e = events_ + 1; e-- > 0;) {
        low_[e] = std::max(low_[e], least);
        high_[e] = std::min(high_[e], most);
        if (low_[e] > high_[e]) {
            stuck_ = static_cast<std::int64_t>(e == 0 ? 0 : e - 1);
            return;
        }
        if (e == 0) break;
        const bool may_move = move_[e - 1] > 0.0;
        const bool may_stay = stay_[e - 1] > 0.0;
        if (arrival_[e - 1] != 0) {
            least = std::max(0, may_move ? least - 1 : least);
            most = may_stay ? most : most - 1;
        } else {
            least = may_stay ? least : least + 1;
            most = may_move ? most + 1 : most;
        }
        if (most < 0) most = -1;
    }
}

/// The layer before the next event from that before this one, scaled to the sum 1; the natural log
/// of the scale.
double HiddenChain::Job::step(std::size_t e, const Layer& from, Layer& to) const {
    const std::int64_t shift = moves(e);
    std::int64_t lo = from.window.lo + std::min<std::int64_t>(shift, 0);
    std::int64_t hi = from.window.hi + std::max<std::int64_t>(shift, 0);
    lo = std::max<std::int64_t>(lo, low_[e + 1]);
    hi = std::min<std::int64_t>(hi, high_[e + 1]);
    to.window = {lo, hi};
    if (lo > hi) return -std::numeric_limits<double>::infinity();
    const std::size_t width = to.window.width();
    const std::size_t skip = counts(e) ? 1 : 0;
    to.values.assign(layers_ * width, 0.0);
    const double fall = std::exp(-gap_[e + 1]);
    double sum = 0.0;
    for (std::size_t x = 0; x < layers_; ++x) {
        double decay = 1.0;  // relative to the smallest k, so that it never underflows for all
        for (std::int64_t k = lo; k <= hi; ++k, decay *= fall) {
            double value = at(from, k - shift, x) * weight(e, k - shift);
            if (x >= skip) value += at(from, k, x - skip) * stay_[e];
            value *= decay;
            to.values[x * width + static_cast<std::size_t>(k - lo)] = value;
            sum += value;
        }
    }
    if (!(sum > 0.0)) return -std::numeric_limits<double>::infinity();
    for (double& value : to.values) value /= sum;
    trim(to);
    return std::log(sum) - gap_[e + 1] * static_cast<double>(lo);
}

void HiddenChain::Job::trim(Layer& layer) const {
    const std::size_t width = layer.window.width();
    const auto weight_of = [&](std::size_t i) {
        double sum = 0.0;
        for (std::size_t x = 0; x < layers_; ++x) sum += layer.values[x * width + i];
        return sum;
    };
    std::size_t first = 0;
    std::size_t last = width - 1;
    while (first < last && weight_of(first) < options_.cut) ++first;
    while (last > first && weight_of(last) < options_.cut) --last;
    if (first == 0 && last == width - 1) return;
    const std::size_t left = last - first + 1;
    for (std::size_t x = 0; x < layers_; ++x)
        std::copy_n(layer.values.begin() + static_cast<std::ptrdiff_t>(x * width + first), left,
                    layer.values.begin() + static_cast<std::ptrdiff_t>(x * left));
    layer.values.resize(layers_ * left);
    layer.window = {layer.window.lo + static_cast<std::int64_t>(first),
                    layer.window.lo + static_cast<std::int64_t>(last)};
}

bool HiddenChain::advance(std::int64_t events) {
    return job_->advance(events);
}

bool HiddenChain::Job::advance(std::int64_t events) {
    if (stuck_ >= 0) return false;
    if (!back_ && event_ == events_) turn();
    for (; events > 0 && going(); --events, ++done_) {
        if (back_)
            backward();
        else
            forward();
    }
    return going();
}

void HiddenChain::Job::forward() {
    if (event_ % kBlock == 0) marks_.push_back(current_);
    Layer to;
    const double log = step(event_, current_, to);
    log_ += log;
    if (log == -std::numeric_limits<double>::infinity()) {
        out_.log_evidence = log;
        return;
    }
    current_ = std::move(to);
    out_.widest = std::max(out_.widest, static_cast<std::int32_t>(current_.window.width()));
    if (++event_ == events_) turn();
}

/// At the end of the log: the evidence, and what the way back begins with.
void HiddenChain::Job::turn() {
    back_ = true;
    beta_ = current_;
    const Window& w = beta_.window;
    double sum = 0.0;
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::int64_t k = w.lo; k <= w.hi; ++k) {
            const bool ends = (options_.end_inside < 0 || k == options_.end_inside) &&
                              (layers_ == 1 || x + 1 == layers_);
            const std::size_t s = x * w.width() + static_cast<std::size_t>(k - w.lo);
            beta_.values[s] = ends ? 1.0 : 0.0;
            sum += ends ? current_.values[s] : 0.0;
        }
    }
    out_.log_evidence = log_ + std::log(sum);
    if (!(sum > 0.0)) {
        out_.log_evidence = -std::numeric_limits<double>::infinity();
        return;
    }
    for (std::size_t s = 0; s < beta_.values.size(); ++s) {
        beta_.values[s] /= sum;
        out_.joint_bits += entropy(current_.values[s] * beta_.values[s]);
    }
    const auto n_in = static_cast<std::size_t>(n_in_);
    out_.lost.assign(n_in, 0.0);
    out_.real.assign(static_cast<std::size_t>(n_out_), 0.0);
    i_ = n_in_;
    j_ = n_out_;
    block_first_ = events_;
    if (!options_.rows) return;
    for (auto* of_arrivals : {&out_.inside, &out_.departed, &out_.shannon, &out_.shannon_all,
                              &out_.collision, &out_.probability})
        of_arrivals->assign(n_in, 0.0);
    out_.guess.assign(n_in, -1);
    out_.allowed.assign(n_in, 0);
    if (options_.guessing_every > 0)
        out_.guessing.assign(n_in, std::numeric_limits<double>::quiet_NaN());
    if (!groups_.empty()) {
        out_.group_shannon.assign(n_in, 0.0);
        out_.group_probability.assign(n_in, 0.0);
        out_.group_guess.assign(n_in, -1);
        const auto largest = *std::max_element(groups_.begin(), groups_.end());
        shares_.assign(static_cast<std::size_t>(largest) + 1, 0.0);
    }
    if (options_.pairs) out_.pairs.assign(n_in * static_cast<std::size_t>(n_out_), 0.0);
    if (options_.sparse) out_.entries.assign(n_in, 0);
    out_.asked.assign(asked_.size(), 0.0);
    basis_ = std::make_unique<Basis>(static_cast<std::size_t>(out_.widest), layers_, n_out_,
                                     options_.together, options_.tolerance);
    ring_ = 1;
    while (ring_ < static_cast<std::size_t>(out_.widest) + 2) ring_ *= 2;
    staying_.assign(layers_ * ring_, 1.0);
}

void HiddenChain::Job::recompute(std::size_t block) {
    block_first_ = block * kBlock;
    const std::size_t last = std::min(block_first_ + kBlock, events_);
    block_.resize(last - block_first_);
    block_[0] = std::move(marks_[block]);
    for (std::size_t e = block_first_; e + 1 < last; ++e)
        step(e, block_[e - block_first_], block_[e + 1 - block_first_]);
}

void HiddenChain::Job::backward() {
    const std::size_t e = event_ - 1;
    if (e < block_first_) recompute(e / kBlock);
    const Layer& alpha = block_[e - block_first_];
    if (arrival_[e] != 0)
        --i_;
    else
        --j_;
    after(e);
    before(e, alpha);
    tally(e, alpha);
    if (options_.rows) {
        if (arrival_[e] != 0) finish_row();
        move_rows(e, alpha);
    }
    std::swap(beta_, next_);
    event_ = e;
}

/// beta_ from before the next event to just after this one: time passes backwards.
void HiddenChain::Job::after(std::size_t e) {
    const Window& w = beta_.window;
    const std::size_t width = w.width();
    const double fall = std::exp(-gap_[e + 1]);
    for (std::size_t x = 0; x < layers_; ++x) {
        double decay = 1.0;
        for (std::size_t i = 0; i < width; ++i, decay *= fall) beta_.values[x * width + i] *= decay;
    }
}

/// next_: weight to come before the event, and its two parts; all scaled to the evidence 1.
void HiddenChain::Job::before(std::size_t e, const Layer& alpha) {
    const Window& w = alpha.window;
    const std::size_t width = w.width();
    const std::int64_t shift = moves(e);
    const std::size_t skip = counts(e) ? 1 : 0;
    next_.window = w;
    next_.values.resize(layers_ * width);
    up_.resize(layers_ * width);
    stayed_.resize(layers_ * width);
    double sum = 0.0;
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::int64_t k = w.lo; k <= w.hi; ++k) {
            const std::size_t s = x * width + static_cast<std::size_t>(k - w.lo);
            up_[s] = weight(e, k) * at(beta_, k + shift, x);
            stayed_[s] = x + skip < layers_ ? stay_[e] * at(beta_, k, x + skip) : 0.0;
            next_.values[s] = up_[s] + stayed_[s];
            sum += alpha.values[s] * next_.values[s];
        }
    }
    const double scale = 1.0 / sum;
    for (auto* part : {&next_.values, &up_, &stayed_, &beta_.values})
        for (double& value : *part) value *= scale;
}

/// What the event says: lost or cover, and what it adds to the entropy of the explanation.
void HiddenChain::Job::tally(std::size_t e, const Layer& alpha) {
    const Window& w = alpha.window;
    const std::size_t width = w.width();
    const std::int64_t shift = moves(e);
    const std::size_t skip = counts(e) ? 1 : 0;
    const Window& later = beta_.window;
    const std::size_t later_width = later.width();
    moved_.assign(layers_ * later_width, 0.0);
    double moving = 0.0;
    double staying = 0.0;
    double expected = 0.0;
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::int64_t k = later.lo; k <= later.hi; ++k) {
            double left = 0.0;
            double right = 0.0;
            if (k - shift >= w.lo && k - shift <= w.hi) {
                const std::size_t s = x * width + static_cast<std::size_t>(k - shift - w.lo);
                left = alpha.values[s] * up_[s];
            }
            if (x >= skip && k >= w.lo && k <= w.hi) {
                const std::size_t s = (x - skip) * width + static_cast<std::size_t>(k - w.lo);
                right = alpha.values[s] * stayed_[s];
            }
            moved_[x * later_width + static_cast<std::size_t>(k - later.lo)] = left;
            moving += left;
            staying += right;
            expected += (left + right) * static_cast<double>(k);
            out_.joint_bits += branching(left, right);
            if (shift < 0 && left > 0.0)
                out_.joint_bits += left * std::log2(static_cast<double>(k - shift));
        }
    }
    out_.busy += expected * gap_[e + 1];
    const double sum = moving + staying;
    if (arrival_[e] != 0)
        out_.lost[static_cast<std::size_t>(i_)] = staying / sum;
    else
        out_.real[static_cast<std::size_t>(j_)] = moving / sum;
}

/// What becomes of the message that arrives at this event.
void HiddenChain::Job::finish_row() {
    const auto i = static_cast<std::size_t>(i_);
    const Window& w = beta_.window;
    const std::size_t width = w.width();
    const std::size_t columns = basis_->columns();
    mixture_.assign(columns, 0.0);
    double inside = 0.0;
    double total = 0.0;
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::int64_t k = w.lo; k <= w.hi; ++k) {
            const double mass = moved_[x * width + static_cast<std::size_t>(k - w.lo)];
            if (mass == 0.0) continue;
            total += mass;
            inside += mass * staying_[x * ring_ + (static_cast<std::size_t>(k) & (ring_ - 1))];
            hidden_chain::lanes().add(mixture_.data(), basis_->row(k, x), mass, columns);
        }
    }
    out_.inside[i] = std::clamp(inside, 0.0, 1.0);
    const double departed = std::max(total - inside, 0.0);
    auto& row = basis_->spread(mixture_);
    summarise(i, row, departed);
    if (!groups_.empty()) group_row(i, row, out_.departed[i]);
}

void HiddenChain::Job::summarise(std::size_t i, std::vector<double>& row, double departed) {
    const hidden_chain::Sums sums = hidden_chain::lanes().sums(row.data(), row.size());
    out_.miss = std::max(out_.miss, std::abs(sums.sum - departed));
    const double sum = sums.sum;
    out_.departed[i] = sum;
    out_.shannon_all[i] = sums.surprise + entropy(out_.lost[i]) + entropy(out_.inside[i]);
    if (!(sum > 0.0)) return;
    out_.shannon[i] = std::max(sums.surprise / sum + std::log2(sum), 0.0);
    out_.collision[i] = std::min(sums.squares / (sum * sum), 1.0);
    out_.probability[i] = sums.largest;
    const auto latest = basis_->latest();
    std::int32_t open = 0;
    for (std::size_t p = row.size(); p-- > 0;) {
        if (out_.guess[i] < 0 && row[p] >= sums.largest * (1.0 - kTie))
            out_.guess[i] = static_cast<std::int32_t>(latest - static_cast<std::int64_t>(p));
        open += row[p] > kOpen ? 1 : 0;
    }
    out_.allowed[i] = open;
    if (!asked_.empty() && asked_[i] >= 0) {
        const std::int64_t p = latest - asked_[i];
        if (p >= 0 && p < static_cast<std::int64_t>(row.size()))
            out_.asked[i] = row[static_cast<std::size_t>(p)];
    }
    if (options_.pairs) {
        double* to = out_.pairs.data() + i * static_cast<std::size_t>(n_out_);
        for (std::size_t p = 0; p < row.size(); ++p)
            to[latest - static_cast<std::int64_t>(p)] = row[p];
    }
    if (options_.sparse) {
        for (std::size_t p = 0; p < row.size(); ++p) {
            if (!(row[p] > kEntry)) continue;
            ++out_.entries[i];
            out_.entry_column.push_back(
                static_cast<std::int32_t>(latest - static_cast<std::int64_t>(p)));
            out_.entry_value.push_back(row[p]);
        }
    }
    if (options_.guessing_every > 0 && i % static_cast<std::size_t>(options_.guessing_every) == 0) {
        sorted_ = row;
        std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
        double guesses = 0.0;
        for (std::size_t r = 0; r < sorted_.size(); ++r)
            guesses += sorted_[r] * static_cast<double>(r + 1);
        out_.guessing[i] = guesses / sum;
    }
}

void HiddenChain::Job::group_row(std::size_t i, const std::vector<double>& row, double departed) {
    if (!(departed > 0.0)) return;
    touched_.clear();
    const auto latest = basis_->latest();
    for (std::size_t p = row.size(); p-- > 0;) {
        if (row[p] == 0.0) continue;
        const auto group = groups_[static_cast<std::size_t>(latest - static_cast<std::int64_t>(p))];
        double& share = shares_[static_cast<std::size_t>(group)];
        if (share == 0.0) touched_.push_back(group);
        share += row[p];
    }
    double doubt = 0.0;
    for (const auto group : touched_) {
        double& share = shares_[static_cast<std::size_t>(group)];
        doubt += entropy(share);
        if (share > out_.group_probability[i] * (1.0 + kTie)) {
            out_.group_probability[i] = share;
            out_.group_guess[i] = group;
        }
        share = 0.0;
    }
    out_.group_shannon[i] = std::max(doubt / departed + std::log2(departed), 0.0);
}

/// Rows of the basis from after the event to before it; a departure adds its own column.
void HiddenChain::Job::move_rows(std::size_t e, const Layer& alpha) {
    const Window& w = alpha.window;
    const std::size_t width = w.width();
    const std::size_t columns = basis_->columns();
    const std::int64_t shift = moves(e);
    const std::size_t skip = counts(e) ? 1 : 0;
    const bool leaves = arrival_[e] == 0;
    const std::size_t own = leaves ? basis_->add_departure() : 0;
    const auto& lanes = hidden_chain::lanes();
    const auto stays = [&](std::int64_t k, std::size_t x) -> double& {
        return staying_[x * ring_ + (static_cast<std::size_t>(k) & (ring_ - 1))];
    };
    for (std::size_t x = 0; x < layers_; ++x) {
        // In the order in which no row is written before it was read.
        for (std::size_t t = 0; t < width; ++t) {
            const std::int64_t k =
                leaves ? w.hi - static_cast<std::int64_t>(t) : w.lo + static_cast<std::int64_t>(t);
            const std::size_t s = x * width + static_cast<std::size_t>(k - w.lo);
            const double total = next_.values[s];
            const double q = total > 0.0 ? up_[s] / total : 0.0;
            const double rest = total > 0.0 ? stayed_[s] / total : 0.0;
            const double others =
                leaves && k > 0 ? static_cast<double>(k - 1) / static_cast<double>(k) : 1.0;
            double* here = basis_->row(k, x);
            const std::size_t to = x + skip < layers_ ? x + skip : x;
            // Rows outside the window after the event have the factor 0.
            const double* moved = k + shift >= 0 ? basis_->row(k + shift, x) : here;
            lanes.blend(here, moved, basis_->row(k, to), q * others, rest, columns);
            const double moving = k + shift >= 0 ? stays(k + shift, x) : 0.0;
            stays(k, x) = q * others * moving + rest * stays(k, to);
            if (leaves) here[own] = k > 0 ? q / static_cast<double>(k) : 0.0;
        }
    }
    if (basis_->full()) {
        std::vector<double> posterior(alpha.values);
        for (std::size_t s = 0; s < posterior.size(); ++s) posterior[s] *= next_.values[s];
        basis_->compress(w, posterior);
    }
}

HiddenChain::HiddenChain(const HiddenLog& log, const HiddenOptions& options,
                         std::span<const std::int32_t> groups, std::span<const std::int32_t> asked)
    : job_(std::make_unique<Job>(log, options, groups, asked)) {}
HiddenChain::~HiddenChain() = default;
HiddenChain::HiddenChain(HiddenChain&&) noexcept = default;
HiddenChain& HiddenChain::operator=(HiddenChain&&) noexcept = default;
std::int64_t HiddenChain::stuck() const noexcept {
    return job_->stuck();
}
double HiddenChain::log_evidence() const noexcept {
    return job_->log_evidence();
}
std::int64_t HiddenChain::done() const noexcept {
    return job_->done();
}
HiddenFigures HiddenChain::figures() {
    return job_->figures();
}

}  // namespace anonymatch
