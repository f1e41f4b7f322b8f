// What the bindings share: the types of arguments and results. Each family of kernels has one file
// beside this: arrays and integers in and out, every argument named, GIL released.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch::bindings {

namespace nb = nanobind;
namespace am = anonymatch;
using namespace nb::literals;

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

/// The caller's cancel byte; without one nothing is cancelled.
inline am::CancelFlag cancel_flag(const Bytes& cancel) {
    return cancel.size() == 0 ? am::CancelFlag() : am::CancelFlag(cancel.data());
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

void bind_band(nb::module_& m);
void bind_belief_propagation(nb::module_& m);
void bind_class_chain(nb::module_& m);
void bind_class_sums(nb::module_& m);
void bind_frontier(nb::module_& m);
void bind_glynn(nb::module_& m);
void bind_hidden_chain(nb::module_& m);
void bind_importance(nb::module_& m);
void bind_link_chain(nb::module_& m);
void bind_nested_bound(nb::module_& m);
void bind_network(nb::module_& m);
void bind_passage(nb::module_& m);
void bind_particles(nb::module_& m);
void bind_phase_chain(nb::module_& m);
void bind_planar(nb::module_& m);
void bind_profile_chain(nb::module_& m);
void bind_ryser(nb::module_& m);
void bind_sinkhorn(nb::module_& m);
void bind_small(nb::module_& m);
void bind_spare_chain(nb::module_& m);
void bind_structure(nb::module_& m);
void bind_subset(nb::module_& m);
void bind_tree(nb::module_& m);
void bind_swap_chain(nb::module_& m);
void bind_table_chain(nb::module_& m);
void bind_worm(nb::module_& m);

}  // namespace anonymatch::bindings
