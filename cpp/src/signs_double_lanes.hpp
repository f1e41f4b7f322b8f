// The floating sums of signs.hpp, one sign vector a lane. Included by one file for each instruction
// set, inside its unnamed namespace, after that file chose its target and `lane_columns`.

constexpr std::size_t lanes = std::size_t{1} << lane_columns;
typedef double Vector __attribute__((vector_size(8 << lane_columns)));
typedef std::int64_t Bits __attribute__((vector_size(8 << lane_columns)));
constexpr double enlarge = 0x1p-8;

struct Rows {
    Vector sums[signs_largest_n];

    Rows(const DoubleProblem& problem, std::uint64_t unit) noexcept {
        const auto n = static_cast<std::size_t>(problem.n);
        for (std::size_t i = 0; i < n; ++i) {
            const double* weight = problem.weight.data() + i * n;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    const bool minus = j < lane_columns ? (lane >> j & 1) != 0
                                                        : j >= problem.inner() && j + 1 < n && (unit >> (j - problem.inner()) & 1);
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
        const bool minus = (__builtin_parityll(lane) != 0) != (column < lane_columns && (lane >> column & 1));
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

// Sixteen steps over the four fastest Gray columns make a block: its products without one row are
// kept by the signs of these columns, then summed with and without each of them.
inline void minors_double(const DoubleProblem& problem, Range units, DoubleSums& out) {
    constexpr std::size_t block_columns = 4;
    constexpr std::size_t block = 16;
    constexpr std::uint64_t plain_blocks = 128;
    const auto n = static_cast<std::size_t>(problem.n);
    const std::size_t first_above = lane_columns + block_columns;
    const std::uint64_t steps = std::uint64_t{1} << (problem.inner() - lane_columns);
    // sums[i][j]: product without row i times the sign of column j; lane columns share the last one.
    struct Tables {
        Vector without[signs_largest_n][block];
        Vector sums[2][signs_largest_n][signs_largest_n];
        Vector sizes[signs_largest_n];
    };
    const auto tables = std::make_unique<Tables>();
    auto& [without, sums, sizes] = *tables;
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) {
        Rows rows(problem, unit);
        for (std::size_t i = 0; i < n; ++i) {
            sizes[i] = Vector{};
            for (std::size_t j = 0; j < n; ++j) sums[0][i][j] = sums[1][i][j] = Vector{};
        }
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t gray = step ^ step >> 1;
            Vector prefix[signs_largest_n], prefix_size[signs_largest_n];
            prefix[0] = Vector{} + ((__builtin_parityll(unit) != 0) != (step % 2 != 0) ? -1.0 : 1.0);
            prefix_size[0] = Vector{} + 1.0;
            for (std::size_t i = 1; i < n; ++i) {
                Vector factor;
                size_of(rows.sums[i - 1], factor);
                prefix[i] = prefix[i - 1] * rows.sums[i - 1];
                prefix_size[i] = prefix_size[i - 1] * factor;
            }
            Vector suffix = Vector{} + 1.0;
            Vector suffix_size = suffix;
            for (std::size_t i = n; i-- > 0;) {
                Vector factor;
                size_of(rows.sums[i], factor);
                without[i][gray % block] = prefix[i] * suffix;
                sizes[i] += prefix_size[i] * suffix_size;
                suffix *= rows.sums[i];
                suffix_size *= factor;
            }
            if (step % block == block - 1) {
                for (std::size_t i = 0; i < n; ++i) {
                    Vector(&part)[block] = without[i];
                    std::size_t size = block;
                    for (std::size_t column = block_columns; column-- > 0;) {
                        size /= 2;
                        Vector difference{};
                        for (std::size_t k = 0; k < size; ++k) {
                            difference += part[k] - part[k + size];
                            part[k] += part[k + size];
                        }
                        sums[0][i][lane_columns + column] += difference;
                    }
                    for (std::size_t j = first_above; j < problem.inner(); ++j)
                        if (gray >> (j - lane_columns) & 1)
                            sums[0][i][j] -= part[0];
                        else
                            sums[0][i][j] += part[0];
                    sums[0][i][n - 1] += part[0];
                }
                const std::uint64_t blocks = step / block + 1;
                if (blocks % plain_blocks == 0 || step + 1 == steps)
                    for (std::size_t i = 0; i < n; ++i) {
                        for (std::size_t j = 0; j < n; ++j) {
                            sums[1][i][j] += sums[0][i][j];
                            sums[0][i][j] = Vector{};
                        }
                        out.absolute[i].add(plain(sizes[i]));
                        sizes[i] = Vector{};
                    }
            }
            if (step + 1 < steps) rows.flip(problem, step);
        }
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const bool inside = lane_columns <= j && j < problem.inner();
                const bool minus = j >= problem.inner() && j + 1 < n && (unit >> (j - problem.inner()) & 1);
                const double sum = across(sums[1][i][inside ? j : n - 1], j);
                out.cells[i * n + j].add(minus ? -sum : sum);
            }
    }
}
