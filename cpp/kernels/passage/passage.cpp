#include "passage/passage.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace anonymatch {
namespace {

constexpr double tie = 1e-12;             // so that rounding does not choose between equals
constexpr std::int32_t tabled = 1 << 16;  // numbers inside whose logs are made once

/// Bits that the next departure tells of a message: log2 N / N - (1 - 1/N) log2(1 - 1/N).
double bits_of(double size) {
    const double later = (size - 1) / size;
    return std::log2(size) / size - later * std::log2(later);
}

}  // namespace

PassageStay passage_stay(std::span<const std::int32_t> inside) {
    const std::size_t number = inside.size();
    std::int32_t most = 1;
    for (const std::int32_t size : inside) {
        if (size < 1) throw std::invalid_argument("nobody is inside before a departure");
        most = std::max(most, size);
    }
    std::vector<double> bits(2, 0.0);
    for (std::int32_t size = 2; size <= std::min(most, tabled); ++size)
        bits.push_back(bits_of(size));
    PassageStay stay;
    stay.allowed.assign(number + 1, 1);
    stay.guess.assign(number + 1, static_cast<std::int64_t>(number));
    stay.shannon.assign(number + 1, 0.0);
    stay.collision.assign(number + 1, 1.0);
    stay.largest.assign(number + 1, 1.0);
    stay.guesses.assign(number + 1, 1.0);
    double departs = 0, ranks = 0;
    for (std::size_t k = number; k-- > 0;) {
        const double size = inside[k], now = 1 / size, later = (size - 1) / size;
        departs = now + later * departs;
        ranks = departs + later * ranks;
        stay.guesses[k] = ranks / departs;
        if (inside[k] == 1) {  // nobody else: it is this one
            stay.guess[k] = static_cast<std::int64_t>(k);
            continue;
        }
        stay.allowed[k] = stay.allowed[k + 1] + 1;
        const double told =
            inside[k] <= tabled ? bits[static_cast<std::size_t>(inside[k])] : bits_of(size);
        stay.shannon[k] = later * stay.shannon[k + 1] + told;
        stay.collision[k] = now * now + later * later * stay.collision[k + 1];
        const double waiting = later * stay.largest[k + 1];
        const bool first = now >= waiting * (1 - tie);
        stay.largest[k] = first ? std::max(now, waiting) : waiting;
        stay.guess[k] = first ? static_cast<std::int64_t>(k) : stay.guess[k + 1];
    }
    return stay;
}

FlushStay flush_stay(std::span<const std::int32_t> inside, std::span<const std::int32_t> leaving) {
    const std::size_t number = inside.size();
    if (leaving.size() != number)
        throw std::invalid_argument("a number that leaves for each flush");
    FlushStay stay;
    for (auto* values : {&stay.departs, &stay.shannon, &stay.collision, &stay.largest, &stay.ranks})
        values->assign(number + 1, 0.0);
    stay.stays.assign(number + 1, 1.0);
    stay.guess.assign(number + 1, static_cast<std::int64_t>(number));
    for (std::size_t k = number; k-- > 0;) {
        if (leaving[k] < 0 || leaving[k] > inside[k])
            throw std::invalid_argument("more leave than are inside");
        if (leaving[k] == 0) {
            for (auto* values : {&stay.departs, &stay.stays, &stay.shannon, &stay.collision,
                                 &stay.largest, &stay.ranks})
                (*values)[k] = (*values)[k + 1];
            stay.guess[k] = stay.guess[k + 1];
            continue;
        }
        const double size = inside[k], some = leaving[k];
        const double now = some / size, later = (size - some) / size, each = 1 / size;
        double told = now * std::log2(size);  // now log2 some - now log2 now
        if (later > 0) told -= later * std::log2(later);
        stay.departs[k] = now + later * stay.departs[k + 1];
        stay.stays[k] = later * stay.stays[k + 1];
        stay.shannon[k] = told + later * stay.shannon[k + 1];
        stay.collision[k] = now * each + later * later * stay.collision[k + 1];
        stay.ranks[k] =
            now * (some + 1) / 2 + later * (some * stay.departs[k + 1] + stay.ranks[k + 1]);
        const double waiting = later * stay.largest[k + 1];
        const bool first = each >= waiting * (1 - tie);
        stay.largest[k] = std::max(each, waiting);
        stay.guess[k] = first ? static_cast<std::int64_t>(k) : stay.guess[k + 1];
    }
    return stay;
}

}  // namespace anonymatch
