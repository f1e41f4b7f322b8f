// One step of a band forward or back, on arrays of doubles or of digits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "band/band_kernel.hpp"
#include "band/band_steps.hpp"
#include "frontier/frontier_table.hpp"

namespace anonymatch::band {

template <class T>
class Walk {
public:
    /// `weights` of the row's columns, or null; `out` has room for states_after.
    void forward(const Step& step, const T* in, const double* weights, T* out) {
        in = with_early(step, in);
        const RowWeights row(step, weights);
        for (int k = step.after.least; k <= step.after.most; ++k) {
            T* target = out + class_offset(step.width_after, step.after, k);
            const std::size_t n_more = subsets(step.rest, k);
            T* sum = step.fresh == 0 ? target : more_.room(n_more);
            bool first = true;
            each_stretch(step, k, [&](std::size_t offset, std::uint32_t held) {
                const T factor = row.unused(held);
                if (factor == T{}) return;
                if (first && factor == T{1}) {
                    std::copy_n(in + offset, n_more, sum);
                } else {
                    if (first) std::fill_n(sum, n_more, T{});
                    add(in + offset, factor, sum, n_more);
                }
                first = false;
            });
            if (first) std::fill_n(sum, n_more, T{});
            const T* less = gather(step, k - 1, in);
            climb(less, sum, step.rest, k - 1, row.rest());
            if (step.fresh != 0) put(sum, less, target, step.rest, step.fresh, k, row.fresh());
        }
    }

    /// The way back of ways after: `after` are those of the layer after the row, `out` becomes
    /// those before it. With `in` (doubles) also sums over each column of the row, in `sums`.
    void back(const Step& step, const T* in, const T* after, const double* weights, T* out,
              double* sums) {
        const RowWeights row(step, weights);
        if (in != nullptr) in = with_early(step, in);
        const std::size_t size = states(step.width(), step.before);
        T* whole = step.early == 0 ? out : back_.room(size);
        std::fill_n(whole, size, T{});
        double bit_sums[band_width_limit] = {};
        for (int k = step.after.least; k <= step.after.most; ++k) {
            const T* source = after + class_offset(step.width_after, step.after, k);
            const std::size_t n_more = subsets(step.rest, k);
            const std::size_t n_less = subsets(step.rest, k - 1);
            const T* more = source;
            if (step.fresh != 0) {
                T* part = more_.room(n_more);
                extract(source, part, step.rest, step.fresh, k, -1, offsets_);
                more = part;
            }
            const T* before = in == nullptr ? nullptr : gather(step, k - 1, in);
            T* less = back_less_.room(n_less);
            if (step.fresh == 0) std::fill_n(less, n_less, T{});
            for (int c = 0; c < step.fresh; ++c) {
                const bool straight = c == 0 && row.of_fresh(0) == T{1};
                T* one = straight ? less : one_.room(n_less);
                extract(source, one, step.rest, step.fresh, k, c, offsets_);
                const T factor = row.of_fresh(c);
                if (c == 0 && !straight) std::fill_n(less, n_less, T{});
                if (!straight) add(one, factor, less, n_less);
                if constexpr (std::is_same_v<T, double>)
                    if (before != nullptr)
                        sums[step.degree() - 1 - static_cast<std::size_t>(c)] +=
                            dot(before, one, n_less);
            }
            fall(more, less, step.rest, k - 1, row.rest(), before, bit_sums);
            each_stretch(step, k - 1, [&](std::size_t offset, std::uint32_t) {
                add(less, T{1}, whole + offset, n_less);
            });
            each_stretch(step, k, [&](std::size_t offset, std::uint32_t held) {
                const T factor = row.unused(held);
                if (factor == T{}) return;
                add(more, factor, whole + offset, n_more);
                if constexpr (std::is_same_v<T, double>)
                    if (before != nullptr)
                        add_gone(step, held, dot(in + offset, more, n_more), sums);
            });
        }
        if constexpr (std::is_same_v<T, double>)
            if (in != nullptr)
                for (int bit = 0; bit < step.rest; ++bit)
                    sums[step.stop - 1 - bit - step.start] += bit_sums[bit];
        if (step.early != 0) without_early(step, whole, out);
    }

private:
    class Room {
    public:
        [[nodiscard]] T* room(std::size_t size) {
            buffer_.reserve(size);
            return buffer_.data();
        }

    private:
        frontier::Buffer<T> buffer_;
    };

    /// Weights of a row by bit: of the columns that stay, of the fresh ones, of those that go.
    class RowWeights {
    public:
        RowWeights(const Step& step, const double* weights) : gone_(step.gone) {
            if (weights == nullptr) return;
            weighted_ = true;
            const double* end = weights + step.degree();
            for (int bit = 0; bit < step.fresh; ++bit) fresh_[bit] = end[-1 - bit];
            end -= step.fresh;
            for (int bit = 0; bit < step.rest + step.gone; ++bit) rest_[bit] = end[-1 - bit];
            going_ = rest_ + step.rest;
        }
        RowWeights(const RowWeights&) = delete;
        RowWeights& operator=(const RowWeights&) = delete;

        [[nodiscard]] const double* rest() const { return weighted_ ? rest_ : nullptr; }
        [[nodiscard]] const double* fresh() const { return weighted_ ? fresh_ : nullptr; }
        [[nodiscard]] T of_fresh(int c) const {
            return weighted_ ? static_cast<T>(fresh_[c]) : T{1};
        }
        /// Sum of the weights of the going columns that are not held.
        [[nodiscard]] T unused(std::uint32_t held) const {
            if (!weighted_) return static_cast<T>(gone_ - std::popcount(held));
            double sum = 0;
            for (int bit = 0; bit < gone_; ++bit)
                if ((held >> bit & 1U) == 0) sum += going_[bit];
            return static_cast<T>(sum);
        }

    private:
        int gone_;
        bool weighted_ = false;
        double fresh_[fresh_limit] = {};
        double rest_[band_width_limit] = {};
        const double* going_ = nullptr;
    };

    /// Calls f(offset, held) for the stretches with `size` of the staying columns in use.
    template <class F>
    static void each_stretch(const Step& step, int size, F&& f) {
        if (size < 0 || size > step.rest) return;
        for (int whole = step.before.least; whole <= step.before.most; ++whole) {
            const std::size_t base = class_offset(step.width(), step.before, whole);
            for_each_subset(step.gone, whole - size, [&](std::uint32_t held) {
                f(base + stretch_offset(held, step.rest, whole), held);
            });
        }
    }

    static void add_gone(const Step& step, std::uint32_t held, double sum, double* sums) {
        for (int bit = 0; bit < step.gone; ++bit)
            if ((held >> bit & 1U) == 0) sums[step.gone - 1 - bit] += sum;
    }

    /// Sum of the stretches: the ways with this set of staying columns, whatever goes.
    const T* gather(const Step& step, int size, const T* in) {
        const std::size_t length = subsets(step.rest, size);
        const T* only = nullptr;
        T* sum = nullptr;
        each_stretch(step, size, [&](std::size_t offset, std::uint32_t) {
            if (only == nullptr) {
                only = in + offset;
                return;
            }
            if (sum == nullptr) {
                sum = less_.room(length);
                std::copy_n(only, length, sum);
            }
            add(in + offset, T{1}, sum, length);
        });
        if (sum != nullptr) return sum;
        if (only != nullptr) return only;
        sum = less_.room(length + 1);
        std::fill_n(sum, length, T{});
        return sum;
    }

    const T* with_early(const Step& step, const T* in) {
        int width = step.width_before;
        int turn = 0;
        for (int left = step.early; left > 0;) {
            const int some = std::min(left, fresh_limit);
            T* out = early_[turn].room(states(width + some, step.before));
            for (int k = step.before.least; k <= step.before.most; ++k)
                put(in + class_offset(width, step.before, k), nullptr,
                    out + class_offset(width + some, step.before, k), width, some, k, nullptr);
            in = out;
            turn = 1 - turn;
            width += some;
            left -= some;
        }
        return in;
    }
    void without_early(const Step& step, const T* whole, T* out) {
        int width = step.width();
        int turn = 0;
        for (int left = step.early; left > 0;) {
            // As many at a time as came together: the last of them first.
            const int last = left % fresh_limit;
            const int some = last == 0 ? fresh_limit : last;
            width -= some;
            left -= some;
            T* part = left == 0 ? out : early_back_[turn].room(states(width, step.before));
            for (int k = step.before.least; k <= step.before.most; ++k)
                extract(whole + class_offset(width + some, step.before, k),
                        part + class_offset(width, step.before, k), width, some, k, -1, offsets_);
            whole = part;
            turn = 1 - turn;
        }
    }

    void climb(const T* less, T* more, int bits, int size, const double* weights) {
        if (size < 0 || size >= bits) return;
        if constexpr (std::is_same_v<T, double>) {
            up(less, more, bits, size, weights, offsets_);
        } else {
            up(less, more, bits, size, offsets_);
        }
    }
    void fall(const T* more, T* less, int bits, int size, const double* weights, const T* before,
              double* sums) {
        if (size < 0 || size >= bits) return;
        if constexpr (std::is_same_v<T, double>) {
            down(more, less, bits, size, weights, before, sums, offsets_);
        } else {
            down(more, less, bits, size, offsets_);
        }
    }
    void put(const T* none, const T* less, T* whole, int bits, int fresh, int size,
             const double* weights) {
        if constexpr (std::is_same_v<T, double>) {
            insert(none, less, whole, bits, fresh, size, weights, offsets_);
        } else {
            insert(none, less, whole, bits, fresh, size, offsets_);
        }
    }

    Offsets offsets_;
    Room more_;
    Room less_;
    Room back_less_;
    Room one_;
    Room back_;
    Room early_[2];
    Room early_back_[2];
};

}  // namespace anonymatch::band
