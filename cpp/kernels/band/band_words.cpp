// Bands over whole numbers of any size: digits of up to 52 bits, an array a digit.
#include <algorithm>
#include <utility>

#include "band/band_job.hpp"
#include "band/band_walk.hpp"

namespace anonymatch {
namespace band {
namespace {

__extension__ typedef unsigned __int128 u128;

// 2^20 products of two digits are below 2^124.
constexpr std::size_t most_products = std::size_t{1} << 20;

/// Digits of all values of a layer, an array a digit.
using Digits = std::vector<const std::uint64_t*>;

class WordsPass final : public Band::Job {
public:
    WordsPass(std::vector<Step> rows, int digit_bits, bool back,
              std::span<const std::uint64_t> digits)
        : rows_(std::move(rows)), digit_bits_(digit_bits), back_(back) {
        if (!rows_.empty()) size_ = back ? rows_.back().states_after() : rows_[0].states_before();
        used_ = digits.size() / size_;
        now_.resize(used_);
        for (std::size_t d = 0; d < used_; ++d) {
            now_[d].reserve(size_);
            std::copy_n(digits.data() + d * size_, size_, now_[d].data());
        }
    }

    double next() override {
        if (row_ == rows_.size()) {
            if (!finished) settle();
            finished = true;
            return 0;
        }
        const Step& step = rows_[back_ ? rows_.size() - 1 - row_ : row_];
        ++row_;
        if (terms_ * step.terms() > most_terms(digit_bits_)) settle();
        terms_ *= step.terms();
        size_ = back_ ? step.states_before() : step.states_after();
        for (frontier::Buffer<std::uint64_t>& digit : now_) {
            spare_.reserve(std::max<std::size_t>(size_, 1));
            const std::uint64_t* in = digit.data();
            if (back_) walk_.back(step, nullptr, in, nullptr, spare_.data(), nullptr);
            if (!back_) walk_.forward(step, in, nullptr, spare_.data());
            std::swap(digit, spare_);
        }
        return step.work() * static_cast<double>(used_);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Digits arrays() const {
        Digits all;
        for (const auto& digit : now_) all.push_back(digit.data());
        return all;
    }
    [[nodiscard]] std::vector<std::uint64_t> digits() const override {
        if (!finished) return Job::digits();
        std::vector<std::uint64_t> flat;
        flat.reserve(used_ * size_);
        for (const std::uint64_t* digit : arrays()) flat.insert(flat.end(), digit, digit + size_);
        return flat;
    }

private:
    /// Brings all digits below 2^digit_bits; what the highest gives away opens another.
    void settle() {
        terms_ = 1;
        for (std::size_t d = 0; d + 1 < used_; ++d)
            carry(now_[d].data(), now_[d + 1].data(), size_, digit_bits_);
        if (carry(now_[used_ - 1].data(), nullptr, size_, digit_bits_) == 0) return;
        frontier::Buffer<std::uint64_t>& more = now_.emplace_back();
        more.reserve(size_);
        std::fill_n(more.data(), size_, 0);
        carry(now_[used_ - 1].data(), more.data(), size_, digit_bits_);
        ++used_;
    }

    std::vector<Step> rows_;
    int digit_bits_;
    bool back_;
    std::size_t row_ = 0;  // rows that are done
    std::size_t size_ = 1;
    std::size_t used_ = 1;
    double terms_ = 1;  // digits are sums of at most so many of digit_bits
    std::vector<frontier::Buffer<std::uint64_t>> now_;
    frontier::Buffer<std::uint64_t> spare_;  // the next digit to be made
    Walk<std::uint64_t> walk_;
};

void add(std::vector<std::uint64_t>& total, u128 value, std::size_t digit, int digit_bits) {
    const std::uint64_t digit_mask = (std::uint64_t{1} << digit_bits) - 1;
    for (; value != 0; ++digit) {
        value += total[digit];
        total[digit] = static_cast<std::uint64_t>(value) & digit_mask;
        value >>= digit_bits;
    }
}

/// Sum over the states of ways before times ways after, in words of 64 bits.
std::vector<std::uint64_t> meet(const Digits& before, const Digits& after, std::size_t size,
                                int digit_bits) {
    // A sum of products has at most 124 bits, which go into as many digits as that takes.
    const auto more = static_cast<std::size_t>(124 / digit_bits + 2);
    std::vector<std::uint64_t> total(before.size() + after.size() + more, 0);
    for (std::size_t i = 0; i < before.size(); ++i)
        for (std::size_t j = 0; j < after.size(); ++j)
            for (std::size_t begin = 0; begin < size; begin += most_products) {
                u128 sum = 0;
                const std::size_t end = std::min(size, begin + most_products);
                for (std::size_t s = begin; s < end; ++s)
                    sum += static_cast<u128>(before[i][s]) * after[j][s];
                add(total, sum, i + j, digit_bits);
            }
    const auto width = static_cast<std::size_t>(digit_bits);
    std::vector<std::uint64_t> words(total.size() * width / 64 + 2, 0);
    for (std::size_t i = 0; i < total.size(); ++i) {
        const std::size_t bit = i * width;
        const u128 shifted = static_cast<u128>(total[i]) << (bit % 64);
        words[bit / 64] |= static_cast<std::uint64_t>(shifted);
        words[bit / 64 + 1] |= static_cast<std::uint64_t>(shifted >> 64);
    }
    return words;
}

constexpr std::uint64_t one = 1;

/// Two passes that meet where that is least work.
class WordsJob final : public Band::Job {
public:
    WordsJob(std::vector<Step> before, std::vector<Step> after, int digit_bits)
        : before_(std::move(before), digit_bits, false, {&one, 1}),
          after_(std::move(after), digit_bits, true, {&one, 1}),
          digit_bits_(digit_bits) {}

    double next() override {
        for (WordsPass* pass : {&before_, &after_})
            if (!pass->finished) return pass->next();
        if (!finished)
            words_ = meet(before_.arrays(), after_.arrays(), before_.size(), digit_bits_);
        finished = true;
        return 0;
    }
    [[nodiscard]] std::vector<std::uint64_t> count_words() const override {
        return finished ? words_ : Job::count_words();
    }

private:
    WordsPass before_;
    WordsPass after_;
    int digit_bits_;
    std::vector<std::uint64_t> words_;
};

}  // namespace

Made words_job(std::vector<Step> rows, int digit_bits) {
    const auto meeting = static_cast<std::ptrdiff_t>(best_meeting(rows, digit_bits).layer);
    std::vector<Step> after(rows.begin() + meeting, rows.end());
    rows.resize(static_cast<std::size_t>(meeting));
    return std::make_unique<WordsJob>(std::move(rows), std::move(after), digit_bits);
}

Made words_pass(std::vector<Step> rows, int digit_bits, bool back,
                std::span<const std::uint64_t> digits) {
    const std::size_t size = back ? rows.back().states_after() : rows[0].states_before();
    if (digits.empty() || digits.size() % size != 0)
        throw std::invalid_argument("a layer has so many digits of each of its states");
    return std::make_unique<WordsPass>(std::move(rows), digit_bits, back, digits);
}

}  // namespace band

std::vector<std::uint64_t> meet_words(std::span<const std::uint64_t> before,
                                      std::span<const std::uint64_t> after, std::size_t states,
                                      int digit_bits) {
    if (states == 0 || before.size() % states != 0 || after.size() % states != 0)
        throw std::invalid_argument("two layers that meet have the same states");
    const auto arrays = [&](std::span<const std::uint64_t> digits) {
        band::Digits all;
        for (std::size_t at = 0; at < digits.size(); at += states) all.push_back(&digits[at]);
        return all;
    };
    return band::meet(arrays(before), arrays(after), states, digit_bits);
}

}  // namespace anonymatch
