// The only file that knows both Python and the kernels: arrays and integers in and out, GIL
// released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anonymatch/band.hpp"
#include "anonymatch/bethe.hpp"
#include "anonymatch/edges.hpp"
#include "anonymatch/factorise.hpp"
#include "anonymatch/frontier.hpp"
#include "anonymatch/frontier_split.hpp"
#include "anonymatch/guided.hpp"
#include "anonymatch/hidden_chain.hpp"
#include "anonymatch/nesting.hpp"
#include "anonymatch/phases.hpp"
#include "anonymatch/ryser.hpp"
#include "anonymatch/scaling.hpp"
#include "anonymatch/signs.hpp"
#include "anonymatch/small.hpp"
#include "anonymatch/structure.hpp"
#include "anonymatch/subset.hpp"
#include "anonymatch/worm.hpp"

namespace nb = nanobind;
namespace am = anonymatch;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = Array<std::int32_t>;
using Words = Array<std::uint64_t>;
using Reals = Array<double>;
using Bytes = Array<std::uint8_t>;

template <class T>
std::span<const T> view(const Array<T>& array) {
    return {array.data(), array.size()};
}

/// The caller's stop byte; without one nothing stops.
am::StopFlag stop_flag(const Bytes& stop) {
    return stop.size() == 0 ? am::StopFlag() : am::StopFlag(stop.data());
}

/// A numpy array that owns what the kernel made.
template <class T, class Allocator>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T, Allocator>&& values) {
    using Vector = std::vector<T, Allocator>;
    auto* kept = new Vector(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Vector*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

/// A read-only property that shows a vector of a result without copying it; the array keeps the
/// result alive.
template <auto member, class Result>
void show(nb::class_<Result>& bound, const char* name) {
    bound.def_prop_ro(name, [](nb::handle self) {
        const auto& values = nb::cast<const Result&>(self).*member;
        using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
        return nb::ndarray<nb::numpy, const Value, nb::ndim<1>>(values.data(), {values.size()},
                                                                self);
    });
}

void bind_frontier(nb::module_& m) {
    const auto block = [](std::int32_t n_columns, const Ints& indptr, const Ints& indices) {
        return am::BlockView{static_cast<std::int32_t>(indptr.size()) - 1, n_columns, view(indptr),
                             view(indices)};
    };
    nb::class_<am::FrontierPlan> plan(m, "FrontierPlan");
    show<&am::FrontierPlan::order>(plan, "order");
    plan.def_ro("width", &am::FrontierPlan::width)
        .def_ro("feasible", &am::FrontierPlan::feasible)
        .def_ro("peak_states", &am::FrontierPlan::peak_states)
        .def_ro("transitions", &am::FrontierPlan::transitions)
        .def("count_bytes", &am::FrontierPlan::count_bytes)
        .def("edge_bytes", &am::FrontierPlan::edge_bytes)
        .def("least_edge_bytes", &am::FrontierPlan::least_edge_bytes);
    m.def("plan_frontier",
          [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices, double effort) {
              const nb::gil_scoped_release nogil;
              return am::plan_frontier(block(n_columns, indptr, indices), effort);
          });
    nb::class_<am::FrontierPart>(m, "FrontierPart")
        .def("kept", [](const am::FrontierPart& part) { return owned(std::vector(part.kept)); })
        .def_ro("peak_states", &am::FrontierPart::peak_states)
        .def_ro("transitions", &am::FrontierPart::transitions);
    m.def("split_frontier", [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                                    const Ints& order, double peak_states, double longest,
                                    double worth, double stretch, std::int32_t parts,
                                    const Bytes& stop) {
        const nb::gil_scoped_release nogil;
        return am::split_frontier(block(n_columns, indptr, indices), view(order),
                                  {peak_states, longest, worth, stretch, parts}, stop_flag(stop));
    });
    nb::class_<am::Frontier>(m, "Frontier")
        .def_static("words",
                    [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                            const Ints& order, const Words& primes, const Words& weights,
                            bool edges, std::size_t byte_limit) {
                        return am::Frontier(
                            block(n_columns, indptr, indices), view(order),
                            am::FrontierWords{view(primes), view(weights)},
                            edges ? am::FrontierTask::edges : am::FrontierTask::count, byte_limit);
                    })
        .def_static(
            "reals",
            [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                    const Ints& order, const Reals& weights, bool edges, std::size_t byte_limit) {
                return am::Frontier(block(n_columns, indptr, indices), view(order),
                                    am::FrontierReals{view(weights)},
                                    edges ? am::FrontierTask::edges : am::FrontierTask::count,
                                    byte_limit);
            })
        .def_static("sampler",
                    [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                            const Ints& order, const Reals& weights, std::size_t size,
                            std::uint64_t seed, std::size_t byte_limit) {
                        return am::Frontier(block(n_columns, indptr, indices), view(order),
                                            am::FrontierReals{view(weights)}, size, seed,
                                            byte_limit);
                    })
        .def("run",
             [](am::Frontier& job, double max_transitions) {
                 const nb::gil_scoped_release nogil;
                 return job.run(max_transitions);
             })
        .def_prop_ro("transitions_done", &am::Frontier::transitions_done)
        .def_prop_ro("peak_states", &am::Frontier::peak_states)
        .def("count_words", [](const am::Frontier& job) { return owned(job.count_words()); })
        .def("edge_words", [](const am::Frontier& job) { return owned(job.edge_words()); })
        .def("count_real",
             [](const am::Frontier& job) {
                 const auto real = job.count_real();
                 return std::make_tuple(real.mantissa, real.exponent);
             })
        .def("posteriors", [](const am::Frontier& job) { return owned(job.posteriors()); })
        .def("samples", [](const am::Frontier& job) { return owned(job.samples()); });
}

void bind_band(nb::module_& m) {
    nb::class_<am::BandPlan>(m, "BandPlan")
        .def_ro("feasible", &am::BandPlan::feasible)
        .def_ro("digit_bits", &am::BandPlan::digit_bits)
        .def_ro("width", &am::BandPlan::width)
        .def_ro("work", &am::BandPlan::work)
        .def_ro("words_work", &am::BandPlan::words_work)
        .def_ro("words_bytes", &am::BandPlan::words_bytes)
        .def_ro("roundings", &am::BandPlan::roundings)
        .def_ro("peak_states", &am::BandPlan::peak_states)
        .def_ro("meeting", &am::BandPlan::meeting)
        .def("row_work", [](const am::BandPlan& plan) { return owned(std::vector(plan.row_work)); })
        .def("row_bits", [](const am::BandPlan& plan) { return owned(std::vector(plan.row_bits)); })
        .def("layer_states",
             [](const am::BandPlan& plan) { return owned(std::vector(plan.layer_states)); })
        .def_prop_ro("real_bytes", &am::BandPlan::real_bytes)
        .def("kept_bytes", &am::BandPlan::kept_bytes, "stretches"_a = 1.0)
        .def("edge_bytes", &am::BandPlan::edge_bytes, "stretches"_a = 1.0, "byte_limit"_a = 0.0);
    m.def("plan_band", [](const Ints& starts, const Ints& stops) {
        const nb::gil_scoped_release nogil;
        return am::plan_band({view(starts), view(stops)});
    });
    nb::enum_<am::BandTask>(m, "BandTask")
        .value("count_words", am::BandTask::count_words)
        .value("count_real", am::BandTask::count_real)
        .value("edges", am::BandTask::edges)
        .value("forward_words", am::BandTask::forward_words)
        .value("back_words", am::BandTask::back_words)
        .value("forward_real", am::BandTask::forward_real)
        .value("back_real", am::BandTask::back_real);
    m.def("meet_words",
          [](const Words& before, const Words& after, std::size_t states, int digit_bits) {
              return owned(am::meet_words(view(before), view(after), states, digit_bits));
          });
    m.def("meet_real", [](const Reals& before, const Reals& after) {
        return am::meet_real(view(before), view(after));
    });
    nb::class_<am::Band>(m, "Band")
        .def_static(
            "make",
            [](const Ints& starts, const Ints& stops, const Reals& weights, am::BandTask task,
               std::size_t byte_limit, std::size_t first, std::size_t last, const Words& digits,
               const Reals& before, const Reals& after) {
                return am::Band({view(starts), view(stops)}, view(weights), task, byte_limit,
                                {first, last, view(digits), view(before), view(after)});
            })
        .def("run",
             [](am::Band& job, double max_work) {
                 const nb::gil_scoped_release nogil;
                 return job.run(max_work);
             })
        .def_prop_ro("work_done", &am::Band::work_done)
        .def_prop_ro("failed", &am::Band::failed)
        .def("count_words", [](const am::Band& job) { return owned(job.count_words()); })
        .def("count_real",
             [](const am::Band& job) {
                 const auto real = job.count_real();
                 return std::make_tuple(real.mantissa, real.exponent);
             })
        .def("posteriors", [](const am::Band& job) { return owned(job.posteriors()); })
        .def("digits", [](const am::Band& job) { return owned(job.digits()); })
        .def("layer", [](const am::Band& job) {
            am::BandLayer layer = job.layer();
            return std::make_tuple(owned(std::move(layer.values)), layer.exponent);
        });
}

void bind_signs(nb::module_& m) {
    using Kernel = void (*)(std::span<const std::uint32_t>, int, std::uint64_t, std::uint64_t,
                            am::Isa, std::span<std::uint64_t>) noexcept;
    const auto bound = [](Kernel kernel, bool minors) {
        return [kernel, minors](const Array<std::uint32_t>& matrix, int n, std::uint64_t first,
                                std::uint64_t last, am::Isa isa, std::size_t words) {
            std::vector<std::uint64_t> sums((minors ? matrix.size() : 1) * words);
            {
                const nb::gil_scoped_release nogil;
                kernel(view(matrix), n, first, last, isa, sums);
            }
            return owned(std::move(sums));
        };
    };
    nb::enum_<am::Isa>(m, "Isa")
        .value("portable", am::Isa::portable)
        .value("avx2", am::Isa::avx2)
        .value("avx512", am::Isa::avx512);
    m.attr("signs_largest") = am::signs_largest_n;
    m.def("supported", &am::supported);
    m.def("best_isa", &am::best_isa);
    m.def("signs_units", &am::signs_units);
    m.def("signs_factors", [](const Array<std::uint32_t>& matrix, int n) {
        return am::signs_factors(view(matrix), n);
    });
    m.def("signs_count", bound(am::signs_count, false));
    m.def("signs_minors", bound(am::signs_minors, true));
    m.def("signs_rounding", &am::signs_rounding);
    m.def("signs_count_double",
          [](const Reals& matrix, int n, std::uint64_t first, std::uint64_t last, am::Isa isa) {
              const auto sum = [&] {
                  const nb::gil_scoped_release nogil;
                  return am::signs_count_double(view(matrix), n, first, last, isa);
              }();
              return std::make_tuple(sum.sum, sum.absolute);
          });
    m.def("signs_minors_double",
          [](const Reals& matrix, int n, std::uint64_t first, std::uint64_t last, am::Isa isa) {
              std::vector<double> sums(matrix.size());
              {
                  const nb::gil_scoped_release nogil;
                  am::signs_minors_double(view(matrix), n, first, last, isa, sums);
              }
              return owned(std::move(sums));
          });
    m.def("signs_minors_errors", [](const Reals& matrix, int n, std::uint64_t ranges) {
        std::vector<double> errors(static_cast<std::size_t>(n));
        {
            const nb::gil_scoped_release nogil;
            am::signs_minors_errors(view(matrix), n, ranges, errors);
        }
        return owned(std::move(errors));
    });
}

void bind_ryser(nb::module_& m) {
    using Matrix = Array<std::uint32_t>;
    m.attr("ryser_largest") = am::ryser_largest_n;
    m.def("ryser_units", &am::ryser_units);
    m.def("ryser_order", [](const Matrix& matrix, int n, int moves, std::uint64_t seed) {
        std::vector<std::int32_t> order(static_cast<std::size_t>(n));
        {
            const nb::gil_scoped_release nogil;
            am::ryser_order(view(matrix), n, moves, seed, order);
        }
        return owned(std::move(order));
    });
    m.def("ryser_prefixes",
          [](const Matrix& matrix, int n, const Ints& order, int descents, std::uint64_t seed) {
              const nb::gil_scoped_release nogil;
              return am::ryser_prefixes(view(matrix), n, view(order), descents, seed);
          });
    m.def("ryser_count", [](const Matrix& matrix, int n, const Ints& order, std::uint64_t first,
                            std::uint64_t last, std::size_t words) {
        std::vector<std::uint64_t> sum(words);
        {
            const nb::gil_scoped_release nogil;
            am::ryser_count(view(matrix), n, view(order), first, last, sum);
        }
        return owned(std::move(sum));
    });
}

void bind_subset(nb::module_& m) {
    m.attr("subset_limit") = am::subset_limit;
    m.def("subset_fits",
          [](std::int32_t n, const Reals& weights) { return am::subset_fits(n, view(weights)); });
    m.def("subset_bytes", &am::subset_bytes);
    nb::class_<am::SubsetProgramme>(m, "SubsetProgramme")
        .def("__init__",
             [](am::SubsetProgramme* job, std::int32_t n, const Reals& weights, bool posteriors) {
                 new (job) am::SubsetProgramme(n, view(weights), posteriors);
             })
        .def("run",
             [](am::SubsetProgramme& job, double max_subsets) {
                 const nb::gil_scoped_release nogil;
                 return job.run(max_subsets);
             })
        .def_prop_ro("subsets_done", &am::SubsetProgramme::subsets_done)
        .def_prop_ro("subsets_in_all", &am::SubsetProgramme::subsets_in_all)
        .def("count_real",
             [](const am::SubsetProgramme& job) {
                 const auto real = job.count_real();
                 return std::make_tuple(real.mantissa, real.exponent);
             })
        .def("posteriors", [](const am::SubsetProgramme& job) { return owned(job.posteriors()); });
}

void bind_small(nb::module_& m) {
    m.def("small_counts", [](const Ints& user_offsets, const Ints& behaviour_counts,
                             const Ints& indptr, const Ints& indices, bool minors) {
        std::vector<std::uint64_t> totals(behaviour_counts.size());
        std::vector<std::uint64_t> through(minors ? indices.size() : 0);
        {
            const nb::gil_scoped_release nogil;
            am::small_counts(
                {view(user_offsets), view(behaviour_counts), view(indptr), view(indices)}, totals,
                through);
        }
        return std::make_tuple(owned(std::move(totals)), owned(std::move(through)));
    });
    m.def("small_counts_weighted",
          [](const Ints& user_offsets, const Ints& behaviour_counts, const Ints& indptr,
             const Ints& indices, const Reals& weights, bool minors) {
              std::vector<double> totals(behaviour_counts.size());
              std::vector<double> through(minors ? indices.size() : 0);
              {
                  const nb::gil_scoped_release nogil;
                  am::small_counts(
                      {view(user_offsets), view(behaviour_counts), view(indptr), view(indices)},
                      view(weights), totals, through);
              }
              return std::make_tuple(owned(std::move(totals)), owned(std::move(through)));
          });
}

void bind_scaling(nb::module_& m) {
    m.def("doubly_stochastic",
          [](const Ints& indptr, const Ints& indices, const Reals& weights,
             const Reals& row_targets, std::int32_t n_columns, int sweeps, double tolerance) {
              std::vector<double> shares(indices.size());
              std::vector<double> column_logs(static_cast<std::size_t>(n_columns));
              const auto outcome = [&] {
                  const nb::gil_scoped_release nogil;
                  return am::doubly_stochastic(
                      {view(indptr), view(indices), view(weights), view(row_targets), n_columns},
                      sweeps, tolerance, shares, column_logs);
              }();
              return std::make_tuple(outcome.balanced, owned(std::move(shares)),
                                     owned(std::move(column_logs)));
          });
}

void bind_edges(nb::module_& m) {
    m.def("group_hashes", [](const Words& hashes) {
        auto groups = [&] {
            const nb::gil_scoped_release nogil;
            return am::group_hashes(view(hashes));
        }();
        return std::make_tuple(owned(std::move(groups.codes)), owned(std::move(groups.first)));
    });
    m.def(
        "sort_edges", [](const Ints& rows, const Ints& columns, std::int32_t n_rows, bool ordered) {
            auto edges = [&] {
                const nb::gil_scoped_release nogil;
                return am::sort_edges(view(rows), view(columns), n_rows, ordered);
            }();
            return std::make_tuple(owned(std::move(edges.indptr)), owned(std::move(edges.indices)),
                                   owned(std::move(edges.order)), edges.duplicates);
        });
}

void bind_structure(nb::module_& m) {
    using am::BlockTable, am::Structure;
    const auto graph = [](std::int32_t n_behaviours, const Ints& indptr, const Ints& indices) {
        return am::BipartiteView{static_cast<std::int32_t>(indptr.size()) - 1, n_behaviours,
                                 view(indptr), view(indices)};
    };
    nb::class_<Structure> structure(m, "Structure");
    structure.def_ro("n_matched", &Structure::n_matched);
    structure.def_ro("n_blocks", &Structure::n_blocks);
    show<&Structure::behaviour_of_user>(structure, "behaviour_of_user");
    show<&Structure::user_of_behaviour>(structure, "user_of_behaviour");
    show<&Structure::block_of_user>(structure, "block_of_user");
    show<&Structure::block_of_behaviour>(structure, "block_of_behaviour");
    show<&Structure::witness_users>(structure, "witness_users");
    show<&Structure::witness_behaviours>(structure, "witness_behaviours");
    m.def("find_structure",
          [graph](std::int32_t n_behaviours, const Ints& indptr, const Ints& indices) {
              const nb::gil_scoped_release nogil;
              return am::find_structure(graph(n_behaviours, indptr, indices));
          });
    nb::class_<BlockTable> table(m, "BlockTable");
    show<&BlockTable::user_offsets>(table, "user_offsets");
    show<&BlockTable::users>(table, "users");
    show<&BlockTable::behaviour_offsets>(table, "behaviour_offsets");
    show<&BlockTable::behaviours>(table, "behaviours");
    show<&BlockTable::edge_offsets>(table, "edge_offsets");
    show<&BlockTable::row_offsets>(table, "row_offsets");
    show<&BlockTable::local_indices>(table, "local_indices");
    show<&BlockTable::edges>(table, "edges");
    show<&BlockTable::class_of_block>(table, "class_of_block");
    show<&BlockTable::class_first>(table, "class_first");
    m.def("block_table", [graph](std::int32_t n_behaviours, const Ints& indptr, const Ints& indices,
                                 const Structure& found, const Reals& weights) {
        const nb::gil_scoped_release nogil;
        return am::build_block_table(graph(n_behaviours, indptr, indices), found, view(weights));
    });
}

void bind_estimates(nb::module_& m) {
    const auto block = [](const Ints& indptr, const Ints& indices, const Reals& weights) {
        return am::SquareBlock{static_cast<std::int32_t>(indptr.size()) - 1, view(indptr),
                               view(indices), view(weights)};
    };
    m.def("bethe",
          [block](const Ints& indptr, const Ints& indices, const Reals& weights, double kappa,
                  double tolerance, int sweeps, double damping, const Bytes& stop) {
              auto found = [&] {
                  const nb::gil_scoped_release nogil;
                  return am::bethe(block(indptr, indices, weights),
                                   {kappa, tolerance, sweeps, damping}, stop_flag(stop));
              }();
              return std::make_tuple(found.log, owned(std::move(found.marginals)), found.residual,
                                     found.sweeps);
          });
    nb::class_<am::Guided>(m, "Guided")
        .def("__init__",
             [block](am::Guided* job, const Ints& indptr, const Ints& indices, const Reals& weights,
                     double kappa, int children, double tolerance, int refreshes,
                     const Bytes& stop) {
                 const nb::gil_scoped_release nogil;
                 new (job) am::Guided(block(indptr, indices, weights),
                                      {kappa, children, tolerance, refreshes}, stop_flag(stop));
             })
        .def("draws",
             [](const am::Guided& job, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                bool marginals, bool matchings, const Bytes& stop) {
                 auto drawn = [&] {
                     const nb::gil_scoped_release nogil;
                     return job.draws(seed, first, last, {marginals, matchings}, stop_flag(stop));
                 }();
                 return std::make_tuple(
                     owned(std::move(drawn.log_weights)), drawn.scale,
                     owned(std::move(drawn.first)), owned(std::move(drawn.square)),
                     owned(std::move(drawn.second)), owned(std::move(drawn.matchings)));
             })
        .def("log_weights_of", [](const am::Guided& job, const Ints& matchings, const Bytes& stop) {
            auto logs = [&] {
                const nb::gil_scoped_release nogil;
                return job.log_weights_of(view(matchings), stop_flag(stop));
            }();
            return owned(std::move(logs));
        });
    const auto samples = [](am::WormSamples& found) {
        return std::make_tuple(owned(std::move(found.matchings)), owned(std::move(found.counts)),
                               owned(std::move(found.last)), found.steps);
    };
    nb::class_<am::Worm>(m, "Worm")
        .def("__init__",
             [block](am::Worm* job, const Ints& indptr, const Ints& indices, const Reals& weights) {
                 const nb::gil_scoped_release nogil;
                 new (job) am::Worm(block(indptr, indices, weights));
             })
        .def("run",
             [samples](const am::Worm& job, const Ints& matching, std::uint64_t seed,
                       std::uint64_t index, std::uint64_t number, std::uint64_t worms,
                       bool matchings, const Bytes& stop, std::uint64_t most_steps) {
                 auto found = [&] {
                     const nb::gil_scoped_release nogil;
                     return job.run(view(matching), seed, index, number, worms, matchings,
                                    stop_flag(stop), most_steps);
                 }();
                 return samples(found);
             })
        .def("run_together",
             [samples](const am::Worm& job, const Ints& starts, std::uint64_t seed,
                       std::uint64_t index, std::uint64_t number, std::uint64_t worms,
                       bool matchings, const Bytes& stop, std::uint64_t most_steps) {
                 auto found = [&] {
                     const nb::gil_scoped_release nogil;
                     return job.run_together(view(starts), seed, index, number, worms, matchings,
                                             stop_flag(stop), most_steps);
                 }();
                 std::vector<decltype(samples(found.front()))> lanes;
                 for (auto& lane : found) lanes.push_back(samples(lane));
                 return lanes;
             });
}

void bind_hidden_chain(nb::module_& m) {
    nb::enum_<am::Counted>(m, "Counted")
        .value("nothing", am::Counted::nothing)
        .value("cover", am::Counted::cover)
        .value("losses", am::Counted::losses);
    nb::class_<am::HiddenFigures> figures(m, "HiddenFigures");
    figures.def_ro("log_evidence", &am::HiddenFigures::log_evidence)
        .def_ro("joint_bits", &am::HiddenFigures::joint_bits)
        .def_ro("busy", &am::HiddenFigures::busy)
        .def_ro("miss", &am::HiddenFigures::miss)
        .def_ro("widest", &am::HiddenFigures::widest);
    show<&am::HiddenFigures::lost>(figures, "lost");
    show<&am::HiddenFigures::inside>(figures, "inside");
    show<&am::HiddenFigures::departed>(figures, "departed");
    show<&am::HiddenFigures::shannon>(figures, "shannon");
    show<&am::HiddenFigures::shannon_all>(figures, "shannon_all");
    show<&am::HiddenFigures::collision>(figures, "collision");
    show<&am::HiddenFigures::probability>(figures, "probability");
    show<&am::HiddenFigures::guessing>(figures, "guessing");
    show<&am::HiddenFigures::group_shannon>(figures, "group_shannon");
    show<&am::HiddenFigures::group_probability>(figures, "group_probability");
    show<&am::HiddenFigures::guess>(figures, "guess");
    show<&am::HiddenFigures::allowed>(figures, "allowed");
    show<&am::HiddenFigures::group_guess>(figures, "group_guess");
    show<&am::HiddenFigures::real>(figures, "real");
    show<&am::HiddenFigures::pairs>(figures, "pairs");
    nb::class_<am::HiddenChain>(m, "HiddenChain")
        .def(
            "__init__",
            [](am::HiddenChain* chain, const Bytes& arrival, const Reals& move, const Reals& stay,
               const Reals& gap, std::int64_t end_inside, am::Counted counted, std::int32_t number,
               double cut, std::int32_t together, double tolerance, std::int32_t guessing_every,
               bool rows, bool pairs, const Ints& groups) {
                const nb::gil_scoped_release nogil;
                new (chain) am::HiddenChain({view(arrival), view(move), view(stay), view(gap)},
                                            {end_inside, counted, number, cut, together, tolerance,
                                             guessing_every, rows, pairs},
                                            view(groups));
            },
            "arrival"_a, "move"_a, "stay"_a, "gap"_a, "end_inside"_a, "counted"_a, "number"_a,
            "cut"_a, "together"_a, "tolerance"_a, "guessing_every"_a, "rows"_a, "pairs"_a,
            "groups"_a)
        .def("stuck", &am::HiddenChain::stuck)
        .def("log_evidence", &am::HiddenChain::log_evidence)
        .def("done", &am::HiddenChain::done)
        .def("advance", &am::HiddenChain::advance, "events"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def("figures", &am::HiddenChain::figures);
}

void bind_nesting(nb::module_& m) {
    m.attr("nesting_group") = am::nesting_group;
    nb::class_<am::Nesting>(m, "Nesting")
        .def("__init__",
             [](am::Nesting* nesting, std::int32_t n, const Ints& indptr, const Ints& indices,
                const Reals& log_weights) {
                 const nb::gil_scoped_release nogil;
                 new (nesting) am::Nesting({n, n, view(indptr), view(indices)}, view(log_weights));
             })
        .def("improve",
             [](am::Nesting& nesting, std::uint64_t moves, std::uint64_t seed) {
                 const nb::gil_scoped_release nogil;
                 nesting.improve(moves, seed);
             })
        .def_prop_ro("log_bound", &am::Nesting::log_bound)
        .def("tally",
             [](const am::Nesting& nesting, std::uint64_t seed, std::uint64_t first,
                std::uint64_t last, const Reals& larger, const Reals& smaller) {
                 auto tally = [&] {
                     const nb::gil_scoped_release nogil;
                     return nesting.tally(seed, first, last, view(larger), view(smaller));
                 }();
                 return std::make_tuple(tally.draws, tally.sum, tally.squares,
                                        owned(std::move(tally.gains)),
                                        owned(std::move(tally.losses)));
             })
        .def("draws",
             [](const am::Nesting& nesting, std::uint64_t seed, std::uint64_t first,
                std::uint64_t last) {
                 auto drawn = [&] {
                     const nb::gil_scoped_release nogil;
                     return nesting.draws(seed, first, last);
                 }();
                 return owned(std::move(drawn));
             })
        .def("samples", [](const am::Nesting& nesting, std::uint64_t seed, std::uint64_t first,
                           std::uint64_t last) {
            auto kept = [&] {
                const nb::gil_scoped_release nogil;
                return nesting.samples(seed, first, last);
            }();
            return owned(std::move(kept.columns));
        });
}

auto phase_rows(am::PhaseRows&& rows) {
    return std::make_tuple(owned(std::move(rows.departed)), owned(std::move(rows.inside)),
                           owned(std::move(rows.collision)), owned(std::move(rows.shannon)),
                           owned(std::move(rows.shannon_error)), owned(std::move(rows.shannon_all)),
                           owned(std::move(rows.shannon_all_error)), owned(std::move(rows.largest)),
                           owned(std::move(rows.largest_error)), owned(std::move(rows.guess)),
                           owned(std::move(rows.allowed)), owned(std::move(rows.guessing)),
                           owned(std::move(rows.group_shannon)),
                           owned(std::move(rows.group_largest)), owned(std::move(rows.group_guess)),
                           owned(std::move(rows.pair_logs)), owned(std::move(rows.inside_logs)),
                           owned(std::move(rows.unseen_logs)), rows.error);
}

void bind_phases(nb::module_& m) {
    m.attr("phases_largest") = am::phases_largest;
    using Chain = am::PhaseChain;
    nb::class_<Chain>(m, "PhaseChain")
        .def(
            "__init__",
            [](Chain* chain, const Reals& arrivals, const Reals& departures, double end, int hops,
               double loss, double cover, int counted, std::int32_t count_end,
               std::int32_t total_end, double epsilon, const Reals& early) {
                const nb::gil_scoped_release nogil;
                const am::PhaseModel model{
                    hops,      loss,      cover,  static_cast<am::PhaseCount>(counted),
                    count_end, total_end, epsilon};
                new (chain) Chain(model, view(arrivals), view(departures), end, view(early));
            },
            "arrivals"_a, "departures"_a, "end"_a, "hops"_a, "loss"_a, "cover"_a, "counted"_a,
            "count_end"_a, "total_end"_a, "epsilon"_a, "early"_a)
        .def(
            "group", [](Chain& chain, const Ints& groups) { chain.group(view(groups)); },
            "groups"_a)
        .def("forward", &Chain::forward, "work"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("backward", &Chain::backward, "keep"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("possible", &Chain::possible)
        .def_prop_ro("log_evidence", &Chain::log_evidence)
        .def_prop_ro("share_done", &Chain::share_done)
        .def_prop_ro("work", &Chain::work)
        .def_prop_ro("cells", &Chain::cells)
        .def_prop_ro("stretches", &Chain::stretches)
        .def_prop_ro("cut_off", &Chain::cut_off)
        .def_prop_ro("kept_bytes", &Chain::kept_bytes)
        .def("lost", [](const Chain& chain) { return owned(chain.lost()); })
        .def("real", [](const Chain& chain) { return owned(chain.real()); })
        .def("row_work", [](const Chain& chain) { return owned(chain.row_work()); })
        .def(
            "rows",
            [](const Chain& chain, std::size_t first, std::size_t last, double tolerance,
               const Reals& inside_logs, const Reals& unseen_logs, std::size_t n_pairs,
               const Bytes& stop) {
                std::vector<double> pairs(n_pairs, 0.0);
                auto rows = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.rows(first, last, tolerance, view(inside_logs), view(unseen_logs),
                                      pairs, stop_flag(stop));
                }();
                return std::make_tuple(phase_rows(std::move(rows)), owned(std::move(pairs)));
            },
            "first"_a, "last"_a, "tolerance"_a, "inside_logs"_a, "unseen_logs"_a, "n_pairs"_a,
            "stop"_a);
    using Sampler = am::PhaseSampler;
    nb::class_<Sampler>(m, "PhaseSampler")
        .def(
            "__init__",
            [](Sampler* sampler, const Chain& chain, std::size_t batches, std::size_t each,
               std::uint64_t seed, const Reals& inside_logs, const Reals& unseen_logs) {
                new (sampler)
                    Sampler(chain, batches, each, seed, view(inside_logs), view(unseen_logs));
            },
            "chain"_a, "batches"_a, "each"_a, "seed"_a, "inside_logs"_a, "unseen_logs"_a,
            nb::keep_alive<1, 2>())
        .def("back", &Sampler::back, nb::call_guard<nb::gil_scoped_release>())
        .def("rows",
             [](const Sampler& sampler) { return phase_rows(am::PhaseRows(sampler.rows())); });
}

}  // namespace

NB_MODULE(_kernels, m) {
    // Threads that the interpreter does not wait for may hold results when it ends: that is no leak.
    nb::set_leak_warnings(false);
    m.attr("version") = ANONYMATCH_VERSION;
    m.attr("small_behaviours") = am::small_behaviours;
    m.attr("frontier_width_limit") = am::frontier_width_limit;
    bind_frontier(m);
    bind_band(m);
    bind_signs(m);
    bind_ryser(m);
    bind_subset(m);
    bind_small(m);
    bind_scaling(m);
    bind_edges(m);
    bind_structure(m);
    bind_estimates(m);
    bind_hidden_chain(m);
    bind_nesting(m);
    bind_phases(m);
}
