// A Markov chain over the ways to match people and rows, of which tables of numbers are kept: how many
// people of each kind have rows of each class.
//
// It is the worm of worm/worm.hpp, for kinds and classes: a random person u gives up a row, which is
// empty then. Until u has one again: somebody is picked among all who fit the empty row; u takes it, and
// all have rows; anybody else leaves a row for it, which is empty next. Each worm keeps the uniform law
// of ways, for the reason told there; people of a kind are alike, and so are rows of a class.
//
// Recorded is the mean of each number over worms. Cost: about as many steps a worm as there are people,
// 20 to 60 ns each; 4 bytes a person and 36 a pair. Numbers are below 2^31 and margins stay, so none
// overflows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

struct TableStretch {
    std::vector<double> means;          // a pair: its number, over all worms
    std::vector<std::int32_t> numbers;  // at the end, to go on from; of no use when stopped
    std::uint64_t worms = 0;            // fewer than asked for when stopped
    std::uint64_t steps = 0;
};

class TableChain {
public:
    /// Pairs sorted by kind, then by class, and the people of each kind; std::invalid_argument unless
    /// every kind and every class has a pair.
    TableChain(std::span<const std::int32_t> kinds, std::span<const std::int32_t> classes,
               std::span<const std::int32_t> people);

    /// `worms` from the numbers in `start`, which give each kind its people (std::invalid_argument
    /// otherwise). A function of its arguments. It gives up after about `most_steps`.
    [[nodiscard]] TableStretch run(std::span<const std::int32_t> start, std::uint64_t seed,
                                   std::uint64_t index, std::uint64_t worms,
                                   std::uint64_t most_steps, CancelFlag cancel = {}) const;

private:
    friend class TableWalk;

    [[nodiscard]] bool is_table(std::span<const std::int32_t> numbers) const;

    std::vector<std::int32_t> kinds_, classes_;
    std::vector<std::int32_t> person_begins_;            // people of a kind stand together
    std::vector<std::int32_t> class_begins_, of_class_;  // pairs of each class
    std::vector<std::int64_t> people_to_;  // beside of_class_: who fits, up to its kind
};

}  // namespace anonymatch
