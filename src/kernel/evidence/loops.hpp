// The loops of evidence scores, compiled for each instruction set: distances to boxes and centres, weighted sums.
//
// Boxes and centres lie in blocks of kWidth, in each block feature by feature. Several samples are measured at once, as
// they share what is read of a block; a sample alone is added up in the same order.
#pragma once

#include <cstdint>
#include <cstring>

#include "art/model.hpp"
#include "runtime/simd.hpp"

namespace sslart {

constexpr Index kWidth = 16;
constexpr Index kSamplesTogether = 4;  // samples that are compared with centres at once

struct PackedBoxes {
    const float* lower;  // blocks × features × kWidth
    const float* upper;
    Index n_blocks;
    Index n_features;

    Index n_boxes() const { return n_blocks * kWidth; }
};

struct PackedCentres {
    const float* values;      // blocks × features × kWidth
    const float* half_norms;  // blocks × kWidth: half the squared norm
    Index n_blocks;
    Index n_features;
};

// Minimum of one sample per lane: the least distance so far, and the block of centres where it was found.
struct LaneMinimum {
    float distances[kWidth];
    std::int32_t blocks[kWidth];
};

// One instruction set's loops, for one sample and for several. loops.inc describes them.
struct EvidenceLoops {
    using Measure = void (*)(const PackedBoxes& boxes, const float* samples, float* distances);
    using AddScores = void (*)(const PackedBoxes& boxes, const float* samples, float rate, const float* weights,
                               Index n_levels, Index n_classes, float* activations, double* scores);
    using UpdateMinimum = void (*)(const PackedCentres& centres, Index block, const float* samples,
                                   LaneMinimum* minimum);

    Measure measure_one, measure_two;
    AddScores add_scores_one, add_scores_two;
    UpdateMinimum update_minimum_one, update_minimum_four;
};

#if (defined(__GNUC__) || defined(__clang__)) && !defined(SSLART_NO_VECTOR_TYPES)
#define SSLART_VECTOR_TYPES 1
#else

// Fallback for compilers without vector types.
template <class T, int kLanes>
struct LaneArray {
    T lanes[kLanes];
};

template <class Result, class T, int kLanes, class Function>
SSLART_INLINE LaneArray<Result, kLanes> by_lane(const LaneArray<T, kLanes>& a, Function function) {
    LaneArray<Result, kLanes> result{};
    for (int k = 0; k < kLanes; ++k) result.lanes[k] = function(a.lanes[k], k);
    return result;
}

template <class To, class T, int kLanes>
SSLART_INLINE LaneArray<To, kLanes> convert(const LaneArray<T, kLanes>& a) {
    return by_lane<To>(a, [](T value, int) { return static_cast<To>(value); });
}

#define SSLART_LANE_OPERATOR(op, Result)                                                                     \
    template <class T, int kLanes>                                                                           \
    SSLART_INLINE LaneArray<Result, kLanes> operator op(const LaneArray<T, kLanes>& a,                       \
                                                        const LaneArray<T, kLanes>& b) {                     \
        return by_lane<Result>(a, [&](T value, int k) { return static_cast<Result>(value op b.lanes[k]); }); \
    }                                                                                                        \
    template <class T, int kLanes>                                                                           \
    SSLART_INLINE LaneArray<Result, kLanes> operator op(const LaneArray<T, kLanes>& a, T b) {                \
        return by_lane<Result>(a, [&](T value, int) { return static_cast<Result>(value op b); });            \
    }                                                                                                        \
    template <class T, int kLanes>                                                                           \
    SSLART_INLINE LaneArray<Result, kLanes> operator op(T a, const LaneArray<T, kLanes>& b) {                \
        return by_lane<Result>(b, [&](T value, int) { return static_cast<Result>(a op value); });            \
    }

SSLART_LANE_OPERATOR(+, T)
SSLART_LANE_OPERATOR(-, T)
SSLART_LANE_OPERATOR(*, T)
SSLART_LANE_OPERATOR(>, std::int32_t)
SSLART_LANE_OPERATOR(<, std::int32_t)

#undef SSLART_LANE_OPERATOR

template <int kLanes>
SSLART_INLINE LaneArray<std::int32_t, kLanes> operator<<(const LaneArray<std::int32_t, kLanes>& a, int shift) {
    return by_lane<std::int32_t>(a, [&](std::int32_t value, int) { return value << shift; });
}

template <class T, int kLanes>
SSLART_INLINE LaneArray<T, kLanes> chosen(const LaneArray<std::int32_t, kLanes>& condition,
                                          const LaneArray<T, kLanes>& a, const LaneArray<T, kLanes>& b) {
    return by_lane<T>(a, [&](T value, int k) { return condition.lanes[k] ? value : b.lanes[k]; });
}

#endif

}  // namespace sslart

#define SSLART_SET portable
#define SSLART_SET_TARGET
#define SSLART_SET_LANES 4
#include "evidence/loops.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES

#ifdef SSLART_X86

#define SSLART_SET avx2
#define SSLART_SET_TARGET SSLART_AVX2
#define SSLART_SET_LANES 8
#include "evidence/loops.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES

#define SSLART_SET avx512
#define SSLART_SET_TARGET SSLART_AVX512
#define SSLART_SET_LANES 16
#include "evidence/loops.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES

#endif  // SSLART_X86
