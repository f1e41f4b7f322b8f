// The whole test harness: a failed CHECK prints where and makes the program fail.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>

namespace check {

inline int failures = 0;

template <class Left, class Right>
bool same(const Left& left, const Right& right) {
    if constexpr (std::is_integral_v<Left> && std::is_integral_v<Right>) {
        using Wide = std::common_type_t<Left, Right>;
        return static_cast<Wide>(left) == static_cast<Wide>(right);
    } else {
        return left == right;
    }
}

/// Whether a call says that its arguments are wrong.
template <class Call>
bool refused(Call call) {
    try {
        call();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

inline int report(const char* program) {
    if (failures == 0) std::printf("%s: all checks passed\n", program);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace check

#define CHECK(claim)                                                                   \
    do {                                                                               \
        if (!(claim)) {                                                                \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
            ++check::failures;                                                         \
        }                                                                              \
    } while (false)

#define CHECK_EQUAL(left, right) CHECK(check::same((left), (right)))
