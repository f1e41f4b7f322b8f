// One job of the frontier programme: forward through the layers, and back again when asked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "frontier/frontier.hpp"
#include "frontier/frontier_merge.hpp"
#include "frontier/frontier_moves.hpp"
#include "frontier/frontier_steps.hpp"
#include "frontier/frontier_table.hpp"
#include "frontier/frontier_values.hpp"

namespace anonymatch {

class Frontier::Job {
public:
    virtual ~Job() = default;
    virtual bool run(double max_transitions, CancelFlag cancel) = 0;
    [[nodiscard]] virtual double transitions_done() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    [[nodiscard]] virtual std::size_t peak_states() const = 0;
    /// The job that takes over, from the start, when this one cannot keep its promise; mostly none.
    [[nodiscard]] virtual std::unique_ptr<Job> successor() { return nullptr; }
    [[nodiscard]] virtual std::vector<std::uint64_t> count_words() const { throw wrong_kind(); }
    [[nodiscard]] virtual std::vector<std::uint64_t> edge_words() const { throw wrong_kind(); }
    [[nodiscard]] virtual ScaledReal count_real() const { throw wrong_kind(); }
    [[nodiscard]] virtual std::vector<double> posteriors() const { throw wrong_kind(); }
    [[nodiscard]] virtual std::vector<std::int32_t> samples() const { throw wrong_kind(); }

protected:
    static std::logic_error wrong_kind() {
        return std::logic_error("this frontier job does not compute that");
    }
};

}  // namespace anonymatch

namespace anonymatch::frontier {

template <class Kind>
class JobOf : public Frontier::Job {
    using Word = typename Kind::Word;

public:
    JobOf(Steps steps, Kind kind, FrontierTask task, std::size_t byte_limit)
        : kind_(std::move(kind)),
          steps_(std::move(steps)),
          task_(task),
          byte_limit_(byte_limit),
          merger_(steps_.max_streams()),
          replays_(task == FrontierTask::edges && moves_fit()) {
        streams_.reserve(steps_.max_streams());
        Table<Word>& table = layers_[0];
        table.values.reserve(KeyMerger::chunk * kind_.words());
        if (replays_) {
            // Pages that are mapped while memory grows are small, and bringing them in took half of
            // the time.
            const auto states = static_cast<std::size_t>(steps_.most_states()) + KeyMerger::chunk;
            table.values.foresee(states * kind_.words());
            moves_.foresee(static_cast<std::size_t>(steps_.most_transitions()));
        }
        *key_room(0, table) = 0;
        kind_.one(table.values.data());
        table.size = 1;
        source_ = {0, 0, 0, 1};
        if (task_ != FrontierTask::count) kept_.push_back(source_);
        if (task_ == FrontierTask::edges)
            edges_.assign(static_cast<std::size_t>(steps_.indptr().back()) * kind_.words(), Word{});
        begin_step(0, source_, task_ == FrontierTask::count ? 1 : 0);
    }

    bool run(double max_transitions, CancelFlag cancel) override {
        const double until = transitions_done() + max_transitions;
        while (phase_ != Phase::done && !cancel.raised()) {
            if (phase_ == Phase::back) {
                back_chunk();
            } else {
                forward_chunk();
            }
            if (transitions_done() >= until) break;
        }
        return phase_ == Phase::done;
    }

    [[nodiscard]] double transitions_done() const override {
        return merger_.looked_at() + sampled_ + replayed_;
    }
    [[nodiscard]] std::size_t peak_states() const override { return peak_; }
    [[nodiscard]] std::size_t bytes() const override {
        return layers_[0].bytes() + layers_[1].bytes() + merger_.bytes() + steps_.bytes() +
               moves_.bytes() +
               (passing_keys_[0].capacity() + passing_keys_[1].capacity()) * sizeof(std::uint64_t) +
               (back_[0].capacity() + back_[1].capacity() + edges_.capacity()) * sizeof(Word);
    }

protected:
    /// A stretch of a table that holds the states before a step.
    struct Layer {
        std::size_t step = 0;
        std::size_t table = 0;
        std::size_t offset = 0;
        std::size_t size = 0;
    };

    /// Sampling takes its step back here, and says how many states it looked at.
    virtual double step_back(std::size_t, std::span<const Stream>, std::span<const std::uint64_t>,
                             const Word*) {
        return 0;
    }

    [[nodiscard]] std::vector<Word> total() const {
        if (total_.empty()) throw std::logic_error("the frontier job is not finished");
        return total_;
    }
    [[nodiscard]] const std::vector<Word>& edges() const {
        if (task_ != FrontierTask::edges) throw wrong_kind();
        if (phase_ != Phase::done) throw std::logic_error("the frontier job is not finished");
        return edges_;
    }
    [[nodiscard]] bool done() const noexcept { return phase_ == Phase::done; }
    [[nodiscard]] Kind& kind() noexcept { return kind_; }
    [[nodiscard]] const Kind& kind() const noexcept { return kind_; }
    [[nodiscard]] Steps& steps() noexcept { return steps_; }
    [[nodiscard]] const Steps& steps() const noexcept { return steps_; }
    [[nodiscard]] FrontierTask task() const noexcept { return task_; }
    [[nodiscard]] std::size_t byte_limit() const noexcept { return byte_limit_; }

private:
    enum class Phase { forward, again, back, done };
    /// Moves trade memory for time: beyond this much, dropping layers is the better neighbour.
    static constexpr std::size_t moves_limit = std::size_t{4096} << 20;

    /// Whether all values and moves will fit; then layers need no keys on the way back.
    [[nodiscard]] bool moves_fit() const noexcept {
        const double bytes =
            steps_.most_states() * static_cast<double>(kind_.words() * sizeof(Word)) +
            steps_.most_transitions() * static_cast<double>(Moves::bytes_a_move);
        return bytes <= static_cast<double>(moves_limit) &&
               (byte_limit_ == 0 || bytes <= static_cast<double>(byte_limit_));
    }

    [[nodiscard]] std::span<const std::uint64_t> keys(const Layer& layer) const {
        if (replays_) return {passing_keys_[layer.step % 2].data(), layer.size};
        return {layers_[layer.table].keys.data() + layer.offset, layer.size};
    }
    /// Room for a chunk of keys more of the layer before `step`, the last in the table.
    [[nodiscard]] std::uint64_t* key_room(std::size_t step, Table<Word>& table) {
        const std::size_t used = replays_ ? made_.size : table.size;
        Buffer<std::uint64_t>& keys = replays_ ? passing_keys_[step % 2] : table.keys;
        keys.reserve(used + KeyMerger::chunk);
        return keys.data() + used;
    }
    [[nodiscard]] Word* values(const Layer& layer) {
        return layers_[layer.table].values.data() + layer.offset * kind_.words();
    }

    void begin_step(std::size_t step, Layer source, std::size_t table) {
        source_ = source;
        made_ = {step + 1, table, layers_[table].size, 0};
        steps_.streams(step, streams_);
        merger_.begin(streams_);
        if (replays_) moves_.begin_step();
    }

    void forward_chunk() {
        const std::size_t words = kind_.words();
        Table<Word>& table = layers_[made_.table];
        table.values.reserve((table.size + KeyMerger::chunk) * words);
        // Room first: it may move the keys of the source, and compilers choose the order of arguments.
        std::uint64_t* const room = key_room(made_.step, table);
        const std::size_t n = merger_.next(keys(source_), room);
        if (n == 0) return forward_step_done();
        if (replays_) moves_.add(merger_, streams_.size(), n);
        Word* out = table.values.data() + table.size * words;
        std::fill_n(out, n * words, Word{});
        for (std::size_t i = 0; i < streams_.size(); ++i)
            kind_.forward(streams_[i].edge, merger_.sources(i), merger_.places(i), values(source_),
                          out);
        kind_.settle(out, n);
        table.size += n;
        made_.size += n;
    }

    void forward_step_done() {
        kind_.layer_made(values(made_), made_.size, phase_ == Phase::again);
        peak_ = std::max(peak_, made_.size);
        if (made_.size >= (std::size_t{1} << 32))
            throw std::length_error("a frontier layer has more than 2^32 states");
        if (phase_ == Phase::again) return again_step_done();
        if (task_ == FrontierTask::count) {
            layers_[source_.table].size = 0;
        } else {
            keep_layer();
        }
        if (made_.step == steps_.size()) return forward_done();
        begin_step(made_.step, made_, task_ == FrontierTask::count ? 1 - made_.table : made_.table);
    }

    /// All kept layers lie one after the other in table 0. Layers whose step is no multiple of the
    /// stride go once they have been used; the stride doubles when the limit is near, and a third
    /// of the limit is left for the layers made again and for the way back.
    void keep_layer() {
        if (source_.step % stride_ != 0) drop_source();
        kept_.push_back(made_);
        const std::size_t state_bytes = sizeof(std::uint64_t) + kind_.words() * sizeof(Word);
        while (!replays_ && byte_limit_ != 0 && stride_ < steps_.size() &&
               layers_[0].size * state_bytes > byte_limit_ / 3) {
            stride_ *= 2;
            thin();
        }
    }
    void drop_source() {
        kept_.pop_back();
        layers_[0].move_down(made_.offset, source_.offset, made_.size, kind_.words());
        made_.offset = source_.offset;
        layers_[0].size = made_.offset + made_.size;
    }
    void thin() {
        std::vector<Layer> remaining;
        std::size_t end = 0;
        for (Layer layer : kept_) {
            if (layer.step % stride_ != 0 && layer.step != made_.step) continue;
            layers_[0].move_down(layer.offset, end, layer.size, kind_.words());
            layer.offset = end;
            end += layer.size;
            remaining.push_back(layer);
        }
        kept_ = std::move(remaining);
        made_ = kept_.back();
        layers_[0].size = end;
    }

    void forward_done() {
        total_.assign(kind_.words(), Word{});
        if (made_.size != 0) std::copy_n(values(made_), kind_.words(), total_.begin());
        if (task_ == FrontierTask::count || made_.size == 0) return finish();
        back_[0].resize(kind_.words());
        kind_.one(back_[0].data());
        kept_.pop_back();
        next_back(steps_.size() - 1);
    }

    void finish() {
        layers_[0].release();
        layers_[1].release();
        moves_.release();
        back_[0] = {};
        back_[1] = {};
        phase_ = Phase::done;
    }

    /// Prepares the way back over `step`; its layer is the last kept one, or is made again from it.
    void next_back(std::size_t step) {
        if (kept_.back().step == step) return begin_back(kept_.back());
        phase_ = Phase::again;
        again_until_ = step;
        layers_[1].size = 0;
        begin_step(kept_.back().step, kept_.back(), 1);
    }
    void again_step_done() {
        kept_.push_back(made_);
        if (made_.step == again_until_) return begin_back(made_);
        begin_step(made_.step, made_, 1);
    }

    void begin_back(Layer source) {
        phase_ = Phase::back;
        source_ = source;
        steps_.streams(source.step, streams_);
        if (task_ == FrontierTask::sample) return;
        if (replays_) {
            moves_.rewind();
        } else {
            merger_.begin(streams_);
        }
        back_[1].assign(source.size * kind_.words(), Word{});
        sums_.assign(streams_.size() * kind_.sums(), Word{});
        reached_ = 0;
        scratch_.resize(KeyMerger::chunk);
    }

    void back_chunk() {
        if (task_ == FrontierTask::sample) {
            sampled_ += step_back(source_.step, streams_, keys(source_), values(source_));
            return back_step_done();
        }
        const std::size_t n =
            replays_ ? moves_.next_chunk() : merger_.next(keys(source_), scratch_.data());
        if (n != 0) {
            for (std::size_t i = 0; i < streams_.size(); ++i) {
                const MovePairs pairs = replays_ ? moves_.next_stream()
                                                 : MovePairs{merger_.sources(i), merger_.places(i)};
                kind_.backward(streams_[i].edge, pairs.sources, pairs.places, values(source_),
                               back_[0].data() + reached_ * kind_.words(), back_[1].data(),
                               sums_.data() + i * kind_.sums());
                replayed_ += replays_ ? static_cast<double>(pairs.sources.size()) : 0;
            }
            reached_ += n;
            return;
        }
        if (replays_) moves_.end_step();
        kind_.back_made(back_[1].data(), source_.size);
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            if (streams_[i].edge < 0) continue;
            kind_.finish(
                sums_.data() + i * kind_.sums(),
                edges_.data() + static_cast<std::size_t>(streams_[i].edge) * kind_.words());
        }
        std::swap(back_[0], back_[1]);
        back_step_done();
    }

    void back_step_done() {
        layers_[source_.table].size = source_.offset;
        kept_.pop_back();
        if (source_.step == 0) return finish();
        next_back(source_.step - 1);
    }

    Kind kind_;
    Steps steps_;
    FrontierTask task_;
    std::size_t byte_limit_;
    KeyMerger merger_;
    bool replays_;
    Moves moves_;
    Buffer<std::uint64_t> passing_keys_[2];  // when it replays: of the layers at hand, by parity
    Phase phase_ = Phase::forward;
    Table<Word> layers_[2];
    Layer source_;
    Layer made_;
    std::vector<Layer> kept_;
    std::size_t stride_ = 1;
    std::size_t again_until_ = 0;
    std::size_t reached_ = 0;
    std::size_t peak_ = 1;
    double sampled_ = 0;
    double replayed_ = 0;
    std::vector<Stream> streams_;
    std::vector<Word> back_[2];  // the layer after the step, and the one before it in the making
    std::vector<Word> sums_;
    std::vector<std::uint64_t> scratch_;
    std::vector<Word> total_;
    std::vector<Word> edges_;
};

template <class Kind>
class WordsJob final : public JobOf<Kind> {
public:
    using JobOf<Kind>::JobOf;
    [[nodiscard]] std::vector<std::uint64_t> count_words() const override { return this->total(); }
    [[nodiscard]] std::vector<std::uint64_t> edge_words() const override { return this->edges(); }
};

std::unique_ptr<Frontier::Job> real_job(const BlockView& block, std::span<const std::int32_t> order,
                                        const FrontierReals& values, FrontierTask task,
                                        std::size_t byte_limit, std::size_t size,
                                        std::uint64_t seed);

}  // namespace anonymatch::frontier
