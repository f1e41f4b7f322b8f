#include "frontier/frontier.hpp"

#include <algorithm>

#include "frontier/frontier_job.hpp"

namespace anonymatch {
namespace {

template <class Kind>
std::unique_ptr<Frontier::Job> words_job(const BlockView& block,
                                         std::span<const std::int32_t> order,
                                         const FrontierWords& values, FrontierTask task,
                                         std::size_t byte_limit) {
    return std::make_unique<frontier::WordsJob<Kind>>(frontier::Steps(block, order), Kind(values),
                                                      task, byte_limit);
}

/// With many words a layer is quicker made again from a near one than kept in memory that has to be
/// fetched from the kernel page by page (measured: from eight words on), so keep at most this.
constexpr std::size_t many_words = 8;
constexpr std::size_t many_words_limit = std::size_t{192} << 20;

void check_shape(const BlockView& block, std::size_t weights, std::size_t words) {
    const auto edges = block.indices.size();
    if (block.n_rows < 1 || block.n_rows > block.n_columns ||
        block.indptr.size() != static_cast<std::size_t>(block.n_rows) + 1)
        throw std::invalid_argument(
            "a block needs 1 <= n_rows <= n_columns and n_rows + 1 pointers");
    if (weights != 0 && weights != edges * words)
        throw std::invalid_argument("there must be no weights or one value an edge");
}

}  // namespace

Frontier::Frontier(const BlockView& block, std::span<const std::int32_t> order,
                   const FrontierWords& values, FrontierTask task, std::size_t byte_limit) {
    check_shape(block, values.weights.size(), values.primes.size() + 1);
    if (task == FrontierTask::sample) throw std::invalid_argument("sampling works in doubles");
    if (values.primes.size() + 1 >= many_words)
        byte_limit = byte_limit == 0 ? many_words_limit : std::min(byte_limit, many_words_limit);
    job_ = values.primes.empty()
               ? words_job<frontier::Wrapping>(block, order, values, task, byte_limit)
               : words_job<frontier::Residues>(block, order, values, task, byte_limit);
}

Frontier::Frontier(const BlockView& block, std::span<const std::int32_t> order,
                   const FrontierReals& values, FrontierTask task, std::size_t byte_limit) {
    check_shape(block, values.weights.size(), 1);
    if (task == FrontierTask::sample)
        throw std::invalid_argument("sampling needs a size and a seed");
    job_ = frontier::real_job(block, order, values, task, byte_limit, 0, 0);
}

Frontier::Frontier(const BlockView& block, std::span<const std::int32_t> order,
                   const FrontierReals& values, std::size_t size, std::uint64_t seed,
                   std::size_t byte_limit) {
    check_shape(block, values.weights.size(), 1);
    job_ = frontier::real_job(block, order, values, FrontierTask::sample, byte_limit, size, seed);
}

Frontier::~Frontier() = default;
Frontier::Frontier(Frontier&&) noexcept = default;
Frontier& Frontier::operator=(Frontier&&) noexcept = default;

bool Frontier::run(double max_transitions, CancelFlag cancel) {
    const bool finished = job_->run(max_transitions, cancel);
    std::unique_ptr<Job> successor = job_->successor();
    if (!successor) return finished;
    spent_ += job_->transitions_done();
    job_ = std::move(successor);
    return false;
}
double Frontier::transitions_done() const noexcept {
    return spent_ + job_->transitions_done();
}
std::size_t Frontier::bytes() const noexcept {
    return job_->bytes();
}
std::size_t Frontier::peak_states() const noexcept {
    return job_->peak_states();
}
std::vector<std::uint64_t> Frontier::count_words() const {
    return job_->count_words();
}
std::vector<std::uint64_t> Frontier::edge_words() const {
    return job_->edge_words();
}
ScaledReal Frontier::count_real() const {
    return job_->count_real();
}
std::vector<double> Frontier::posteriors() const {
    return job_->posteriors();
}
std::vector<std::int32_t> Frontier::samples() const {
    return job_->samples();
}

}  // namespace anonymatch
