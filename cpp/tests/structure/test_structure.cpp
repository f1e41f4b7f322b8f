#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "check.hpp"
#include "structure/structure.hpp"
#include "structure/structure_parts.hpp"

using namespace anonymatch;

namespace {

using Indices = std::vector<std::int32_t>;

struct Graph {
    std::int32_t n_behaviours = 0;
    Indices indptr{0};
    Indices indices;

    Graph(std::int32_t behaviours, const std::vector<Indices>& rows) : n_behaviours(behaviours) {
        for (Indices row : rows) {
            std::sort(row.begin(), row.end());
            indices.insert(indices.end(), row.begin(), row.end());
            indptr.push_back(static_cast<std::int32_t>(indices.size()));
        }
    }

    [[nodiscard]] BipartiteView view() const {
        return {static_cast<std::int32_t>(indptr.size()) - 1, n_behaviours, indptr, indices};
    }
};

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

// Walks all matchings: the largest size, and the edges used by those that cover all users.
struct ByDefinition {
    explicit ByDefinition(const BipartiteView& graph)
        : view(graph), used(at(graph.n_behaviours), false) {
        allowed.assign(graph.indices.size(), false);
        walk(0);
    }

    void walk(std::int32_t user) {
        largest = std::max(largest, chosen.size());
        if (user == view.n_users) {
            if (chosen.size() == at(user)) {
                for (const std::int32_t edge : chosen) allowed[at(edge)] = true;
            }
            return;
        }
        for (std::int32_t edge = view.indptr[at(user)]; edge < view.indptr[at(user) + 1]; ++edge) {
            const std::size_t behaviour = at(view.indices[at(edge)]);
            if (used[behaviour]) continue;
            used[behaviour] = true;
            chosen.push_back(edge);
            walk(user + 1);
            chosen.pop_back();
            used[behaviour] = false;
        }
        walk(user + 1);
    }

    const BipartiteView view;
    std::vector<bool> used, allowed;
    Indices chosen;
    std::size_t largest = 0;
};

void check_matching(const BipartiteView& view, const Structure& found) {
    std::int32_t n_matched = 0;
    for (std::int32_t user = 0; user < view.n_users; ++user) {
        const std::int32_t behaviour = found.behaviour_of_user[at(user)];
        if (behaviour < 0) continue;
        ++n_matched;
        CHECK_EQUAL(found.user_of_behaviour[at(behaviour)], user);
        const auto* begin = view.indices.data() + view.indptr[at(user)];
        CHECK(
            std::binary_search(begin, view.indices.data() + view.indptr[at(user) + 1], behaviour));
    }
    CHECK_EQUAL(found.n_matched, n_matched);
    CHECK_EQUAL(std::count_if(found.user_of_behaviour.begin(), found.user_of_behaviour.end(),
                              [](std::int32_t user) { return user >= 0; }),
                n_matched);
}

void check_witness(const BipartiteView& view, const Structure& found) {
    std::set<std::int32_t> reached;
    for (const std::int32_t user : found.witness_users) {
        reached.insert(view.indices.begin() + view.indptr[at(user)],
                       view.indices.begin() + view.indptr[at(user) + 1]);
    }
    CHECK(std::is_sorted(found.witness_users.begin(), found.witness_users.end()));
    CHECK(Indices(reached.begin(), reached.end()) == found.witness_behaviours);
    CHECK_EQUAL(found.witness_behaviours.size() + 1, found.witness_users.size());
}

// Blocks are numbered by their smallest user, hold as many behaviours as users or more, and are
// connected.
void check_numbering(const BipartiteView& view, const Structure& found) {
    std::int32_t next = 0;
    for (const std::int32_t block : found.block_of_user) {
        CHECK(block <= next);
        next = std::max(next, block + 1);
    }
    CHECK_EQUAL(next, found.n_blocks);
    std::set<std::int32_t> with_edge(view.indices.begin(), view.indices.end());
    for (std::int32_t b = 0; b < view.n_behaviours; ++b) {
        CHECK_EQUAL(found.block_of_behaviour[at(b)] >= 0, with_edge.count(b) == 1);
    }
}

void check_table(const BipartiteView& view, const Structure& found,
                 const std::vector<double>& weights, const BlockTable& table) {
    std::size_t n_allowed = 0;
    for (std::int32_t user = 0; user < view.n_users; ++user) {
        for (std::int32_t edge = view.indptr[at(user)]; edge < view.indptr[at(user) + 1]; ++edge) {
            n_allowed += found.block_of_user[at(user)] ==
                         found.block_of_behaviour[at(view.indices[at(edge)])];
        }
    }
    CHECK_EQUAL(table.edges.size(), n_allowed);
    CHECK_EQUAL(table.local_indices.size(), n_allowed);
    CHECK_EQUAL(table.row_offsets.back(), static_cast<std::int32_t>(n_allowed));
    CHECK_EQUAL(table.users.size(), at(view.n_users));
    std::set<std::int32_t> edges(table.edges.begin(), table.edges.end());
    CHECK_EQUAL(edges.size(), n_allowed);
    const auto signature = [&](std::size_t k) {
        std::vector<double> all{
            static_cast<double>(table.behaviour_offsets[k + 1] - table.behaviour_offsets[k])};
        for (std::int32_t p = table.user_offsets[k]; p <= table.user_offsets[k + 1]; ++p) {
            all.push_back(table.row_offsets[at(p)] - table.edge_offsets[k]);
        }
        for (std::int32_t e = table.edge_offsets[k]; e < table.edge_offsets[k + 1]; ++e) {
            all.push_back(table.local_indices[at(e)]);
            if (!weights.empty()) all.push_back(weights[at(table.edges[at(e)])]);
        }
        return all;
    };
    std::int32_t next_class = 0;
    std::set<std::vector<double>> different;
    for (std::size_t k = 0; k < at(found.n_blocks); ++k) {
        CHECK_EQUAL(table.edge_offsets[k], table.row_offsets[at(table.user_offsets[k])]);
        for (std::int32_t p = table.user_offsets[k]; p < table.user_offsets[k + 1]; ++p) {
            const std::int32_t user = table.users[at(p)];
            CHECK_EQUAL(at(found.block_of_user[at(user)]), k);
            std::int32_t last = -1;
            for (std::int32_t i = table.row_offsets[at(p)]; i < table.row_offsets[at(p) + 1]; ++i) {
                const std::int32_t local = table.local_indices[at(i)], edge = table.edges[at(i)];
                CHECK(local > last);
                last = local;
                CHECK(edge >= view.indptr[at(user)] && edge < view.indptr[at(user) + 1]);
                CHECK_EQUAL(table.behaviours[at(table.behaviour_offsets[k] + local)],
                            view.indices[at(edge)]);
            }
        }
        const std::int32_t label = table.class_of_block[k];
        CHECK(label <= next_class);
        if (label == next_class) {
            ++next_class;
            CHECK_EQUAL(at(table.class_first[at(label)]), k);
            CHECK(different.insert(signature(k)).second);
        }
        CHECK(signature(k) == signature(at(table.class_first[at(label)])));
    }
    CHECK_EQUAL(table.class_first.size(), at(next_class));
}

void check_against_definition(const Graph& graph) {
    const BipartiteView view = graph.view();
    const Structure found = find_structure(view);
    const ByDefinition truth(view);
    check_matching(view, found);
    CHECK_EQUAL(at(found.n_matched), truth.largest);
    if (found.n_matched < view.n_users) {
        CHECK_EQUAL(found.n_blocks, 0);
        check_witness(view, found);
        return;
    }
    CHECK(found.witness_users.empty() && found.witness_behaviours.empty());
    check_numbering(view, found);
    for (std::int32_t user = 0; user < view.n_users; ++user) {
        for (std::int32_t edge = view.indptr[at(user)]; edge < view.indptr[at(user) + 1]; ++edge) {
            const bool same = found.block_of_user[at(user)] ==
                              found.block_of_behaviour[at(view.indices[at(edge)])];
            CHECK_EQUAL(same, static_cast<bool>(truth.allowed[at(edge)]));
        }
    }
    check_table(view, found, {}, build_block_table(view, found));
    std::vector<double> weights;
    for (std::size_t i = 0; i < graph.indices.size(); ++i)
        weights.push_back(i % 3 == 0 ? 2.0 : 1.0);
    check_table(view, found, weights, build_block_table(view, found, weights));
}

void random_small_graphs() {
    std::mt19937 random(20);
    for (int trial = 0; trial < 6000; ++trial) {
        const auto n_users = static_cast<std::int32_t>(random() % 6);
        const auto n_behaviours = static_cast<std::int32_t>(random() % 8);
        const std::size_t sparsity = 1 + random() % 5;
        std::vector<Indices> rows(at(n_users));
        for (Indices& row : rows) {
            for (std::int32_t b = 0; b < n_behaviours; ++b) {
                if (random() % sparsity == 0) row.push_back(b);
            }
        }
        check_against_definition(Graph(n_behaviours, rows));
    }
}

void hand_made_graphs() {
    const Graph triangle(3, {{0, 1}, {1}, {0, 1, 2}});  // nested: only the diagonal is allowed
    const Structure nested = find_structure(triangle.view());
    CHECK_EQUAL(nested.n_blocks, 3);
    CHECK(nested.block_of_behaviour == (Indices{0, 1, 2}));

    const Graph wide(4,
                     {{0, 1}, {1}, {2, 3}});  // user 1 needs behaviour 1; user 2 may leave 2 or 3
    const Structure rectangular = find_structure(wide.view());
    CHECK(rectangular.block_of_user == (Indices{0, 1, 2}));
    CHECK(rectangular.block_of_behaviour == (Indices{0, 1, 2, 2}));

    const Graph crowded(4, {{0, 1, 2, 3}, {0, 1}, {0, 1}, {0, 1}, {3}, {3}});
    const Structure witness = find_structure(crowded.view());
    CHECK_EQUAL(witness.n_matched, 4);
    CHECK(witness.witness_users == (Indices{4, 5}));
    CHECK(witness.witness_behaviours == (Indices{3}));

    const Structure idle = find_structure(Graph(1, {{0}, {}}).view());
    CHECK(idle.witness_users == (Indices{1}));
    CHECK(idle.witness_behaviours.empty());

    const Structure empty = find_structure(Graph(0, {}).view());
    CHECK_EQUAL(empty.n_blocks, 0);
    CHECK_EQUAL(empty.n_matched, 0);
}

// Depth of the searches is the length of the chain: nothing may recurse.
void long_chains() {
    const std::int32_t n = 300000;
    std::vector<Indices> rows(at(n));
    for (std::int32_t u = 0; u < n; ++u) rows[at(u)] = {u, (u + 1) % n};
    const Graph ring(n, rows);
    const Structure found = find_structure(ring.view());
    CHECK_EQUAL(found.n_matched, n);
    CHECK_EQUAL(found.n_blocks, 1);

    rows.back() = {n - 1};
    CHECK_EQUAL(find_structure(Graph(n, rows).view()).n_blocks, n);

    rows.back() = {0};
    const Structure path = find_structure(Graph(n, rows).view());
    CHECK_EQUAL(path.n_matched, n);

    rows.push_back({0, 1});
    const Structure crowded = find_structure(Graph(n, rows).view());
    CHECK_EQUAL(crowded.n_matched, n);
    check_witness(Graph(n, rows).view(), crowded);
}

// Copies of one block, hidden by random numbers of users and behaviours, are all of one class.
void hidden_copies(const std::vector<Indices>& pattern, std::int32_t n_behaviours) {
    std::mt19937 random(7);
    const std::int32_t copies = 50;
    const auto n_users = static_cast<std::int32_t>(pattern.size());
    Indices users(at(copies * n_users)), behaviours(at(copies * n_behaviours));
    std::iota(users.begin(), users.end(), 0);
    std::iota(behaviours.begin(), behaviours.end(), 0);
    std::shuffle(users.begin(), users.end(), random);
    std::shuffle(behaviours.begin(), behaviours.end(), random);
    std::vector<Indices> rows(users.size());
    for (std::int32_t k = 0; k < copies; ++k) {
        for (std::int32_t u = 0; u < n_users; ++u) {
            for (const std::int32_t b : pattern[at(u)]) {
                rows[at(users[at(k * n_users + u)])].push_back(
                    behaviours[at(k * n_behaviours + b)]);
            }
        }
    }
    const Graph graph(copies * n_behaviours, rows);
    const Structure found = find_structure(graph.view());
    CHECK_EQUAL(found.n_blocks, copies);
    const BlockTable table = build_block_table(graph.view(), found);
    check_table(graph.view(), found, {}, table);
    CHECK_EQUAL(table.class_first.size(), std::size_t{1});
}

// Both ways to finish a matching agree; sizes are above the limits at which large graphs are
// treated differently.
void ways_to_match(std::int32_t n, std::int32_t degree, int trials) {
    std::mt19937 random(static_cast<unsigned>(n));
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<Indices> rows(at(n));
        for (Indices& row : rows) {
            std::set<std::int32_t> chosen;
            for (std::int32_t i = 0; i < degree; ++i) {
                chosen.insert(static_cast<std::int32_t>(random() % static_cast<unsigned>(n)));
            }
            row.assign(chosen.begin(), chosen.end());
        }
        const Graph graph(n, rows);
        const BipartiteView view = graph.view();
        Structure by_search, by_phases;
        structure_parts::ByBehaviour by_behaviour(view);
        structure_parts::find_matching(view, by_behaviour, {}, by_search);
        structure_parts::find_matching(view, by_behaviour, {}, by_phases, 0);
        check_matching(view, by_search);
        check_matching(view, by_phases);
        CHECK_EQUAL(by_search.n_matched, by_phases.n_matched);
    }
}

// A ring with chords is one block; a second one behind it, reached by one-way edges, is another.
void two_giants() {
    const std::int32_t half = 70000, n = 2 * half;
    std::mt19937 random(3);
    Indices behaviours(at(n)), users(at(n));
    std::iota(users.begin(), users.end(), 0);
    std::iota(behaviours.begin(), behaviours.end(), 0);
    std::shuffle(users.begin(), users.end(), random);
    std::shuffle(behaviours.begin(), behaviours.end(), random);
    std::vector<Indices> rows(at(n));
    for (std::int32_t u = 0; u < n; ++u) {
        const std::int32_t base = u < half ? 0 : half;
        std::set<std::int32_t> row{u, base + (u - base + 1) % half};
        for (int chord = 0; chord < 3; ++chord) {
            row.insert(base + static_cast<std::int32_t>(random() % static_cast<unsigned>(half)));
        }
        if (u % 1000 == 0)
            row.insert(half + static_cast<std::int32_t>(random() % static_cast<unsigned>(half)));
        for (const std::int32_t b : row) rows[at(users[at(u)])].push_back(behaviours[at(b)]);
    }
    const Graph graph(n, rows);
    const Structure found = find_structure(graph.view());
    check_matching(graph.view(), found);
    CHECK_EQUAL(found.n_matched, n);
    CHECK_EQUAL(found.n_blocks, 2);
    for (std::int32_t u = 0; u < n; ++u) {
        const bool first =
            found.block_of_user[at(users[at(u)])] == found.block_of_user[at(users[0])];
        CHECK_EQUAL(first, u < half);
    }
}

void stopping() {
    const std::uint8_t raised = 1;
    const Graph graph(3, {{0, 1}, {1, 2}, {0, 2}});
    CHECK(find_structure(graph.view(), CancelFlag(&raised)).stopped);
    const Structure found = find_structure(graph.view());
    CHECK(!found.stopped);
    CHECK(build_block_table(graph.view(), found, {}, CancelFlag(&raised)).stopped);
    CHECK(find_structure(Graph(1, {{0}, {0}}).view(), CancelFlag(&raised)).stopped);
}

}  // namespace

int main() {
    random_small_graphs();
    hand_made_graphs();
    long_chains();
    std::vector<Indices> ring, irregular{{0, 1, 2}, {1, 3, 4}, {0, 4}, {2, 3}, {0, 1, 2, 3, 4}};
    for (std::int32_t u = 0; u < 10; ++u) ring.push_back({u, (u + 1) % 10, (u + 3) % 10});
    hidden_copies(ring, 10);
    hidden_copies(irregular, 5);
    hidden_copies({{0, 1, 2, 3}, {0, 1, 2, 3}, {2, 3, 4}}, 5);
    ways_to_match(40, 2, 300);
    ways_to_match(500, 3, 40);
    ways_to_match(140000, 3, 1);
    // Many choices a user: scarce behaviours first.
    ways_to_match(60, 5, 300);
    ways_to_match(500, 6, 40);
    ways_to_match(20000, 9, 2);
    ways_to_match(140000, 7, 1);
    two_giants();
    stopping();
    return check::report("test_structure");
}
