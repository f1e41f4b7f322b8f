#include "particles/particles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/random.hpp"
#include "particles/particles_step.hpp"

namespace anonymatch {

using particles::Group;
using particles::lanes;

namespace {

constexpr float enough = 0.5F;  // share of the particles that must count, or they are resampled
constexpr float smallest = 0x1p-40F;
constexpr float largest = 0x1p40F;
constexpr float shrunk = 0x1p30F;

}  // namespace

Particles::Particles(const ParticleBlock& block, std::span<const std::int32_t> order, int sweeps,
                     double tolerance)
    : order_(order.begin(), order.end()) {
    const std::size_t rows = block.indptr.size() - 1;
    std::vector<char> met(rows, 0);
    for (const std::int32_t row : order) {
        if (row < 0 || static_cast<std::size_t>(row) >= rows || met[static_cast<std::size_t>(row)])
            throw std::invalid_argument("particles: not an order of the rows");
        met[static_cast<std::size_t>(row)] = 1;
    }
    if (order.size() != rows || static_cast<std::size_t>(block.n_columns) < rows)
        throw std::invalid_argument("particles: a row or a column is missing");
    balance(block, sweeps, tolerance);
    if (balanced_) lay_out(block, order);
}

void Particles::balance(const ParticleBlock& block, int sweeps, double tolerance) {
    const std::size_t rows = block.indptr.size() - 1;
    const auto columns = static_cast<std::size_t>(block.n_columns);
    const auto spare = static_cast<double>(columns - rows);
    row_factors_.assign(rows, 1.0);
    column_factors_.assign(columns, 1.0);
    nobody_ = spare > 0 ? 1.0 : 0.0;
    const auto weight = [&](std::size_t e) {
        return block.weights.empty() ? 1.0 : block.weights[e];
    };
    const auto normalise_columns = [&] {
        std::vector<double> sums(columns, nobody_);
        for (std::size_t i = 0; i < rows; ++i) {
            const auto end = static_cast<std::size_t>(block.indptr[i + 1]);
            for (auto e = static_cast<std::size_t>(block.indptr[i]); e < end; ++e)
                sums[static_cast<std::size_t>(block.indices[e])] += row_factors_[i] * weight(e);
        }
        for (std::size_t j = 0; j < columns; ++j) column_factors_[j] = 1.0 / sums[j];
    };
    normalise_columns();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double off = 0.0;
        for (std::size_t i = 0; i < rows; ++i) {
            double sum = 0.0;
            const auto end = static_cast<std::size_t>(block.indptr[i + 1]);
            for (auto e = static_cast<std::size_t>(block.indptr[i]); e < end; ++e)
                sum += weight(e) * column_factors_[static_cast<std::size_t>(block.indices[e])];
            off = std::max(off, std::abs(row_factors_[i] * sum - 1.0));
            row_factors_[i] = 1.0 / sum;
        }
        if (spare > 0) {
            double sum = 0.0;
            for (const double factor : column_factors_) sum += factor;
            nobody_ = spare / sum;
        }
        normalise_columns();
        if (sweep > 0 && off < tolerance) break;
    }
    log_scale_ = spare > 0 ? -spare * std::log(nobody_) : 0.0;
    log_scale_ -= static_cast<double>(rows) * std::log(static_cast<double>(particles::typical));
    for (const double factor : row_factors_) log_scale_ -= std::log(factor);
    for (const double factor : column_factors_) log_scale_ -= std::log(factor);
    balanced_ = std::isfinite(log_scale_);
}

void Particles::lay_out(const ParticleBlock& block, std::span<const std::int32_t> order) {
    const std::size_t rows = order.size();
    const auto columns = static_cast<std::size_t>(block.n_columns);
    steps_.reserve(block.indices.size());
    begins_.push_back(0);
    opening_begins_.push_back(0);
    std::vector<std::uint32_t> slots(columns, 0);
    std::vector<std::int32_t> left(columns, 0);
    for (const std::int32_t column : block.indices) ++left[static_cast<std::size_t>(column)];
    const std::vector<std::int32_t> degrees = left;
    std::vector<std::uint32_t> free_slots;
    std::vector<std::uint32_t> closed;
    for (std::size_t t = 0; t < rows; ++t) {
        const auto row = static_cast<std::size_t>(order[t]);
        closed.clear();
        for (std::int32_t e = block.indptr[row]; e < block.indptr[row + 1]; ++e) {
            const auto j = static_cast<std::size_t>(block.indices[static_cast<std::size_t>(e)]);
            if (left[j] == degrees[j]) {
                if (free_slots.empty()) free_slots.push_back(static_cast<std::uint32_t>(width_++));
                slots[j] = free_slots.back();
                free_slots.pop_back();
                openings_.push_back(slots[j]);
            }
            if (--left[j] == 0) closed.push_back(slots[j]);
            steps_.push_back({slots[j], 0.0F});
            columns_.push_back(static_cast<std::int32_t>(j));
        }
        free_slots.insert(free_slots.end(), closed.begin(), closed.end());
        begins_.push_back(steps_.size());
        opening_begins_.push_back(openings_.size());
    }
    // From the last row back: the last hazard of a column that must be taken is exactly 1.
    std::vector<double> rest(columns);
    for (std::size_t j = 0; j < columns; ++j) rest[j] = nobody_ * column_factors_[j];
    for (std::size_t t = rows; t-- > 0;) {
        const auto row = static_cast<std::size_t>(order[t]);
        auto e = static_cast<std::size_t>(block.indptr[row]);
        for (std::size_t s = begins_[t]; s < begins_[t + 1]; ++s, ++e) {
            const auto j = static_cast<std::size_t>(columns_[s]);
            const double weight = block.weights.empty() ? 1.0 : block.weights[e];
            const double share = row_factors_[row] * weight * column_factors_[j];
            rest[j] += share;
            steps_[s].hazard = static_cast<float>(share / rest[j]);
        }
    }
}

/// One run under way: its particles, in groups of lanes.
class Particles::Filter {
public:
    Filter(const Particles& plan, std::size_t particles, bool remember)
        : plan_(plan),
          advance_(particles::advance()),
          number_(particles),
          groups_(particles / lanes),
          remember_(remember),
          free_(groups_ * plan.width_),
          weights_(groups_),
          picks_(particles),
          offspring_(particles) {
        generators_.resize(groups_);
        if (remember) history_.resize(plan.order_.size() * particles);
    }

    /// The log weight of the run with this number, along a matching if there is one.
    double run(std::uint64_t seed, std::uint64_t index, const std::int32_t* matching,
               CancelFlag cancel) {
        Random random(seed, index);
        start(random);
        const std::size_t rows = plan_.order_.size();
        double log_weight = plan_.log_scale_;
        std::size_t kept = matching == nullptr ? number_ : random.bits() % number_;
        for (std::size_t t = 0; t < rows; ++t) {
            if (t % 64 == 0 && cancel.raised()) return -std::numeric_limits<double>::infinity();
            open(t);
            const std::size_t begin = plan_.begins_[t];
            const std::size_t size = plan_.begins_[t + 1] - begin;
            const particles::Steps steps{&plan_.steps_[begin].slot, &plan_.steps_[begin].hazard,
                                         sizeof(Step) / sizeof(float), size};
            advance_(steps, free_.data(), plan_.width_, generators_.data(), weights_.data(),
                     picks_.data(), groups_);
            if (matching != nullptr) hold(t, kept, matching);
            for (std::size_t p = 0; p < number_; ++p) {
                const std::uint32_t slot = plan_.steps_[begin + picks_[p]].slot;
                cell(slot, p) = 0.0F;
            }
            if (remember_) std::copy(picks_.begin(), picks_.end(), &history_[t * number_]);
            float sum = 0.0F;
            float squares = 0.0F;
            add(sum, squares);
            if (!(sum > 0.0F)) return -std::numeric_limits<double>::infinity();
            if (t + 1 < rows && sum * sum < enough * static_cast<float>(number_) * squares) {
                log_weight += std::log(static_cast<double>(sum) / static_cast<double>(number_));
                kept = resample(sum, random, kept, t);
            } else if (sum < smallest || sum > largest) {
                const float factor = sum < smallest ? shrunk : 1.0F / shrunk;
                for (Group& group : weights_) group.values *= factor;
                log_weight -= std::log(static_cast<double>(factor));
            }
        }
        float sum = 0.0F;
        float squares = 0.0F;
        add(sum, squares);
        last_ = chosen(static_cast<float>(random.unit()) * sum);
        return log_weight + std::log(static_cast<double>(sum) / static_cast<double>(number_));
    }

    /// The matching of one particle of the last run, drawn by its weight.
    void write_matching(std::int32_t* columns) const {
        std::size_t particle = last_;
        std::size_t event = events_.size();
        for (std::size_t t = plan_.order_.size(); t-- > 0;) {
            while (event > 0 && events_[event - 1].row == t)
                particle = events_[--event].parents[particle];
            const std::size_t step = plan_.begins_[t] + history_[t * number_ + particle];
            columns[plan_.order_[t]] = plan_.columns_[step];
        }
    }

private:
    struct Event {  // a resampling after a row
        std::size_t row;
        std::vector<std::uint32_t> parents;
    };

    // By a pointer, because Clang binds no reference to an element of a vector.
    float& cell(std::size_t slot, std::size_t particle) {
        Group& group = free_[particle / lanes * plan_.width_ + slot];
        return reinterpret_cast<float*>(&group.values)[particle % lanes];
    }

    void start(Random& random) {
        for (Group& group : weights_)
            for (std::size_t lane = 0; lane < lanes; ++lane) group.values[lane] = 1.0F;
        for (auto& generator : generators_)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const std::uint64_t first = random.bits();
                const std::uint64_t second = random.bits() | 1;  // never all 0
                generator.words[0][lane] = static_cast<std::uint32_t>(first);
                generator.words[1][lane] = static_cast<std::uint32_t>(first >> 32);
                generator.words[2][lane] = static_cast<std::uint32_t>(second);
                generator.words[3][lane] = static_cast<std::uint32_t>(second >> 32);
            }
        events_.clear();
    }

    void open(std::size_t t) {
        for (std::size_t k = plan_.opening_begins_[t]; k < plan_.opening_begins_[t + 1]; ++k)
            for (std::size_t g = 0; g < groups_; ++g) {
                Group& group = free_[g * plan_.width_ + plan_.openings_[k]];
                for (std::size_t lane = 0; lane < lanes; ++lane) group.values[lane] = 1.0F;
            }
    }

    /// The particle that goes along the matching picks what that picks.
    void hold(std::size_t t, std::size_t kept, const std::int32_t* matching) {
        const std::int32_t column = matching[plan_.order_[t]];
        const auto begin = plan_.columns_.begin() + static_cast<std::ptrdiff_t>(plan_.begins_[t]);
        const auto end = plan_.columns_.begin() + static_cast<std::ptrdiff_t>(plan_.begins_[t + 1]);
        const auto step = std::find(begin, end, column);
        if (step == end) throw std::invalid_argument("particles: not a matching of the block");
        picks_[kept] = static_cast<std::uint32_t>(step - begin);
        if (cell(plan_.steps_[plan_.begins_[t] + picks_[kept]].slot, kept) == 0.0F)
            throw std::invalid_argument("particles: not a matching of the block");
    }

    void add(float& sum, float& squares) const {
        Group sums{};
        Group square_sums{};
        for (const Group& group : weights_) {
            sums.values += group.values;
            square_sums.values += group.values * group.values;
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sum += sums.values[lane];
            squares += square_sums.values[lane];
        }
    }

    float weight(std::size_t particle) const {
        return weights_[particle / lanes].values[particle % lanes];
    }

    std::size_t chosen(float target) const {
        std::size_t last = 0;
        for (std::size_t p = 0; p < number_; ++p) {
            if (weight(p) <= 0.0F) continue;
            last = p;
            target -= weight(p);
            if (target < 0.0F) break;
        }
        return last;
    }

    /// As many copies of each particle as its weight is worth; who survives keeps its place.
    /// Given the one that goes along a matching, the rule is drawn from those by which it survives,
    /// and the one of its copies that goes on from all: its new place is returned.
    std::size_t resample(float sum, Random& random, std::size_t kept, std::size_t row) {
        const double unit = static_cast<double>(number_) / static_cast<double>(sum);
        double offset = random.unit();
        const double pick = random.unit();
        if (kept < number_) {
            double before = 0.0;
            for (std::size_t p = 0; p < kept; ++p) before += unit * static_cast<double>(weight(p));
            offset = before + offset * unit * static_cast<double>(weight(kept));
            offset -= std::floor(offset);
        }
        double reached = 0.0;
        std::size_t drawn = 0;
        for (std::size_t p = 0; p < number_; ++p) {
            reached += unit * static_cast<double>(weight(p));
            const std::size_t begin = drawn;
            while (drawn < number_ && static_cast<double>(drawn) + offset < reached) ++drawn;
            offspring_[p] = static_cast<std::uint32_t>(drawn - begin);
        }
        if (drawn < number_)  // rounding of the last sum
            offspring_[chosen(sum)] += static_cast<std::uint32_t>(number_ - drawn);
        if (kept < number_ && offspring_[kept] == 0) {  // rounding, likewise
            --*std::max_element(offspring_.begin(), offspring_.end());
            offspring_[kept] = 1;
        }
        const std::size_t copies = kept < number_ ? offspring_[kept] : 0;
        auto goes_on = static_cast<std::size_t>(pick * static_cast<double>(copies));
        std::size_t next = kept;
        Event event{row, {}};
        if (remember_) {
            event.parents.resize(number_);
            for (std::size_t p = 0; p < number_; ++p)
                event.parents[p] = static_cast<std::uint32_t>(p);
        }
        std::size_t parent = 0;
        for (std::size_t p = 0; p < number_; ++p) {
            if (offspring_[p] != 0) continue;
            while (offspring_[parent] < 2) ++parent;
            --offspring_[parent];
            copy(parent, p);
            if (remember_) event.parents[p] = static_cast<std::uint32_t>(parent);
            if (parent == kept && goes_on > 0 && --goes_on == 0) next = p;
        }
        if (remember_) events_.push_back(std::move(event));
        for (Group& group : weights_)
            for (std::size_t lane = 0; lane < lanes; ++lane) group.values[lane] = 1.0F;
        return next;
    }

    void copy(std::size_t from, std::size_t to) {
        const Group* source = &free_[from / lanes * plan_.width_];
        Group* target = &free_[to / lanes * plan_.width_];
        for (std::size_t slot = 0; slot < plan_.width_; ++slot)
            target[slot].values[to % lanes] = source[slot].values[from % lanes];
    }

    const Particles& plan_;
    particles::Advance advance_;
    std::size_t number_, groups_;
    bool remember_;
    std::vector<Group> free_;  // 1 where a slot's column is free: groups by slots
    std::vector<Group> weights_;
    std::vector<particles::Generator> generators_;
    std::vector<std::uint32_t> picks_;      // steps of the row, from its first
    std::vector<std::uint32_t> offspring_;  // copies of each particle
    std::vector<std::uint32_t> history_;    // picks by row
    std::vector<Event> events_;
    std::size_t last_ = 0;
};

ParticleRuns Particles::run(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                            std::size_t particles, bool matchings, CancelFlag cancel) const {
    ParticleRuns runs;
    Filter filter(*this, particles, matchings);
    const std::size_t rows = order_.size();
    for (std::uint64_t index = first; index < last; ++index) {
        const double log_weight = filter.run(seed, index, nullptr, cancel);
        if (cancel.raised()) break;
        runs.log_weights.push_back(log_weight);
        if (!matchings) continue;
        runs.matchings.resize(runs.matchings.size() + rows, -1);
        if (std::isfinite(log_weight))
            filter.write_matching(&*(runs.matchings.end() - static_cast<std::ptrdiff_t>(rows)));
    }
    return runs;
}

std::vector<double> Particles::along(std::span<const std::int32_t> matchings, std::uint64_t seed,
                                     std::uint64_t first, std::size_t particles,
                                     CancelFlag cancel) const {
    std::vector<double> log_weights;
    Filter filter(*this, particles, false);
    const std::size_t rows = order_.size();
    for (std::size_t k = 0; k * rows < matchings.size(); ++k) {
        const double log_weight = filter.run(seed, first + k, &matchings[k * rows], cancel);
        if (cancel.raised()) break;
        log_weights.push_back(log_weight);
    }
    return log_weights;
}

}  // namespace anonymatch
