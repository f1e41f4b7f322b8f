#include "band/band.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "band/band_job.hpp"

namespace anonymatch {
namespace {

constexpr double one = 1;

/// The rows of a stretch, with edges counted from its first; their weights, if there are any.
std::vector<band::Step> cut_out(band::Steps&& steps, const BandStretch& stretch,
                                std::span<const double>& weights) {
    if (!steps.feasible) throw std::invalid_argument("the band is too wide or has no matching");
    std::vector<band::Step>& rows = steps.rows;
    const std::size_t edges = rows.back().first_edge + rows.back().degree();
    if (!weights.empty() && weights.size() != edges)
        throw std::invalid_argument("there must be no weights or one an edge");
    const std::size_t last = std::min(stretch.last, rows.size());
    if (stretch.first >= last) throw std::invalid_argument("a stretch needs a row");
    const std::size_t first_edge = rows[stretch.first].first_edge;
    const std::size_t last_edge = rows[last - 1].first_edge + rows[last - 1].degree();
    if (!weights.empty()) weights = weights.subspan(first_edge, last_edge - first_edge);
    rows.resize(last);
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(stretch.first));
    for (band::Step& row : rows) row.first_edge -= first_edge;
    return std::move(rows);
}

std::unique_ptr<Band::Job> make_job(const BandView& view, std::span<const double> weights,
                                    BandTask task, const BandStretch& stretch,
                                    std::size_t byte_limit) {
    band::Steps steps(view);
    const int digit_bits = steps.digit_bits;  // of all rows: stretches meet
    std::vector<band::Step> rows = cut_out(std::move(steps), stretch, weights);
    const bool words = task == BandTask::count_words || task == BandTask::forward_words ||
                       task == BandTask::back_words;
    if (words && !weights.empty())
        throw std::invalid_argument("whole numbers take no weights here");
    const std::span<const double> ones(&one, 1);
    switch (task) {
        case BandTask::count_words:
            return band::words_job(std::move(rows), digit_bits);
        case BandTask::count_real:
            return band::real_pass(std::move(rows), weights, false, ones);
        case BandTask::forward_words:
        case BandTask::back_words:
            return band::words_pass(std::move(rows), digit_bits, task == BandTask::back_words,
                                    stretch.digits);
        case BandTask::forward_real:
            return band::real_pass(std::move(rows), weights, false, stretch.before);
        case BandTask::back_real:
            return band::real_pass(std::move(rows), weights, true, stretch.after);
        case BandTask::edges:
            break;
    }
    return band::edges_job(std::move(rows), weights, stretch.before.empty() ? ones : stretch.before,
                           stretch.after.empty() ? ones : stretch.after, byte_limit);
}

}  // namespace

Band::Band(const BandView& view, std::span<const double> weights, BandTask task,
           std::size_t byte_limit, const BandStretch& stretch)
    : job_(make_job(view, weights, task, stretch, byte_limit)) {}
Band::~Band() = default;
Band::Band(Band&&) noexcept = default;
Band& Band::operator=(Band&&) noexcept = default;

bool Band::run(double max_work, CancelFlag cancel) {
    const double until = job_->done + max_work;
    while (!job_->finished && !cancel.raised()) {
        job_->done += job_->next();
        if (job_->done >= until) break;
    }
    return job_->finished;
}
double Band::work_done() const noexcept {
    return job_->done;
}
bool Band::failed() const noexcept {
    return job_->failed();
}
std::vector<std::uint64_t> Band::count_words() const {
    return job_->count_words();
}
ScaledReal Band::count_real() const {
    return job_->count_real();
}
std::vector<double> Band::posteriors() const {
    return job_->posteriors();
}
std::vector<std::uint64_t> Band::digits() const {
    return job_->digits();
}
BandLayer Band::layer() const {
    return job_->layer();
}

// ---- prices

BandPlan plan_band(const BandView& view) {
    const band::Steps steps(view);
    BandPlan plan;
    plan.width = steps.width;
    plan.feasible = steps.feasible;
    if (!plan.feasible) return plan;
    plan.layer_states.push_back(1);
    for (const band::Step& step : steps.rows) {
        const auto states = static_cast<double>(step.states_after());
        plan.row_work.push_back(step.work());
        plan.row_bits.push_back(step.bits());
        plan.layer_states.push_back(states);
        plan.work += step.work();
        plan.peak_states = std::max(plan.peak_states, states);
        plan.total_states += states;
        plan.roundings += static_cast<double>(step.degree()) + step.stretches();
    }
    const band::Meeting meeting = band::best_meeting(steps.rows, steps.digit_bits);
    plan.digit_bits = steps.digit_bits;
    plan.meeting = meeting.layer;
    plan.words_work = meeting.work;
    plan.words_bytes = meeting.bytes;
    return plan;
}

double BandPlan::real_bytes() const {
    return 5 * sizeof(double) * peak_states;
}
namespace {

/// States of the layers of a segment, so that those and the first layers of all segments are few.
double segment_states(const BandPlan& plan, double total, double mean) {
    return std::min(total, std::max(20 * plan.peak_states, std::sqrt(total * mean)));
}

}  // namespace

double BandPlan::kept_bytes(double stretches) const {
    const double mean = total_states / static_cast<double>(row_work.size());
    return 2 * sizeof(double) * segment_states(*this, total_states / stretches, mean);
}
double BandPlan::edge_bytes(double stretches, double byte_limit) const {
    const double total = total_states / stretches;
    const double mean = total_states / static_cast<double>(row_work.size());
    const double wanted = byte_limit / 2 / sizeof(double);
    const double segment = std::min(total, std::max(wanted, segment_states(*this, total, mean)));
    const double firsts = segment < total ? total / segment * mean : 0;
    constexpr double growth = 1.5;  // of the array that holds them
    return sizeof(double) * (growth * (segment + firsts) + 6 * peak_states);
}

}  // namespace anonymatch
