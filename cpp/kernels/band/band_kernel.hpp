// The arithmetic of a band's step on arrays of all sets of one size (band.hpp, band_tables.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "band/band_tables.hpp"

namespace anonymatch::band {

/// Tables of where blocks begin, kept so that a step asks for no memory.
struct Offsets {
    BlockOffsets of_less;  // sets of the smaller size
    BlockOffsets of_more;
    BlockOffsets without;  // for insertions: none of the fresh bits held
    BlockOffsets with;     // one of them
    BlockOffsets whole;
};

/// z[U] += sum over c in U of weights[c] * x[U - c]: from sets of `size` to `size` + 1, of `bits`
/// bits. No weights (null): all one.
void up(const double* x, double* z, int bits, int size, const double* weights, Offsets& offsets);
void up(const std::uint64_t* x, std::uint64_t* z, int bits, int size, Offsets& offsets);

/// x[U] += sum over c not in U of weights[c] * z[U + c]. With `before` (the values of x on the way
/// there) also sums[c] += sum over U without c of before[U] * z[U + c].
void down(const double* z, double* x, int bits, int size, const double* weights,
          const double* before, double* sums, Offsets& offsets);
void down(const std::uint64_t* z, std::uint64_t* x, int bits, int size, Offsets& offsets);

/// `fresh` new lowest bits: sets of `size` out of bits + fresh, from `none` that hold none of them
/// and `less` (size - 1; may be null: zeros) that join the c-th with weights[c] (null: one).
void insert(const double* none, const double* less, double* whole, int bits, int fresh, int size,
            const double* weights, Offsets& offsets);
void insert(const std::uint64_t* none, const std::uint64_t* less, std::uint64_t* whole, int bits,
            int fresh, int size, Offsets& offsets);

/// The way back: `part` becomes the values of sets that hold none of the new bits (which = -1), or
/// just the `which`-th.
template <class T>
void extract(const T* whole, T* part, int bits, int fresh, int size, int which, Offsets& offsets);

/// target[i] += factor * source[i].
void add(const double* source, double factor, double* target, std::size_t size);
void add(const std::uint64_t* source, std::uint64_t factor, std::uint64_t* target,
         std::size_t size);

/// Takes from every low digit what is beyond `bits` and adds it to the high one (null: drops it).
/// Returns all bits that were taken, or-ed.
std::uint64_t carry(std::uint64_t* low, std::uint64_t* high, std::size_t size, int bits);

/// Sum of a[i] * b[i], in eight lanes a stretch of 64, 4096 stretches at a time.
double dot(const double* a, const double* b, std::size_t size);

}  // namespace anonymatch::band
