#include "ryser/ryser.hpp"

#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_ryser(nb::module_& m) {
    using Matrix = Array<std::uint32_t>;
    m.attr("ryser_largest") = am::ryser_largest_n;
    m.def("ryser_units", &am::ryser_units, "n"_a);
    m.def(
        "ryser_order",
        [](const Matrix& matrix, int n, int moves, std::uint64_t seed) {
            std::vector<std::int32_t> order(static_cast<std::size_t>(n));
            {
                const nb::gil_scoped_release nogil;
                am::ryser_order(view(matrix), n, moves, seed, order);
            }
            return owned(std::move(order));
        },
        "matrix"_a, "n"_a, "moves"_a, "seed"_a);
    m.def(
        "ryser_prefixes",
        [](const Matrix& matrix, int n, const Ints& order, int descents, std::uint64_t seed) {
            const nb::gil_scoped_release nogil;
            return am::ryser_prefixes(view(matrix), n, view(order), descents, seed);
        },
        "matrix"_a, "n"_a, "order"_a, "descents"_a, "seed"_a);
    m.def(
        "ryser_count",
        [](const Matrix& matrix, int n, const Ints& order, std::uint64_t first, std::uint64_t last,
           std::size_t words) {
            std::vector<std::uint64_t> sum(words);
            {
                const nb::gil_scoped_release nogil;
                am::ryser_count(view(matrix), n, view(order), first, last, sum);
            }
            return owned(std::move(sum));
        },
        "matrix"_a, "n"_a, "order"_a, "first"_a, "last"_a, "words"_a);
}

}  // namespace anonymatch::bindings
