#include "network/network.hpp"

#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace anonymatch::bindings {
namespace {

using Numbers = Array<std::int64_t>;

am::NetworkEvents events_of(const Ints& from, const Ints& to, const Numbers& before,
                            std::int32_t mixes) {
    return {view(from), view(to), view(before), mixes};
}

}  // namespace

void bind_network(nb::module_& m) {
    m.attr("network_outside") = am::network_outside;
    m.attr("network_carried") = am::network_carried;
    m.def(
        "network_inside",
        [](const Ints& from, const Ints& to, const Numbers& before, std::int32_t mixes) {
            auto inside = [&] {
                const nb::gil_scoped_release nogil;
                return am::network_inside(events_of(from, to, before, mixes));
            }();
            return owned(std::move(inside));
        },
        "from_"_a, "to"_a, "before"_a, "mixes"_a);
    m.def(
        "network_forward",
        [](const Ints& from, const Ints& to, const Numbers& before, std::int32_t mixes,
           const Ints& inside, const Numbers& targets, const Numbers& asked, std::size_t lanes,
           double least, bool ranked, const Bytes& cancel) {
            auto result = [&] {
                const nb::gil_scoped_release nogil;
                return am::network_forward(events_of(from, to, before, mixes), view(inside),
                                           view(targets), view(asked), {lanes, least, ranked},
                                           cancel_flag(cancel));
            }();
            return std::make_tuple(owned(std::move(result.shannon)),
                                   owned(std::move(result.collision)),
                                   owned(std::move(result.largest)), owned(std::move(result.guess)),
                                   owned(std::move(result.left)), owned(std::move(result.asked)),
                                   owned(std::move(result.guesses)), owned(std::move(result.ended)),
                                   owned(std::move(result.candidates)), result.finished);
        },
        "from_"_a, "to"_a, "before"_a, "mixes"_a, "inside"_a, "targets"_a, "asked"_a, "lanes"_a,
        "least"_a, "ranked"_a, "cancel"_a);
    m.def(
        "network_rows",
        [](const Ints& from, const Ints& to, const Numbers& before, std::int32_t mixes,
           const Ints& inside, const Numbers& targets) {
            auto rows = [&] {
                const nb::gil_scoped_release nogil;
                return am::network_rows(events_of(from, to, before, mixes), view(inside),
                                        view(targets));
            }();
            return owned(std::move(rows));
        },
        "from_"_a, "to"_a, "before"_a, "mixes"_a, "inside"_a, "targets"_a);
    m.def(
        "network_draw",
        [](const Reals& arrivals, const Ints& routes, std::size_t hops, std::int32_t mixes,
           std::int32_t kind, double seconds, std::int32_t batch, std::int32_t kept, double share,
           double centre, double spread, double link, std::uint64_t seed, const Bytes& cancel) {
            const am::NetworkMix mix{static_cast<am::NetworkMix::Kind>(kind),
                                     seconds,
                                     batch,
                                     kept,
                                     share,
                                     centre,
                                     spread};
            auto log = [&] {
                const nb::gil_scoped_release nogil;
                return am::network_draw(view(arrivals), view(routes), hops, mixes, mix, link, seed,
                                        cancel_flag(cancel));
            }();
            return std::make_tuple(owned(std::move(log.time)), owned(std::move(log.from)),
                                   owned(std::move(log.to)), owned(std::move(log.before)),
                                   owned(std::move(log.packet)), log.finished);
        },
        "arrivals"_a, "routes"_a, "hops"_a, "mixes"_a, "kind"_a, "seconds"_a, "batch"_a, "kept"_a,
        "share"_a, "centre"_a, "spread"_a, "link"_a, "seed"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
