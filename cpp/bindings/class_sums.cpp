#include "class_sums/class_sums.hpp"

#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_class_sums(nb::module_& m) {
    m.attr("class_sums_largest_prime") = am::class_sums_largest_prime;
    m.attr("class_sums_most_rows") = am::class_sums_most_rows;
    nb::class_<am::ClassSums>(m, "ClassSums")
        .def(
            "__init__",
            [](am::ClassSums* made, const Words& weights, const Ints& sizes, const Ints& orders,
               const Words& points, const Words& factors, std::uint64_t prime) {
                new (made) am::ClassSums(view(weights), view(sizes), view(orders), view(points),
                                         view(factors), prime);
            },
            "weights"_a, "sizes"_a, "orders"_a, "points"_a, "factors"_a, "prime"_a)
        .def_prop_ro("units", &am::ClassSums::units)
        .def("count", &am::ClassSums::count, "first"_a, "last"_a, "isa"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def(
            "minors",
            [](const am::ClassSums& sums, std::uint64_t first, std::uint64_t last, am::Isa isa) {
                std::vector<std::uint64_t> values;
                {
                    const nb::gil_scoped_release nogil;
                    values = sums.minors(first, last, isa);
                }
                return owned(std::move(values));
            },
            "first"_a, "last"_a, "isa"_a);
}

}  // namespace anonymatch::bindings
