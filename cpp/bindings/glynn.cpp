#include "glynn/glynn.hpp"

#include <nanobind/stl/tuple.h>

#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_glynn(nb::module_& m) {
    using Matrix = am::GlynnMatrix;
    using Kernel = void (*)(const Matrix&, std::uint64_t, std::uint64_t, am::Isa,
                            std::span<std::uint64_t>) noexcept;
    const auto units = [](Kernel kernel, bool minors) {
        return [kernel, minors](const Matrix& matrix, std::uint64_t first, std::uint64_t last,
                                am::Isa isa, std::size_t words) {
            const auto n = static_cast<std::size_t>(matrix.n());
            std::vector<std::uint64_t> sums((minors ? n * n : 1) * words);
            {
                const nb::gil_scoped_release nogil;
                kernel(matrix, first, last, isa, sums);
            }
            return owned(std::move(sums));
        };
    };
    nb::enum_<am::Isa>(m, "Isa")
        .value("portable", am::Isa::portable)
        .value("avx2", am::Isa::avx2)
        .value("avx512", am::Isa::avx512);
    m.attr("glynn_largest") = am::glynn_largest_n;
    m.def("supported", &am::supported, "isa"_a);
    m.def("best_isa", &am::best_isa);
    m.def("glynn_units", &am::glynn_units, "n"_a);
    nb::class_<Matrix>(m, "GlynnMatrix")
        .def(
            "__init__",
            [](Matrix* made, const Array<std::uint32_t>& matrix, int n) {
                new (made) Matrix(view(matrix), n);
            },
            "matrix"_a, "n"_a)
        .def_prop_ro("n", &Matrix::n)
        .def_prop_ro("factors", &Matrix::factors)
        .def_prop_ro("kept_bits", &Matrix::kept_bits)
        .def("count_kept", units(am::glynn_count_kept, false), "first"_a, "last"_a, "isa"_a,
             "words"_a)
        .def("count", units(am::glynn_count, false), "first"_a, "last"_a, "isa"_a, "words"_a)
        .def("minors", units(am::glynn_minors, true), "first"_a, "last"_a, "isa"_a, "words"_a);
    m.def("glynn_rounding", &am::glynn_rounding, "n"_a);
    m.def(
        "glynn_count_double",
        [](const Reals& matrix, int n, std::uint64_t first, std::uint64_t last, am::Isa isa) {
            const auto sum = [&] {
                const nb::gil_scoped_release nogil;
                return am::glynn_count_double(view(matrix), n, first, last, isa);
            }();
            return std::make_tuple(sum.sum, sum.absolute);
        },
        "matrix"_a, "n"_a, "first"_a, "last"_a, "isa"_a);
    m.def(
        "glynn_minors_double",
        [](const Reals& matrix, int n, std::uint64_t first, std::uint64_t last, am::Isa isa) {
            std::vector<double> sums(matrix.size());
            {
                const nb::gil_scoped_release nogil;
                am::glynn_minors_double(view(matrix), n, first, last, isa, sums);
            }
            return owned(std::move(sums));
        },
        "matrix"_a, "n"_a, "first"_a, "last"_a, "isa"_a);
    m.def(
        "glynn_minors_errors",
        [](const Reals& matrix, int n, std::uint64_t ranges) {
            std::vector<double> errors(static_cast<std::size_t>(n));
            {
                const nb::gil_scoped_release nogil;
                am::glynn_minors_errors(view(matrix), n, ranges, errors);
            }
            return owned(std::move(errors));
        },
        "matrix"_a, "n"_a, "ranges"_a);
}

}  // namespace anonymatch::bindings
