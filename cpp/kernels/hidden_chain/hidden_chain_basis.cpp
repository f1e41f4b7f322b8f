#include "hidden_chain/hidden_chain_basis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace anonymatch::hidden_chain {
namespace {

constexpr double kGone = 1e-14;  // a departure that nobody inside is likelier to be is let go

std::size_t rounded_up(std::size_t size) {
    return (size + 7) / 8 * 8;
}

double dot(const double* left, const double* right, std::size_t size) {
    double sum = 0.0;
    for (std::size_t c = 0; c < size; ++c) sum += left[c] * right[c];
    return sum;
}

}  // namespace

Basis::Basis(std::size_t widest, std::size_t layers, std::int64_t departures, std::int32_t together,
             double tolerance)
    : lanes_(lanes()),
      layers_(layers),
      ring_(std::bit_ceil(widest + 2)),
      together_(static_cast<std::size_t>(together)),
      stride_(
          rounded_up(std::min<std::size_t>(static_cast<std::size_t>(departures), together_) + 8)),
      tolerance_(tolerance),
      latest_(departures - 1),
      states_(layers * ring_ * stride_) {}

std::size_t Basis::add_departure() {
    const std::size_t column = columns();
    if (column + 1 > stride_) {  // a rank that was not expected: wider rows, the same entries
        const std::size_t wider = 2 * stride_;
        std::vector<double> moved(layers_ * ring_ * wider);
        for (std::size_t s = 0; s < layers_ * ring_; ++s)
            std::copy_n(states_.data() + s * stride_, stride_, moved.data() + s * wider);
        states_ = std::move(moved);
        stride_ = wider;
    }
    ++fresh_;
    return column;
}

void Basis::compress(const Window& window, const std::vector<double>& posterior) {
    const std::size_t all = columns();
    const std::size_t width = window.width();
    scaled_.resize(layers_ * width * all);
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::size_t i = 0; i < width; ++i) {
            const std::size_t s = x * width + i;
            const double scale = std::sqrt(std::max(posterior[s], 0.0));
            const double* from = row(window.lo + static_cast<std::int64_t>(i), x);
            for (std::size_t c = 0; c < all; ++c) scaled_[s * all + c] = scale * from[c];
        }
    }
    orthonormal_rows(layers_ * width, all);
    const std::size_t rank = units_.size() / all;
    // Q <- Q W', row by row.
    moved_.resize(rank);
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::int64_t k = window.lo; k <= window.hi; ++k) {
            double* here = row(k, x);
            for (std::size_t r = 0; r < rank; ++r)
                moved_[r] = dot(here, units_.data() + r * all, all);
            std::copy(moved_.begin(), moved_.end(), here);
        }
    }
    // C <- W C: old departures through the old rows, fresh ones are unit columns.
    const std::size_t next = old_ + fresh_;
    spare_.assign(rank * next, 0.0);
    for (std::size_t r = 0; r < rank; ++r) {
        double* to = spare_.data() + r * next;
        const double* unit = units_.data() + r * all;
        for (std::size_t o = 0; o < rank_; ++o)
            lanes_.add(to, weights_.data() + o * old_, unit[o], old_);
        std::copy_n(unit + rank_, fresh_, to + old_);
    }
    weights_.swap(spare_);
    rank_ = rank;
    old_ = next;
    fresh_ = 0;
    drop_late(window, posterior);
}

/// Rows of scaled_ are taken one after another, the one that is worst represented so far first,
/// until what is left of every row is below the tolerance.
void Basis::orthonormal_rows(std::size_t rows, std::size_t columns) {
    units_.clear();
    norms_.resize(rows);
    for (std::size_t s = 0; s < rows; ++s) {
        const double* here = scaled_.data() + s * columns;
        norms_[s] = dot(here, here, columns);
    }
    while (units_.size() < columns * std::min(rows, columns)) {
        const auto worst = static_cast<std::size_t>(std::max_element(norms_.begin(), norms_.end()) -
                                                    norms_.begin());
        if (!(norms_[worst] > tolerance_ * tolerance_)) break;
        std::vector<double> unit(
            scaled_.begin() + static_cast<std::ptrdiff_t>(worst * columns),
            scaled_.begin() + static_cast<std::ptrdiff_t>((worst + 1) * columns));
        // Once more against those before, so that rounding does not spoil them.
        for (std::size_t u = 0; u < units_.size(); u += columns) {
            const double along = dot(unit.data(), units_.data() + u, columns);
            lanes_.add(unit.data(), units_.data() + u, -along, columns);
        }
        const double length = std::sqrt(dot(unit.data(), unit.data(), columns));
        if (!(length > 0.5 * tolerance_)) {  // nothing but rounding is left of it
            norms_[worst] = 0.0;
            continue;
        }
        for (double& entry : unit) entry /= length;
        for (std::size_t s = 0; s < rows; ++s) {
            if (norms_[s] == 0.0) continue;
            double* here = scaled_.data() + s * columns;
            lanes_.add(here, unit.data(), -dot(here, unit.data(), columns), columns);
            norms_[s] = dot(here, here, columns);
        }
        norms_[worst] = 0.0;
        units_.insert(units_.end(), unit.begin(), unit.end());
    }
}

/// Latest departures whose probabilities, in L2 of the posterior, are negligible from here on.
void Basis::drop_late(const Window& window, const std::vector<double>& posterior) {
    std::vector<double> sizes(rank_, 0.0);
    const std::size_t width = window.width();
    for (std::size_t x = 0; x < layers_; ++x) {
        for (std::size_t i = 0; i < width; ++i) {
            const double* here = row(window.lo + static_cast<std::int64_t>(i), x);
            for (std::size_t r = 0; r < rank_; ++r)
                sizes[r] += posterior[x * width + i] * here[r] * here[r];
        }
    }
    bounds_.assign(old_, 0.0);
    for (std::size_t r = 0; r < rank_; ++r) {
        const double size = std::sqrt(sizes[r]);
        const double* here = weights_.data() + r * old_;
        for (std::size_t j = 0; j < old_; ++j) bounds_[j] += size * std::abs(here[j]);
    }
    std::size_t gone = 0;
    while (gone < old_ && bounds_[gone] < kGone) ++gone;
    if (gone == 0) return;
    const std::size_t next = old_ - gone;
    for (std::size_t r = 0; r < rank_; ++r)
        std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(r * old_ + gone), next,
                    weights_.begin() + static_cast<std::ptrdiff_t>(r * next));
    weights_.resize(rank_ * next);
    old_ = next;
    latest_ -= static_cast<std::int64_t>(gone);
}

std::vector<double>& Basis::spread(const std::vector<double>& mixture) {
    spread_.assign(old_ + fresh_, 0.0);
    for (std::size_t r = 0; r < rank_; ++r)
        lanes_.add(spread_.data(), weights_.data() + r * old_, mixture[r], old_);
    for (std::size_t f = 0; f < fresh_; ++f) spread_[old_ + f] = mixture[rank_ + f];
    return spread_;
}

}  // namespace anonymatch::hidden_chain
