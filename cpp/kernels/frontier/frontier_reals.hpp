// Doubles as values of states: plain ones with a scale a layer, and wide ones with an exponent
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontier/frontier.hpp"
#include "frontier/frontier_values.hpp"

namespace anonymatch::frontier {

/// Weights whose rows are scaled by powers of two so that the largest of each is in [1, 2).
struct RowScaled {
    RowScaled(const BlockView& block, const FrontierReals& values);

    std::vector<double> weights;  // empty: all one
    std::int64_t exponent = 0;    // taken out of all rows together
    bool narrow = true;           // every weight is at least 2^-600, so none lost a bit
};

/// One double a state, one scale a layer. Proof that underflow is harmless while `lost` is false:
/// before a step the largest value is in [2^-200, 2^200] and the least at least 2^-800. A
/// product that underflows errs by at most 2^-1074, and as every new value is at least 2^-960 that
/// is far below one rounding of it. A spread of at most 2^600 makes the least at least 2^-800
/// again. On the way back dead ends have the value 0, so the least value says nothing; but errors
/// of 64 * 2^-1074 in fewer than 2^32 values, times forward values below 2^207, are below 2^-820 in
/// the count in the present scale, which is the row's total: if that is at least 2^-600 they are
/// nothing.
class PlainReal {
public:
    using Word = double;
    explicit PlainReal(RowScaled weights)
        : weights_(std::move(weights)), exponent_(weights_.exponent) {}

    static constexpr double least_total = 0x1p-600;
    [[nodiscard]] std::size_t words() const noexcept { return 1; }
    [[nodiscard]] std::size_t sums() const noexcept { return 2; }
    [[nodiscard]] bool lost() const noexcept { return lost_; }
    [[nodiscard]] RowScaled& weights() noexcept { return weights_; }

    void forward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                 double* out) const noexcept;
    void backward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                  const double* next, double* back, double* sum) const noexcept;
    void settle(double* values, std::size_t n) noexcept;
    void layer_made(double* values, std::size_t n, bool again) noexcept;
    void back_made(double* values, std::size_t n) const noexcept;
    void finish(const double* sum, double* out) const noexcept { *out = sum[0] + sum[1]; }
    void one(double* out) const noexcept { *out = 1; }

    [[nodiscard]] ScaledReal count(const double* value) const noexcept;
    /// The value times the weight of the edge, in the unit of the layer.
    [[nodiscard]] ScaledReal product(std::int32_t edge, const double* value) const noexcept {
        return {weight_of(edge) * *value, 0};
    }

private:
    [[nodiscard]] double weight_of(std::int32_t edge) const noexcept {
        return weights_.weights.empty() || edge < 0
                   ? 1.0
                   : weights_.weights[static_cast<std::size_t>(edge)];
    }
    RowScaled weights_;
    std::int64_t exponent_;
    double least_ = 0x1p1000;  // of the layer in the making
    double largest_ = 0;
    bool lost_ = false;
};

/// Two words: a mantissa, and the bits of a signed integer exponent. Values of one layer can differ
/// by any factor (a ring has states with one way and states with phi^n), so a common scale can lose
/// some that no bound shows to be negligible. Settled values are 0, 0 or have a mantissa in [1, 2).
class WideReal {
public:
    using Word = double;
    /// The weights times 2^exponent in all.
    WideReal(const std::vector<double>& weights, std::int64_t exponent);

    [[nodiscard]] std::size_t words() const noexcept { return 2; }
    [[nodiscard]] std::size_t sums() const noexcept { return 3; }
    [[nodiscard]] bool lost() const noexcept { return false; }

    void forward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                 double* out) const noexcept;
    void backward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                  const double* next, double* back, double* sum) const noexcept;
    void settle(double* values, std::size_t n) const noexcept;
    void layer_made(double*, std::size_t, bool) const noexcept {}
    void back_made(double* values, std::size_t n) const noexcept { settle(values, n); }
    void finish(const double* sum, double* out) const noexcept;
    void one(double* out) const noexcept {
        out[0] = 1;
        out[1] = 0;
    }

    [[nodiscard]] ScaledReal count(const double* value) const noexcept;
    [[nodiscard]] ScaledReal product(std::int32_t edge, const double* value) const noexcept;

private:
    [[nodiscard]] const ScaledReal& weight_of(std::int32_t edge) const noexcept {
        return weights_.empty() || edge < 0 ? one_ : weights_[static_cast<std::size_t>(edge)];
    }
    std::vector<ScaledReal> weights_;
    std::int64_t exponent_;
    ScaledReal one_{1.0, 0};
};

}  // namespace anonymatch::frontier
