#include "network/network_lanes.hpp"

#include "common/lanes.hpp"

namespace anonymatch::network {

ANONYMATCH_LANES void move_share(double* out, double* in, double share, std::size_t lanes) {
    for (std::size_t k = 0; k < lanes; k += vector_lanes) {
        const Vector part = share * LOAD(in + k);
        STORE(out + k) += part;
        STORE(in + k) -= part;
    }
}

ANONYMATCH_LANES void take_share(double* out, double* in, double share, std::size_t lanes) {
    for (std::size_t k = 0; k < lanes; k += vector_lanes) {
        const Vector part = share * LOAD(in + k);
        STORE(out + k) = part;
        STORE(in + k) -= part;
    }
}

ANONYMATCH_LANES void add(double* out, const double* in, std::size_t lanes) {
    for (std::size_t k = 0; k < lanes; k += vector_lanes) STORE(out + k) += LOAD(in + k);
}

ANONYMATCH_LANES void count(const Sums& sums, const double* probability, double event,
                            std::size_t lanes) {
    for (std::size_t k = 0; k < lanes; k += vector_lanes) {
        const Vector p = LOAD(probability + k);
        Vector logs;
        log2_of(p, logs);
        STORE(sums.shannon + k) -= p * logs;
        STORE(sums.collision + k) += p * p;
        STORE(sums.left + k) += p;
        const Vector best = LOAD(sums.largest + k), guess = LOAD(sums.guess + k);
        // A tie by rounding is not better.
        const auto better = p > best * (1 + 1e-12);
        STORE(sums.largest + k) = p > best ? p : best;
        STORE(sums.guess + k) = better ? Vector{} + event : guess;
        STORE(sums.candidates + k) += p > possible ? Vector{} + 1.0 : Vector{};
    }
}

ANONYMATCH_LANES double largest(const double* in, std::size_t lanes) {
    Vector most = LOAD(in);
    for (std::size_t k = vector_lanes; k < lanes; k += vector_lanes) {
        const Vector next = LOAD(in + k);
        most = next > most ? next : most;
    }
    double result = most[0];
    for (std::size_t lane = 1; lane < vector_lanes; ++lane)
        result = most[lane] > result ? most[lane] : result;
    return result;
}

}  // namespace anonymatch::network
