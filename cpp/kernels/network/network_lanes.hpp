// Steps of a pass over all lanes at once, for each instruction set.
#pragma once

#include <cstddef>

namespace anonymatch::network {

inline constexpr double possible = 1e-12;

/// Sums of the events at which targets came out: one entry a lane.
struct Sums {
    double* shannon;
    double* collision;
    double* largest;
    double* left;
    double* guess;       // numbers of events, below 2^53
    double* candidates;  // events with a probability above `possible`
};

/// out += share * in; in -= share * in.
void move_share(double* out, double* in, double share, std::size_t lanes);
/// out = share * in; in -= share * in.
void take_share(double* out, double* in, double share, std::size_t lanes);
/// out += in.
void add(double* out, const double* in, std::size_t lanes);
/// Counts what came out at an event with its probabilities.
void count(const Sums& sums, const double* probability, double event, std::size_t lanes);
/// The largest entry.
double largest(const double* in, std::size_t lanes);

}  // namespace anonymatch::network
