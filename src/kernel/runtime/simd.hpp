// Arithmetic on one sample and one box: the same loops, compiled for each instruction set.
//
// On the grid every sum is exact, so lanes may be added in any order.
#pragma once

#include <cstdint>
#include <cstring>

#include "art/model.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#define SSLART_X86 1
#include <immintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SSLART_TARGET(set) __attribute__((target(set)))
#define SSLART_INLINE inline __attribute__((always_inline))
#define SSLART_RESTRICT __restrict__
#else
#define SSLART_TARGET(set)
#define SSLART_INLINE inline
#define SSLART_RESTRICT __restrict
#endif

#define SSLART_AVX2 SSLART_TARGET("avx2")
#define SSLART_AVX512 SSLART_TARGET("avx512f,avx512bw,avx512vl")

namespace sslart {

constexpr Index kLanes = 8;

SSLART_INLINE double sum_of_lanes(const double* lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// |a ∧ w|
SSLART_INLINE double overlap_of(const double* a, const double* w, Index length) {
    double lanes[kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= length; i += kLanes)
        for (Index k = 0; k < kLanes; ++k) lanes[k] += a[i + k] < w[i + k] ? a[i + k] : w[i + k];
    for (; i < length; ++i) lanes[0] += a[i] < w[i] ? a[i] : w[i];
    return sum_of_lanes(lanes);
}

constexpr Index kBoxesAtOnce = 16;

// |a ∧ w| of some boxes whose weights lie in columns: those of one side next to each other
SSLART_INLINE void overlaps_of(const double* a, const double* columns, Index stride, Index length, double* overlaps) {
    double lanes[kBoxesAtOnce] = {};
    for (Index i = 0; i < length; ++i)
        for (Index k = 0; k < kBoxesAtOnce; ++k) {
            const double w = columns[i * stride + k];
            lanes[k] += a[i] < w ? a[i] : w;
        }
    for (Index k = 0; k < kBoxesAtOnce; ++k) overlaps[k] = lanes[k];
}

// w ← a ∧ w; returns |w|
SSLART_INLINE double shrink_to(const double* a, double* w, Index length) {
    double lanes[kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= length; i += kLanes)
        for (Index k = 0; k < kLanes; ++k) {
            const double value = a[i + k] < w[i + k] ? a[i + k] : w[i + k];
            w[i + k] = value;
            lanes[k] += value;
        }
    for (; i < length; ++i) {
        w[i] = a[i] < w[i] ? a[i] : w[i];
        lanes[0] += w[i];
    }
    return sum_of_lanes(lanes);
}

// code = (x, 1 − x); returns whether a value of x is missing (NaN)
SSLART_INLINE bool complement_of(const double* SSLART_RESTRICT x, Index n_features, double* SSLART_RESTRICT code) {
    double* SSLART_RESTRICT complement = code + n_features;
    std::memcpy(code, x, static_cast<std::size_t>(n_features) * sizeof(double));
    for (Index i = 0; i < n_features; ++i) complement[i] = 1.0 - x[i];
    double lanes[kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= n_features; i += kLanes)
        for (Index k = 0; k < kLanes; ++k) lanes[k] += x[i + k];
    for (; i < n_features; ++i) lanes[0] += x[i];
    const double sum = sum_of_lanes(lanes);
    return sum != sum;
}

// The sides of a box, or a sample, in 8 bits: lower sides rounded down, upper ones up. The code holds 1 − v for an
// upper side v, and 255 less the floor of 255·(1 − v) is the ceiling of 255·v. The products are exact on the grid.
SSLART_INLINE void outward_of(const double* code, Index n_features, std::uint8_t* lower, std::uint8_t* upper) {
    for (Index i = 0; i < n_features; ++i)
        lower[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(code[i] * 255.0));
    for (Index i = 0; i < n_features; ++i)
        upper[i] = static_cast<std::uint8_t>(~static_cast<std::int32_t>(code[n_features + i] * 255.0));
}

// Scales, clips and rounds one row to the grid, by the lowest values, the spans, and 1 where these are known, 0 where
// there is one value only, else NaN; returns whether a value lies beyond its range.
SSLART_INLINE bool scale_of(const double* SSLART_RESTRICT x, const double* lower, const double* upper,
                            const double* span, const double* known, Index length, double* SSLART_RESTRICT code) {
    // adding and subtracting 1.5·2²⁰ rounds a value in [0, 1] to a multiple of 2⁻³², ties to even
    constexpr double kRounder = 1.5 * (1 << 20);
    Index outside = 0;
    for (Index i = 0; i < length; ++i) {
        outside |= Index{x[i] < lower[i]} | Index{x[i] > upper[i]};
        double value = (x[i] - lower[i]) / span[i] * known[i];
        value = value < 0.0 ? 0.0 : value;
        value = value > 1.0 ? 1.0 : value;
        code[i] = (value + kRounder) - kRounder;
    }
    return outside != 0;
}

// One instruction set's arithmetic.
struct VectorOps {
    double (*overlap)(const double* a, const double* w, Index length);
    void (*overlaps)(const double* a, const double* columns, Index stride, Index length, double* overlaps);
    double (*shrink)(const double* a, double* w, Index length);
    bool (*complement)(const double* x, Index n_features, double* code);
    void (*outward)(const double* code, Index n_features, std::uint8_t* lower, std::uint8_t* upper);
    bool (*scale)(const double* x, const double* lower, const double* upper, const double* span, const double* known,
                  Index length, double* code);
};

#define SSLART_VECTOR_OPS(name, target)                                                                                \
    target inline double overlap_##name(const double* a, const double* w, Index n) { return overlap_of(a, w, n); }     \
    target inline void overlaps_##name(const double* a, const double* columns, Index stride, Index n, double* found) {  \
        overlaps_of(a, columns, stride, n, found);                                                                     \
    }                                                                                                                  \
    target inline double shrink_##name(const double* a, double* w, Index n) { return shrink_to(a, w, n); }             \
    target inline bool complement_##name(const double* x, Index n, double* code) { return complement_of(x, n, code); } \
    target inline void outward_##name(const double* code, Index n, std::uint8_t* lower, std::uint8_t* upper) {         \
        outward_of(code, n, lower, upper);                                                                             \
    }                                                                                                                  \
    target inline bool scale_##name(const double* x, const double* lower, const double* upper, const double* span,     \
                                    const double* known, Index n, double* code) {                                      \
        return scale_of(x, lower, upper, span, known, n, code);                                                        \
    }                                                                                                                  \
    inline constexpr VectorOps kVectorOps_##name = {overlap_##name, overlaps_##name, shrink_##name,                   \
                                                    complement_##name, outward_##name, scale_##name};

SSLART_VECTOR_OPS(portable, )
#ifdef SSLART_X86
SSLART_VECTOR_OPS(avx2, SSLART_AVX2)
SSLART_VECTOR_OPS(avx512, SSLART_AVX512)
#endif

#undef SSLART_VECTOR_OPS

}  // namespace sslart
