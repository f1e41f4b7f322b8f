#include "importance/importance.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "belief_propagation/messages.hpp"
#include "common/random.hpp"
#include "importance/importance_leaf.hpp"
#include "importance/importance_part.hpp"
#include "structure/structure.hpp"

namespace anonymatch {
namespace {

constexpr int root_sweeps = 200;
constexpr double root_tolerance = 1e-4;
constexpr int part_sweeps = 30;
constexpr double part_tolerance = 1e-2;
/// The share of rows at which what is left is reduced again. With two children, half would keep the
/// cost of all depths alike; a little less was the best in error for time.
constexpr double share_left = 0.4;

/// What is left of a part after a descent, in numbers of its own, and its blocks.
struct Rest {
    std::vector<Index> rows, columns;            // vertices of the part
    std::vector<Index> indptr, indices, origin;  // CSR, and the part's edges
    std::vector<Index> number;                   // of a part's column, in the CSR
    Structure blocks;
    std::vector<Index> block_start, block_rows;  // rows of the CSR by block
    std::vector<Index> block_sizes;              // columns numbered so far
    std::vector<Index> column_number;            // within its block

    void read(const Part& part, const Descent& descent);
    /// False when it has no perfect matching.
    bool split(CancelFlag cancel);
    /// Calls visit(column within the block, edge of the part) for the edges of a row in its block.
    template <class Visit>
    void each_edge(Index row, const Visit& visit) const {
        for (std::size_t k = at(indptr[at(row)]); k < at(indptr[at(row) + 1]); ++k) {
            const std::size_t column = at(indices[k]);
            if (blocks.block_of_behaviour[column] == blocks.block_of_user[at(row)])
                visit(column_number[column], origin[k]);
        }
    }
};

void Rest::read(const Part& part, const Descent& descent) {
    const std::size_t n = at(part.n);
    rows.clear();
    columns.clear();
    number.assign(n, -1);
    for (std::size_t j = 0; j < n; ++j) {
        if (!descent.alive(n + j)) continue;
        number[j] = static_cast<Index>(columns.size());
        columns.push_back(static_cast<Index>(n + j));
    }
    indptr.assign(1, 0);
    indices.clear();
    origin.clear();
    for (std::size_t i = 0; i < n; ++i) {
        if (!descent.alive(i)) continue;
        rows.push_back(static_cast<Index>(i));
        for (std::size_t e = part.start[i]; e < part.start[i + 1]; ++e) {
            const Index column = number[at(part.edges[e].end[1]) - n];
            if (column < 0) continue;
            indices.push_back(column);
            origin.push_back(static_cast<Index>(e));
        }
        indptr.push_back(static_cast<Index>(indices.size()));
    }
}

bool Rest::split(CancelFlag cancel) {
    const auto size = static_cast<Index>(rows.size());
    blocks = find_structure({size, size, indptr, indices}, cancel);
    if (blocks.stopped || blocks.n_matched != size) return false;
    block_start.assign(at(blocks.n_blocks) + 1, 0);
    for (const Index block : blocks.block_of_user) ++block_start[at(block) + 1];
    for (std::size_t b = 0; b < at(blocks.n_blocks); ++b) block_start[b + 1] += block_start[b];
    block_rows.resize(rows.size());
    block_sizes.assign(block_start.begin(), block_start.end() - 1);
    for (Index row = 0; row < size; ++row)
        block_rows[at(block_sizes[at(blocks.block_of_user[at(row)])]++)] = row;
    block_sizes.assign(at(blocks.n_blocks), 0);
    column_number.resize(rows.size());
    for (std::size_t j = 0; j < rows.size(); ++j)
        column_number[j] = block_sizes[at(blocks.block_of_behaviour[j])]++;
    return true;
}

/// One depth of the tree: a part, a run down from it, and what is known about it.
struct Level {
    const Part* part = nullptr;
    Part own;
    std::vector<Index> origin;    // edges of the part above
    std::vector<Index> followed;  // columns by row, when a matching is followed
    Descent descent;
    Rest rest;
    std::vector<double> marginals, run_marginals;  // by edge
    std::vector<Index> choice, run_choice;         // edges by row
    // To make parts from.
    std::vector<Index> indptr, indices;
    Sweeps state;
};

/// The tree of one draw after another.
class Tree {
public:
    Tree(const Part& root, const ImportanceOptions& options, const ImportanceWishes& wishes,
         CancelFlag cancel)
        : options_(options), wishes_(wishes), cancel_(cancel) {
        level(0).part = &root;
    }

    /// The log weight of a draw but for the root's scale.
    double draw(Random random, std::span<const Index> followed) {
        random_ = random;
        level(0).followed.assign(followed.begin(), followed.end());
        if (root().n > exact_rows) return run(0);
        Level& top = level(0);
        prepare(top);
        leaf_.clear();
        leaf_origin_.clear();
        for (Index i = 0; i < root().n; ++i) {
            for (std::size_t e = root().start[at(i)]; e < root().start[at(i) + 1]; ++e) {
                leaf_.add_edge(root().edges[e].end[1] - root().n, root().edges[e].weight);
                leaf_origin_.push_back(static_cast<Index>(e));
            }
            leaf_.end_row();
        }
        return solve_leaf(top);
    }

    [[nodiscard]] const std::vector<double>& marginals() const { return levels_[0]->run_marginals; }
    [[nodiscard]] const std::vector<Index>& choice() const { return levels_[0]->run_choice; }
    [[nodiscard]] const Part& root() const { return *levels_[0]->part; }

private:
    Level& level(std::size_t depth) {
        while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
        return *levels_[depth];
    }

    void prepare(Level& here) const {
        if (wishes_.marginals) here.run_marginals.assign(here.part->edges.size(), 0.0);
        if (wishes_.matchings) here.run_choice.assign(at(here.part->n), -1);
    }

    /// One run down: unbiased for the part's permanent. Log.
    double run(std::size_t depth) {
        Level& here = level(depth);
        const Index rows_left = std::max(static_cast<Index>(share_left * here.part->n), exact_rows);
        if (!here.descent.run(*here.part, options_, rows_left, random_, here.followed, cancel_))
            return -HUGE_VAL;
        prepare(here);
        for (const Index e : here.descent.chosen()) note(here, e, 1.0);
        here.rest.read(*here.part, here.descent);
        if (!here.rest.split(cancel_)) return -HUGE_VAL;
        double log = here.descent.log_weight();
        for (Index block = 0; block < here.rest.blocks.n_blocks && log > -HUGE_VAL; ++block)
            log += solve_block(depth, block);
        return log;
    }

    void note(Level& here, Index edge, double chance) const {
        if (wishes_.marginals) here.run_marginals[at(edge)] = chance;
        if (wishes_.matchings && chance == 1.0)
            here.run_choice[at(here.part->edges[at(edge)].end[0])] = edge;
    }

    double solve_block(std::size_t depth, Index block) {
        Level& here = level(depth);
        const Rest& rest = here.rest;
        const Index first = rest.block_start[at(block)];
        const Index size = rest.block_start[at(block) + 1] - first;
        const std::span<const Index> rows(rest.block_rows.data() + first, at(size));
        if (size == 1) {
            Index only = -1;
            rest.each_edge(rows[0], [&](Index, Index e) { only = e; });
            note(here, only, 1.0);
            return std::log(here.part->edges[at(only)].weight);
        }
        if (size <= exact_rows) {
            leaf_.clear();
            leaf_origin_.clear();
            for (const Index row : rows) {
                rest.each_edge(row, [&](Index column, Index e) {
                    leaf_.add_edge(column, here.part->edges[at(e)].weight);
                    leaf_origin_.push_back(e);
                });
                leaf_.end_row();
            }
            return solve_leaf(here);
        }
        const double log_scale = make_below(depth, rows);
        return log_scale + estimate(depth + 1, here);
    }

    double solve_leaf(Level& here) {
        const double log = leaf_.solve();
        if (wishes_.marginals) {
            leaf_.marginals(leaf_chances_);
            for (std::size_t k = 0; k < leaf_chances_.size(); ++k)
                here.run_marginals[at(leaf_origin_[k])] = leaf_chances_[k];
        }
        if (wishes_.matchings) {
            leaf_.sample(random_, leaf_choice_);
            for (const Index k : leaf_choice_) {
                const Index e = leaf_origin_[at(k)];
                here.run_choice[at(here.part->edges[at(e)].end[0])] = e;
            }
        }
        return log;
    }

    /// Makes the part of the next level from a block of what is left. Gives the log of its scale.
    double make_below(std::size_t depth, std::span<const Index> rows) {
        Level& below = level(depth + 1);
        const Level& here = level(depth);
        const Rest& rest = here.rest;
        below.indptr.assign(1, 0);
        below.indices.clear();
        below.origin.clear();
        below.followed.clear();
        below.state.scaled.clear();
        below.state.complements.clear();
        double log_scale = 0;
        for (const Index row : rows) {
            const auto vertex = at(rest.rows[at(row)]);
            rest.each_edge(row, [&](Index column, Index e) {
                const PartEdge& edge = here.descent.edges()[at(e)];
                const double sum = here.descent.sum(at(edge.end[1]));
                below.indices.push_back(column);
                below.origin.push_back(e);
                below.state.scaled.push_back(
                    std::max(edge.weight / (here.descent.sum(vertex) * sum), least_scaled_weight));
                below.state.complements.push_back(std::clamp(1.0 - edge.to[1] / sum, 1e-6, 1.0));
            });
            below.indptr.push_back(static_cast<Index>(below.indices.size()));
            log_scale += std::log(here.descent.sum(vertex));
            // Every row has one column of the block as its partner.
            const Index partner = rest.columns[at(rest.blocks.behaviour_of_user[at(row)])];
            log_scale += std::log(here.descent.sum(at(partner)));
            if (!here.followed.empty()) {
                const Index wanted = here.followed[vertex];
                below.followed.push_back(rest.column_number[at(rest.number[at(wanted)])]);
            }
        }
        const SquareBlock block{static_cast<Index>(rows.size()), below.indptr, below.indices, {}};
        make_part(block, below.state, options_.kappa, part_sweeps, part_tolerance, sweeper_,
                  below.own, cancel_);
        below.part = &below.own;
        return log_scale + below.own.log_scale;
    }

    /// The mean over independent runs; marginals and a matching in proportion to their weights.
    double estimate(std::size_t depth, Level& above) {
        Level& here = level(depth);
        double scale = -HUGE_VAL, total = 0;
        if (wishes_.marginals) here.marginals.assign(here.part->edges.size(), 0.0);
        for (int child = 0; child < options_.children; ++child) {
            const double log = run(depth);
            if (log == -HUGE_VAL) continue;
            if (log > scale) {
                const double shrink = std::exp(scale - log);
                total *= shrink;
                for (double& chance : here.marginals) chance *= shrink;
                scale = log;
            }
            const double weight = std::exp(log - scale);
            total += weight;
            if (wishes_.marginals)
                for (std::size_t e = 0; e < here.marginals.size(); ++e)
                    here.marginals[e] += weight * here.run_marginals[e];
            if (wishes_.matchings && random_.unit() * total <= weight)
                here.choice.swap(here.run_choice);
        }
        if (total == 0) return -HUGE_VAL;
        if (wishes_.marginals)
            for (std::size_t e = 0; e < here.marginals.size(); ++e)
                above.run_marginals[at(here.origin[e])] = here.marginals[e] / total;
        if (wishes_.matchings)
            for (const Index chosen : here.choice) {
                const Index e = here.origin[at(chosen)];
                above.run_choice[at(above.part->edges[at(e)].end[0])] = e;
            }
        return scale + std::log(total / options_.children);
    }

    ImportanceOptions options_;
    ImportanceWishes wishes_;
    CancelFlag cancel_;
    Random random_{0, 0};
    std::vector<std::unique_ptr<Level>> levels_;
    Sweeper sweeper_;
    Leaf leaf_;
    std::vector<Index> leaf_origin_, leaf_choice_;
    std::vector<double> leaf_chances_;
};

/// Adds one draw's marginals; all sums are relative to the largest weight so far.
void accumulate(ImportanceDraws& draws, double log, const std::vector<double>& marginals) {
    if (log == -HUGE_VAL) return;
    if (log > draws.scale) {
        const double shrink = std::exp(draws.scale - log);
        for (double& sum : draws.first) sum *= shrink;
        for (double& sum : draws.square) sum *= shrink * shrink;
        for (double& sum : draws.second) sum *= shrink * shrink;
        draws.scale = log;
    }
    const double weight = std::exp(log - draws.scale);
    for (std::size_t e = 0; e < marginals.size(); ++e) {
        const double term = weight * marginals[e];
        draws.first[e] += term;
        draws.square[e] += weight * term;
        draws.second[e] += term * term;
    }
}

}  // namespace

class Importance::Job {
public:
    Job(const SquareBlock& block, const ImportanceOptions& options, CancelFlag cancel)
        : options_(options) {
        Sweeps state = scaled_weights(block);
        const double scale = state.log_scale;
        Sweeper sweeper;
        const int sweeps = block.n == 1 ? 0 : root_sweeps;
        make_part(block, state, options.kappa, sweeps, root_tolerance, sweeper, root_, cancel);
        log_scale_ = scale + root_.log_scale;
    }

    [[nodiscard]] ImportanceDraws draws(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                        const ImportanceWishes& wishes, CancelFlag cancel) const {
        ImportanceDraws result;
        result.scale = -HUGE_VAL;
        if (wishes.marginals) {
            result.first.assign(root_.edges.size(), 0.0);
            result.square = result.second = result.first;
        }
        Tree tree(root_, options_, wishes, cancel);
        for (std::uint64_t index = first; index < last; ++index) {
            const double log = log_scale_ + tree.draw(Random(seed, index), {});
            if (cancel.raised()) break;
            result.log_weights.push_back(log);
            if (wishes.marginals) {
                accumulate(result, log, tree.marginals());
            } else {
                result.scale = std::max(result.scale, log);
            }
            if (wishes.matchings) append(tree, log, result.matchings);
        }
        if (result.scale == -HUGE_VAL) result.scale = 0;
        return result;
    }

    [[nodiscard]] std::vector<double> log_weights_of(std::span<const Index> matchings,
                                                     CancelFlag cancel) const {
        ImportanceOptions plain = options_;
        plain.children = 1;
        Tree tree(root_, plain, {}, cancel);
        std::vector<double> logs;
        const std::size_t n = at(root_.n);
        if (matchings.size() % n != 0) throw std::invalid_argument("matchings of another block");
        for (std::size_t first = 0; first < matchings.size() && !cancel.raised(); first += n) {
            const auto matching = matchings.subspan(first, n);
            check(matching);
            const double log = log_scale_ + tree.draw(Random(0, 0), matching);
            if (!cancel.raised()) logs.push_back(log);
        }
        return logs;
    }

private:
    void append(const Tree& tree, double log, std::vector<Index>& matchings) const {
        for (std::size_t i = 0; i < at(root_.n); ++i)
            matchings.push_back(
                log == -HUGE_VAL ? -1 : root_.edges[at(tree.choice()[i])].end[1] - root_.n);
    }

    void check(std::span<const Index> matching) const {
        std::vector<std::uint8_t> used(matching.size(), 0);
        for (std::size_t i = 0; i < matching.size(); ++i) {
            bool found = false;
            for (std::size_t e = root_.start[i]; e < root_.start[i + 1]; ++e)
                found = found || root_.edges[e].end[1] - root_.n == matching[i];
            if (!found || used[at(matching[i])]++ != 0)
                throw std::invalid_argument("not a perfect matching of the block");
        }
    }

    ImportanceOptions options_;
    Part root_;
    double log_scale_ = 0;
};

Importance::Importance(const SquareBlock& block, const ImportanceOptions& options,
                       CancelFlag cancel)
    : job_(std::make_unique<const Job>(block, options, cancel)) {}
Importance::~Importance() = default;
Importance::Importance(Importance&&) noexcept = default;
Importance& Importance::operator=(Importance&&) noexcept = default;

ImportanceDraws Importance::draws(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                  const ImportanceWishes& wishes, CancelFlag cancel) const {
    return job_->draws(seed, first, last, wishes, cancel);
}

std::vector<double> Importance::log_weights_of(std::span<const std::int32_t> matchings,
                                               CancelFlag cancel) const {
    return job_->log_weights_of(matchings, cancel);
}

}  // namespace anonymatch
