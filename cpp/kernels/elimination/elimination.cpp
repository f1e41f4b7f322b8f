#include "elimination/elimination.hpp"

#include <algorithm>
#include <cstddef>

namespace anonymatch {
namespace {

using Index = std::int32_t;
using Indices = std::vector<Index>;
constexpr Index none = -1;

inline std::size_t at(Index index) noexcept {
    return static_cast<std::size_t>(index);
}

/// Vertices by their number of neighbours, as linked lists.
class Buckets {
public:
    explicit Buckets(std::size_t n)
        : first_(n + 1, none), next_(n, none), before_(n, none), of_(n, none) {}

    void put(Index v, Index degree) {
        if (of_[at(v)] == degree) return;
        if (of_[at(v)] != none) take(v);
        of_[at(v)] = degree;
        before_[at(v)] = none;
        next_[at(v)] = first_[at(degree)];
        if (next_[at(v)] != none) before_[at(next_[at(v)])] = v;
        first_[at(degree)] = v;
        least_ = std::min(least_, degree);
    }
    void take(Index v) {
        const Index before = before_[at(v)], next = next_[at(v)];
        if (before != none)
            next_[at(before)] = next;
        else
            first_[at(of_[at(v)])] = next;
        if (next != none) before_[at(next)] = before;
        of_[at(v)] = none;
    }
    /// There must be one.
    Index least() {
        while (first_[at(least_)] == none) ++least_;
        return first_[at(least_)];
    }

private:
    Indices first_, next_, before_, of_;
    Index least_ = 0;
};

}  // namespace

Elimination minimum_degree(std::span<const Index> starts, std::span<const Index> neighbours,
                           Index limit, CancelFlag cancel) {
    const std::size_t n = starts.size() - 1;
    std::vector<Indices> around(n);
    Buckets buckets(n);
    for (std::size_t v = 0; v < n; ++v) {
        around[v].assign(neighbours.begin() + starts[v], neighbours.begin() + starts[v + 1]);
        buckets.put(static_cast<Index>(v), static_cast<Index>(around[v].size()));
    }
    Elimination result;
    std::vector<Indices> fronts;
    Indices rank(n, none), joined;
    for (std::size_t k = 0; k < n; ++k) {
        if (k % 64 == 0 && cancel.raised()) return result;
        const Index v = buckets.least();
        buckets.take(v);
        Indices front = std::move(around[at(v)]);
        const auto size = static_cast<Index>(front.size());
        if (size > limit) return result;
        rank[at(v)] = static_cast<Index>(k);
        result.order.push_back(v);
        result.width = std::max(result.width, size);
        result.work += static_cast<double>(size) * size;
        for (const Index u : front) {
            Indices& own = around[at(u)];
            joined.clear();
            // The union of both, without the vertex itself and the one that goes.
            auto a = own.begin();
            auto b = front.begin();
            while (a != own.end() || b != front.end()) {
                Index w = none;
                if (b == front.end() || (a != own.end() && *a < *b)) {
                    w = *a++;
                } else {
                    w = *b;
                    if (a != own.end() && *a == w) ++a;
                    ++b;
                }
                if (w != u && w != v) joined.push_back(w);
            }
            own.assign(joined.begin(), joined.end());
            buckets.put(u, static_cast<Index>(own.size()));
        }
        fronts.push_back(std::move(front));
    }
    result.starts.push_back(0);
    for (Indices& front : fronts) {
        for (Index& u : front) u = rank[at(u)];
        std::sort(front.begin(), front.end());
        result.fronts.insert(result.fronts.end(), front.begin(), front.end());
        result.starts.push_back(static_cast<std::int64_t>(result.fronts.size()));
    }
    result.complete = true;
    return result;
}

}  // namespace anonymatch
