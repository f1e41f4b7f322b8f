#include "band/band_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace anonymatch::band {
namespace {

void check(const BandView& band) {
    const std::size_t rows = band.starts.size();
    bool fine = rows != 0 && band.stops.size() == rows && band.starts[0] == 0;
    for (std::size_t i = 0; fine && i < rows; ++i) {
        fine = band.starts[i] < band.stops[i];
        if (i != 0)
            fine = fine && band.starts[i - 1] <= band.starts[i] &&
                   band.stops[i - 1] <= band.stops[i] && band.starts[i] <= band.stops[i - 1];
    }
    if (!fine) throw std::invalid_argument("a band needs intervals that overlap, with rising ends");
}

// Measured: passing over a state, and over a block of the tables, in additions of doubles.
constexpr double pass_work = 4;
constexpr double block_work = 8;
constexpr double step_work = 300;
constexpr double product_work = 4;  // of two digits

constexpr int widest_digit = 52;

double digits(double bits, int digit_bits) {
    return std::floor(bits / digit_bits) + 1;
}

}  // namespace

std::size_t states(int width, Sizes sizes) {
    return class_offset(width, sizes, sizes.most + 1);
}

std::size_t class_offset(int width, Sizes sizes, int size) {
    std::size_t total = 0;
    for (int k = sizes.least; k < size; ++k) total += subsets(width, k);
    return total;
}

std::size_t stretch_offset(std::uint32_t held, int rest, int size) {
    std::size_t offset = 0;
    for (int bit = 31; bit >= 0; --bit)
        if ((held >> bit & 1U) != 0) offset += subsets(rest + bit, size--);
    return offset;
}

double Step::stretches() const {
    double number = 0;
    for (int k = after.least; k <= after.most; ++k)
        for (int size = before.least; size <= before.most; ++size)
            number += static_cast<double>(subsets(gone, size - k) + subsets(gone, size - k + 1));
    return number;
}

double Step::terms() const {
    const bool square = before.least == before.most && after.least == after.most &&
                        before.least + 1 == after.least + gone;
    return static_cast<double>(degree()) * (square ? 1 : stretches());
}

double Step::work() const {
    const double blocks = std::exp2(std::max(0, width_after - low_limit) + 1);
    double total = step_work + block_work * blocks * (after.most - after.least + 1);
    for (int k = after.least; k <= after.most; ++k) {
        total += static_cast<double>(subsets(rest, k - 1)) * (rest - k + 1);
        total += pass_work * static_cast<double>(subsets(width_after, k));
        for (int size = before.least; size <= before.most; ++size)
            total += static_cast<double>(subsets(gone, size - k) * subsets(rest, k) +
                                         subsets(gone, size - k + 1) * subsets(rest, k - 1));
    }
    return total;
}

double Step::bits() const {
    const auto columns = static_cast<double>(degree());
    return std::lgamma(columns + 1) / columns / std::log(2.0);
}

Steps::Steps(const BandView& band) {
    check(band);
    const auto n = static_cast<std::int32_t>(band.starts.size());
    const std::int32_t n_columns = band.stops.back();
    const std::int32_t spare = n_columns - n;
    for (std::size_t i = 0; i < band.starts.size(); ++i)
        width = std::max(width, band.stops[i] - band.starts[i]);
    feasible = width <= band_width_limit && spare >= 0;
    if (!feasible) return;
    std::int32_t stop = 0;
    std::size_t edge = 0;
    Sizes sizes;
    for (std::int32_t row = 0; row < n; ++row) {
        const auto at = static_cast<std::size_t>(row);
        Step step;
        const std::int32_t next = row + 1 < n ? band.starts[at + 1] : n_columns;
        const int come = band.stops[at] - stop;
        step.start = band.starts[at];
        step.first_edge = edge;
        step.width_before = stop - step.start;
        step.gone = next - step.start;
        step.early = std::max({0, come - fresh_limit, step.gone - step.width_before});
        step.fresh = come - step.early;
        step.stop = stop + step.early;
        step.rest = step.width_before + step.early - step.gone;
        step.width_after = step.rest + step.fresh;
        step.before = sizes;
        // Of the columns gone by then at most `spare` are unused.
        sizes.least = std::max(0, row + 1 - next);
        sizes.most = std::min({row + 1 - next + spare, step.width_after, row + 1});
        step.after = sizes;
        rows.push_back(step);
        edge += step.degree();
        stop = band.stops[at];
    }
    digit_bits = digit_bits_of(rows);
}

int digit_bits_of(const std::vector<Step>& rows) {
    int bits = widest_digit;
    for (const Step& step : rows)
        while (step.terms() > most_terms(bits)) --bits;
    return bits;
}

double most_terms(int digit_bits) {
    return std::ldexp(4000, widest_digit - digit_bits);  // and room for a carry
}

Meeting best_meeting(const std::vector<Step>& rows, int digit_bits) {
    std::vector<double> after(rows.size() + 1, 0);  // work from the end down to each layer
    double bits = 0;
    for (std::size_t i = rows.size(); i-- > 0;) {
        bits += rows[i].bits();
        after[i] = after[i + 1] + rows[i].work() * digits(bits, digit_bits);
    }
    Meeting best{0, std::numeric_limits<double>::infinity(), 0};
    double before_bits = 0;
    double before = 0;
    double peak = 0;
    for (std::size_t i = 0; i <= rows.size(); ++i) {
        const double size = i == 0 ? 1 : static_cast<double>(rows[i - 1].states_after());
        const double meeting = product_work * size * digits(before_bits, digit_bits) *
                               digits(bits - before_bits, digit_bits);
        const double work = before + after[i] + meeting;
        if (work < best.work) best = {i, work, 0};
        if (i == rows.size()) break;
        before_bits += rows[i].bits();
        before += rows[i].work() * digits(before_bits, digit_bits);
    }
    before_bits = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i < best.layer) before_bits += rows[i].bits();
        const double there = i < best.layer ? before_bits : bits - before_bits;
        if (i >= best.layer) before_bits += rows[i].bits();
        const auto size =
            static_cast<double>(std::max(rows[i].states_before(), rows[i].states_after()));
        peak = std::max(peak, size * (digits(there, digit_bits) + 4));
    }
    best.bytes = sizeof(std::uint64_t) * peak;
    return best;
}

}  // namespace anonymatch::band
