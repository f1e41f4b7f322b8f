#include "table_chain/table_chain.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

#include "common/random.hpp"

namespace anonymatch {

namespace {

constexpr std::uint64_t looks = 1ULL << 16;  // steps between looks at the flag

std::size_t at(std::int32_t number) {
    return static_cast<std::size_t>(number);
}

}  // namespace

/// One chain under way.
class TableWalk {
public:
    TableWalk(const TableChain& chain, std::span<const std::int32_t> start, std::uint64_t seed,
              std::uint64_t index)
        : chain_(chain),
          random_(seed, index),
          numbers_(start.begin(), start.end()),
          sums_(start.size(), 0.0),
          since_(start.size(), 0) {
        pair_of_person_.reserve(at(chain.person_begins_.back()));
        for (std::size_t pair = 0; pair < start.size(); ++pair)
            pair_of_person_.insert(pair_of_person_.end(), at(start[pair]),
                                   static_cast<std::int32_t>(pair));
    }

    /// False if it was stopped before all had rows again.
    bool worm(std::uint64_t most_steps, CancelFlag cancel) {
        const std::size_t first = below(pair_of_person_.size());
        std::size_t person = first;
        std::int32_t gone = pair_of_person_[first];
        change(at(gone), -1);
        do {
            if (++steps_ % looks == 0 && (cancel.raised() || steps_ > most_steps)) return false;
            const std::int32_t pair = pick(at(chain_.classes_[at(gone)]), person);
            change(at(pair), 1);
            gone = std::exchange(pair_of_person_[person], pair);
            if (person != first) change(at(gone), -1);
        } while (person != first);
        ++now_;
        return true;
    }

    TableStretch stretch() {
        for (std::size_t pair = 0; pair < numbers_.size(); ++pair) {
            change(pair, 0);
            sums_[pair] /= static_cast<double>(std::max<std::uint64_t>(now_, 1));
        }
        return {std::move(sums_), std::move(numbers_), now_, steps_};
    }

private:
    std::size_t below(std::size_t size) {
        return static_cast<std::size_t>(random_.unit() * static_cast<double>(size));
    }

    /// Somebody who fits a class, and the pair of the two.
    std::int32_t pick(std::size_t class_, std::size_t& person) {
        const auto all = chain_.people_to_.begin();
        const auto from = all + chain_.class_begins_[class_];
        const auto to = all + chain_.class_begins_[class_ + 1];
        const auto who = static_cast<std::int64_t>(below(static_cast<std::size_t>(*(to - 1))));
        const auto found = std::upper_bound(from, to, who);
        const std::int64_t before = found == from ? 0 : *(found - 1);
        const std::int32_t pair = chain_.of_class_[static_cast<std::size_t>(found - all)];
        person = at(chain_.person_begins_[at(chain_.kinds_[at(pair)])]) +
                 static_cast<std::size_t>(who - before);
        return pair;
    }

    /// The number stood since its last change; within a worm no time goes by.
    void change(std::size_t pair, std::int32_t moved) {
        sums_[pair] += static_cast<double>(now_ - since_[pair]) * numbers_[pair];
        since_[pair] = now_;
        numbers_[pair] += moved;
    }

    const TableChain& chain_;
    Random random_;
    std::vector<std::int32_t> pair_of_person_;
    std::vector<std::int32_t> numbers_;
    std::vector<double> sums_;
    std::vector<std::uint64_t> since_;
    std::uint64_t now_ = 0, steps_ = 0;
};

TableChain::TableChain(std::span<const std::int32_t> kinds, std::span<const std::int32_t> classes,
                       std::span<const std::int32_t> people)
    : kinds_(kinds.begin(), kinds.end()),
      classes_(classes.begin(), classes.end()),
      person_begins_(people.size() + 1, 0) {
    if (kinds.empty() || kinds.size() != classes.size() || kinds.front() != 0 || kinds.back() < 0 ||
        at(kinds.back()) + 1 != people.size())
        throw std::invalid_argument("pairs that do not fit");
    std::int64_t total = 0;
    for (std::size_t k = 0; k < people.size(); ++k) {
        total += people[k];
        if (people[k] < 1 || total > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("people of a kind");
        person_begins_[k + 1] = static_cast<std::int32_t>(total);
    }
    for (std::size_t pair = 0; pair < kinds.size(); ++pair) {
        const bool next = pair == 0 || kinds[pair] == kinds[pair - 1] + 1;
        const bool same = !next && kinds[pair] == kinds[pair - 1];
        if (classes[pair] < 0 || !(next || (same && classes[pair - 1] < classes[pair])))
            throw std::invalid_argument("pairs that are not sorted");
    }
    const auto last = *std::max_element(classes.begin(), classes.end());
    class_begins_.assign(at(last) + 2, 0);
    for (const std::int32_t class_ : classes) ++class_begins_[at(class_) + 1];
    if (std::find(class_begins_.begin() + 1, class_begins_.end(), 0) != class_begins_.end())
        throw std::invalid_argument("a class without pairs");
    for (std::size_t k = 1; k < class_begins_.size(); ++k) class_begins_[k] += class_begins_[k - 1];
    of_class_.resize(classes.size());
    people_to_.resize(classes.size());
    auto next = class_begins_;
    for (std::size_t pair = 0; pair < classes.size(); ++pair) {
        const std::size_t class_ = at(classes[pair]), place = at(next[class_]++);
        const bool first = place == at(class_begins_[class_]);
        of_class_[place] = static_cast<std::int32_t>(pair);
        people_to_[place] = people[at(kinds[pair])] + (first ? 0 : people_to_[place - 1]);
    }
}

bool TableChain::is_table(std::span<const std::int32_t> numbers) const {
    if (numbers.size() != kinds_.size()) return false;
    std::vector<std::int64_t> given(person_begins_.size() - 1, 0);
    for (std::size_t pair = 0; pair < numbers.size(); ++pair) {
        if (numbers[pair] < 0) return false;
        given[at(kinds_[pair])] += numbers[pair];
    }
    for (std::size_t k = 0; k < given.size(); ++k)
        if (given[k] != person_begins_[k + 1] - person_begins_[k]) return false;
    return true;
}

TableStretch TableChain::run(std::span<const std::int32_t> start, std::uint64_t seed,
                             std::uint64_t index, std::uint64_t worms, std::uint64_t most_steps,
                             CancelFlag cancel) const {
    if (!is_table(start)) throw std::invalid_argument("a start that is no table");
    TableWalk walk(*this, start, seed, index);
    for (std::uint64_t done = 0; done < worms; ++done)
        if (!walk.worm(most_steps, cancel)) break;
    return walk.stretch();
}

}  // namespace anonymatch
