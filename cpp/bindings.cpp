// The only file that knows both Python and the kernels: arrays and integers in and out, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_kernels, m) {
    m.attr("version") = ANONYMATCH_VERSION;
}
