#include "frontier/frontier_beam.hpp"

#include <algorithm>
#include <unordered_set>

#include "frontier/frontier_search.hpp"

namespace anonymatch::frontier {
namespace {

/// What taking one more row does to a column, summed over the row's columns: new columns count in
/// the low half, finished ones in the high half.
constexpr std::uint32_t fresh = 1;
constexpr std::uint32_t last_row = 1U << 16;

struct Node {
    double cost = 0;    // transitions so far
    double states = 1;  // of the present layer
    std::int32_t live = 0;
    std::int32_t gone = 0;
    std::uint64_t hash = 0;  // of the set of done rows
};

struct Child {
    Node node;
    double score;
    std::uint32_t parent;
    std::int32_t row;
};

std::uint64_t scrambled(std::uint64_t x) {
    x = (x + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 29)) * 0x94D049BB133111EBU;
    return x ^ (x >> 32);
}

class Beam {
public:
    Beam(const BlockView& block, std::size_t width)
        : block_(block),
          width_(width),
          n_rows_(static_cast<std::size_t>(block.n_rows)),
          n_columns_(static_cast<std::size_t>(block.n_columns)),
          degree_(n_columns_, 0),
          slack_(block.n_columns - block.n_rows) {
        for (const std::int32_t column : block.indices) ++degree_[static_cast<std::size_t>(column)];
        nodes_.push_back({});
        rows_left_ = degree_;
        effect_.resize(n_columns_);
        for (std::size_t c = 0; c < n_columns_; ++c)
            effect_[c] = fresh + (degree_[c] == 1 ? last_row : 0);
        done_.assign(n_rows_, 0);
    }

    std::vector<std::int32_t> search() {
        std::vector<std::vector<Step>> trail;
        for (std::int32_t t = 1; t <= block_.n_rows; ++t) {
            expand(t);
            trail.push_back(select());
        }
        std::vector<std::int32_t> order(n_rows_);
        std::size_t at = 0;
        for (std::size_t t = n_rows_; t-- > 0;) {
            order[t] = trail[t][at].row;
            at = trail[t][at].parent;
        }
        return order;
    }

private:
    struct Step {
        std::uint32_t parent;
        std::int32_t row;
    };

    void expand(std::int32_t done) {
        children_.clear();
        for (std::size_t p = 0; p < nodes_.size(); ++p) {
            const Node& node = nodes_[p];
            const std::uint32_t* effect = effect_.data() + p * n_columns_;
            const std::uint8_t* taken = done_.data() + p * n_rows_;
            bool adjacent_only = node.live > 0;
            for (std::size_t row = 0; row < n_rows_; ++row) {
                if (taken[row] != 0) continue;
                const std::int32_t first = block_.indptr[row];
                const std::int32_t last = block_.indptr[row + 1];
                std::uint32_t sum = 0;
                for (std::int32_t edge = first; edge < last; ++edge)
                    sum += effect[block_.indices[static_cast<std::size_t>(edge)]];
                const auto arriving = static_cast<std::int32_t>(sum & 0xFFFFU);
                if (adjacent_only && arriving == last - first) continue;
                const auto leaving = static_cast<std::int32_t>(sum >> 16);
                Child child;
                child.node.live = node.live + arriving - leaving;
                child.node.gone = node.gone + leaving;
                const std::int32_t least = done - child.node.gone;
                child.node.states =
                    subsets_between(child.node.live, least, std::min(done, least + slack_));
                child.node.cost = node.cost + node.states * (last - first);
                child.node.hash = node.hash ^ scrambled(row);
                child.score = child.node.cost + 10 * child.node.states;
                child.parent = static_cast<std::uint32_t>(p);
                child.row = static_cast<std::int32_t>(row);
                children_.push_back(child);
            }
        }
    }

    std::vector<Step> select() {
        // Ties by parent and row, so that the result does not depend on the sorting algorithm.
        const auto better = [](const Child& a, const Child& b) {
            if (a.score != b.score) return a.score < b.score;
            return a.parent != b.parent ? a.parent < b.parent : a.row < b.row;
        };
        std::vector<Step> steps;
        std::vector<Child> chosen;
        seen_.clear();
        // The same set is reached by many orders: sort a slice at a time until enough differ.
        auto sorted = children_.begin();
        while (chosen.size() < width_ && sorted != children_.end()) {
            const auto slice = std::min<std::ptrdiff_t>(children_.end() - sorted,
                                                        static_cast<std::ptrdiff_t>(2 * width_));
            const auto until = sorted + slice;
            if (until != children_.end()) std::nth_element(sorted, until, children_.end(), better);
            std::sort(sorted, until, better);
            for (; sorted != until && chosen.size() < width_; ++sorted) {
                if (!seen_.insert(sorted->node.hash).second) continue;
                chosen.push_back(*sorted);
                steps.push_back({sorted->parent, sorted->row});
            }
        }
        std::vector<Node> nodes(chosen.size());
        std::vector<std::int32_t> rows_left(chosen.size() * n_columns_);
        std::vector<std::uint32_t> effect(chosen.size() * n_columns_);
        std::vector<std::uint8_t> done(chosen.size() * n_rows_);
        for (std::size_t k = 0; k < chosen.size(); ++k) {
            const std::size_t parent = chosen[k].parent;
            nodes[k] = chosen[k].node;
            std::int32_t* left = rows_left.data() + k * n_columns_;
            std::uint32_t* effects = effect.data() + k * n_columns_;
            std::copy_n(rows_left_.data() + parent * n_columns_, n_columns_, left);
            std::copy_n(effect_.data() + parent * n_columns_, n_columns_, effects);
            std::copy_n(done_.data() + parent * n_rows_, n_rows_, done.data() + k * n_rows_);
            const auto row = static_cast<std::size_t>(chosen[k].row);
            done[k * n_rows_ + row] = 1;
            for (std::int32_t edge = block_.indptr[row]; edge < block_.indptr[row + 1]; ++edge) {
                const auto column =
                    static_cast<std::size_t>(block_.indices[static_cast<std::size_t>(edge)]);
                --left[column];
                effects[column] = left[column] == 1 ? last_row : 0;
            }
        }
        nodes_ = std::move(nodes);
        rows_left_ = std::move(rows_left);
        effect_ = std::move(effect);
        done_ = std::move(done);
        return steps;
    }

    const BlockView& block_;
    std::size_t width_;
    std::size_t n_rows_;
    std::size_t n_columns_;
    std::vector<std::int32_t> degree_;
    std::int32_t slack_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> rows_left_;  // by node and column
    std::vector<std::uint32_t> effect_;    // by node and column
    std::vector<std::uint8_t> done_;       // by node and row
    std::vector<Child> children_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

double beam_work(const BlockView& block) {
    return static_cast<double>(block.n_rows) *
           (2.0 * static_cast<double>(block.indices.size()) + 4.0 * block.n_rows);
}

std::vector<std::int32_t> beam_order(const BlockView& block, std::size_t width) {
    return Beam(block, width).search();
}

}  // namespace anonymatch::frontier
