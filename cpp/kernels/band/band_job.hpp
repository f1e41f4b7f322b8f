// What all jobs on a band have in common, and how each is made.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "band/band.hpp"
#include "band/band_steps.hpp"

namespace anonymatch {

class Band::Job {
public:
    virtual ~Job() = default;
    /// Does the next piece of work and says how much it was; 0 at the end.
    virtual double next() = 0;
    [[nodiscard]] virtual bool failed() const { return false; }
    [[nodiscard]] virtual std::vector<std::uint64_t> count_words() const { throw wrong(); }
    [[nodiscard]] virtual ScaledReal count_real() const { throw wrong(); }
    [[nodiscard]] virtual std::vector<double> posteriors() const { throw wrong(); }
    [[nodiscard]] virtual std::vector<std::uint64_t> digits() const { throw wrong(); }
    [[nodiscard]] virtual BandLayer layer() const { throw wrong(); }

    double done = 0;
    bool finished = false;

private:
    static std::logic_error wrong() {
        return std::logic_error("this band job does not compute that, or is not finished");
    }
};

namespace band {

using Made = std::unique_ptr<Band::Job>;

/// The exact count of all rows.
Made words_job(std::vector<Step> rows, int digit_bits);
/// Over digits from one end of the rows to the other; `digits` is the layer to begin with.
Made words_pass(std::vector<Step> rows, int digit_bits, bool back,
                std::span<const std::uint64_t> digits);
/// The same over doubles. Of rows from the first to the last it gives the count.
Made real_pass(std::vector<Step> rows, std::span<const double> weights, bool back,
               std::span<const double> layer);
/// The chances of the rows, from the layers at their ends.
Made edges_job(std::vector<Step> rows, std::span<const double> weights,
               std::span<const double> before, std::span<const double> after,
               std::size_t byte_limit);

}  // namespace band
}  // namespace anonymatch
