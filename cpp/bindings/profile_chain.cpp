#include "profile_chain/profile_chain.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

namespace {

using Singles = Array<float>;

/// The arrays of a log, which live as long as what is made from it.
struct Log {
    std::int32_t senders, receivers;
    Ints starts, sender, receiver, first, last;
    Singles weights;

    [[nodiscard]] am::RoundLog view_of() const {
        return {senders,        receivers,   view(starts), view(sender),
                view(receiver), view(first), view(last),   view(weights)};
    }
};

}  // namespace

void bind_profile_chain(nb::module_& m) {
    m.attr("round_marginals_limit") = am::round_marginals_limit;
    nb::class_<Log>(m, "RoundLog")
        .def(
            "__init__",
            [](Log* log, std::int32_t senders, std::int32_t receivers, const Ints& starts,
               const Ints& sender, const Ints& receiver, const Ints& first, const Ints& last,
               const Singles& weights) {
                new (log) Log{senders, receivers, starts, sender, receiver, first, last, weights};
            },
            "senders"_a, "receivers"_a, "starts"_a, "sender"_a, "receiver"_a, "first"_a, "last"_a,
            "weights"_a);
    using Chain = am::ProfileChain;
    nb::class_<Chain>(m, "ProfileChain")
        .def(
            "__init__",
            [](Chain* chain, const Log& log, const Reals& base, double strength, double evenness,
               const Ints& start, std::int32_t reach, std::uint64_t seed) {
                const nb::gil_scoped_release nogil;
                new (chain) Chain(log.view_of(), view(base), {strength, evenness}, view(start),
                                  reach, seed);
            },
            "log"_a, "base"_a, "strength"_a, "evenness"_a, "start"_a, "reach"_a, "seed"_a,
            nb::keep_alive<1, 2>())
        .def(
            "order",
            [](Chain& chain, int passes, const Bytes& cancel) {
                const nb::gil_scoped_release nogil;
                return chain.order(passes, cancel_flag(cancel));
            },
            "passes"_a, "cancel"_a)
        .def(
            "sweep",
            [](Chain& chain, int sweeps, double power, bool learn, bool record,
               const Bytes& cancel) {
                const nb::gil_scoped_release nogil;
                return chain.sweep(sweeps, {power, learn, record}, cancel_flag(cancel));
            },
            "sweeps"_a, "power"_a, "learn"_a, "record"_a, "cancel"_a)
        .def("matching", [](const Chain& chain) { return owned(std::vector(chain.matching())); })
        .def("sums", [](const Chain& chain) { return owned(chain.sums()); })
        .def_prop_ro("evenness", [](const Chain& chain) { return chain.prior().evenness; })
        .def("base", [](const Chain& chain) { return owned(std::vector(chain.base())); })
        .def("base_sums", [](const Chain& chain) { return owned(std::vector(chain.base_sums())); })
        .def("trace", [](const Chain& chain) { return owned(std::vector(chain.trace())); })
        .def("strengths", [](const Chain& chain) { return owned(std::vector(chain.strengths())); });
    m.def(
        "round_marginals",
        [](const Log& log, const Reals& weights, const Bytes& cancel) {
            std::vector<double> shares;
            const bool finished = [&] {
                const nb::gil_scoped_release nogil;
                return am::round_marginals(log.view_of(), view(weights), shares,
                                           cancel_flag(cancel));
            }();
            return std::make_tuple(owned(std::move(shares)), finished);
        },
        "log"_a, "weights"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
