// The floating sums of glynn.hpp, one sign vector a lane. Included by one file for each instruction
// set, inside its unnamed namespace, after that file chose its target and `lane_columns`.

constexpr std::size_t lanes = std::size_t{1} << lane_columns;
typedef double Vector __attribute__((vector_size(8 << lane_columns)));
typedef std::int64_t Bits __attribute__((vector_size(8 << lane_columns)));
constexpr double enlarge = 0x1p-8;

struct Rows {
    Vector sums[glynn_largest_n];

    Rows(const DoubleProblem& problem, std::uint64_t unit) noexcept {
        const auto n = static_cast<std::size_t>(problem.n);
        for (std::size_t i = 0; i < n; ++i) {
            const double* weight = problem.weight.data() + i * n;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    const bool minus = j < lane_columns ? (lane >> j & 1) != 0
                                                        : j >= problem.inner() && j + 1 < n &&
                                                              (unit >> (j - problem.inner()) & 1);
                    sum += minus ? -weight[j] : weight[j];
                }
                sums[i][lane] = sum;
            }
        }
    }

    /// Flips the column that Gray code changes after `step`.
    void flip(const DoubleProblem& problem, std::uint64_t step) noexcept {
        const auto n = static_cast<std::size_t>(problem.n);
        const auto bit = static_cast<std::size_t>(__builtin_ctzll(step + 1));
        const double twice = ((step + 1) >> (bit + 1) & 1) == 0 ? -2 : 2;
        const double* weight = problem.weight.data() + lane_columns + bit;
        for (std::size_t i = 0; i < n; ++i) sums[i] += twice * weight[i * n];
    }
};

inline void size_of(const Vector& value, Vector& result) noexcept {
    Bits bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    bits &= 0x7fffffffffffffff;
    __builtin_memcpy(&result, &bits, sizeof bits);
    result += enlarge;
}

/// The sum over lanes, each with the product of its signs, and also with that of one lane column.
inline double across(const Vector& value, std::size_t column = lane_columns) noexcept {
    double sum = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const bool minus =
            (__builtin_parityll(lane) != 0) != (column < lane_columns && (lane >> column & 1));
        sum += minus ? -value[lane] : value[lane];
    }
    return sum;
}

inline double plain(const Vector& value) noexcept {
    double sum = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) sum += value[lane];
    return sum;
}

inline void count_double(const DoubleProblem& problem, Range units, DoubleSums& out) {
    const auto n = static_cast<std::size_t>(problem.n);
    const std::uint64_t steps = std::uint64_t{1} << (problem.inner() - lane_columns);
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) {
        Rows rows(problem, unit);
        Vector sum{}, absolute{};
        for (std::uint64_t step = 0; step < steps; ++step) {
            // Two chains of products each hide the latency of the multiplications.
            Vector product = Vector{} + 1.0, other = product, size = product, other_size = product;
            for (std::size_t i = 0; i + 1 < n; i += 2) {
                Vector factor, other_factor;
                size_of(rows.sums[i], factor);
                size_of(rows.sums[i + 1], other_factor);
                product *= rows.sums[i];
                other *= rows.sums[i + 1];
                size *= factor;
                other_size *= other_factor;
            }
            if (n % 2 != 0) {
                Vector factor;
                size_of(rows.sums[n - 1], factor);
                product *= rows.sums[n - 1];
                size *= factor;
            }
            product *= other;
            size *= other_size;
            if ((__builtin_parityll(unit) != 0) != (step % 2 != 0))
                sum -= product;
            else
                sum += product;
            absolute += size;
            if (step % 256 == 255 || step + 1 == steps) {
                out.cells[0].add(across(sum));
                out.absolute[0].add(plain(absolute));
                sum = absolute = Vector{};
            }
            if (step + 1 < steps) rows.flip(problem, step);
        }
    }
}
