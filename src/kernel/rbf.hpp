// All boxes speak: how far a sample lies from each, and what they say together.
//
// Boxes lie in blocks of kWidth, in each block feature by feature, so that every instruction set adds in the same order.
// Two samples are measured at once: they share what is read of the boxes.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "dispatch.hpp"
#include "interrupt.hpp"

namespace sslart {

constexpr Index kWidth = 16;

struct Speakers {
    const float* lower;
    const float* upper;
    Index n_blocks;
    Index n_features;

    Index n_boxes() const { return n_blocks * kWidth; }
};

// out[s][j] = Σ max(lower − x, x − upper, 0); a missing value (NaN) adds nothing, as no comparison with it holds
SSLART_INLINE void distances_of(const Speakers& boxes, const float* first, const float* second,
                                float* SSLART_RESTRICT out_first, float* SSLART_RESTRICT out_second) {
    const float* const x[2] = {first, second};
    for (Index block = 0; block < boxes.n_blocks; ++block) {
        float sums[2][kWidth] = {};
        for (Index f = 0; f < boxes.n_features; ++f) {
            const float* SSLART_RESTRICT lower = boxes.lower + (block * boxes.n_features + f) * kWidth;
            const float* SSLART_RESTRICT upper = boxes.upper + (block * boxes.n_features + f) * kWidth;
            for (Index s = 0; s < 2; ++s) {
                const float value = x[s][f];
                for (Index k = 0; k < kWidth; ++k) {
                    const float below = lower[k] - value, above = value - upper[k];
                    const float gap = below > above ? below : above;
                    sums[s][k] += gap > 0.0f ? gap : 0.0f;
                }
            }
        }
        std::memcpy(out_first + block * kWidth, sums[0], sizeof sums[0]);
        std::memcpy(out_second + block * kWidth, sums[1], sizeof sums[1]);
    }
}

// values[j] ← exp(−rate · values[j]), to about one part in ten million; powers and scales have room for n
SSLART_INLINE void fall_off(float* SSLART_RESTRICT values, Index n, float rate, std::int32_t* SSLART_RESTRICT powers,
                            float* SSLART_RESTRICT scales) {
    const float per_octave = -rate * 1.44269504f;
    for (Index j = 0; j < n; ++j) {
        const float octaves = values[j] * per_octave;
        const float bounded = octaves > -126.0f ? octaves : -126.0f;
        const std::int32_t whole = static_cast<std::int32_t>(bounded - 0.5f);  // towards zero: the nearest, as all are ≤ 0
        values[j] = (bounded - static_cast<float>(whole)) * 0.693147181f;
        powers[j] = (whole + 127) << 23;
    }
    std::memcpy(scales, powers, static_cast<std::size_t>(n) * sizeof(float));  // the bits of two to these powers
    for (Index j = 0; j < n; ++j) {
        const float t = values[j];
        const float series =
            1.0f + t * (1.0f + t * (0.5f + t * (0.166666667f + t * (0.0416666667f + t * (0.00833333333f + t * 0.00138888889f)))));
        values[j] = series * scales[j];
    }
}

// scores[c] += Σ_j strength[j]^(2^level) · weights[level][c][j]
SSLART_INLINE void speak(float* SSLART_RESTRICT strengths, Index n, const float* SSLART_RESTRICT weights, Index n_levels,
                         Index n_classes, double* SSLART_RESTRICT scores) {
    for (Index level = 0; level < n_levels; ++level) {
        if (level > 0)
            for (Index j = 0; j < n; ++j) strengths[j] *= strengths[j];
        for (Index c = 0; c < n_classes; c += 2) {  // two at once, so that one addition need not wait for the last
            const Index other = c + 1 < n_classes ? c + 1 : c;
            const float* const weight[2] = {weights + (level * n_classes + c) * n, weights + (level * n_classes + other) * n};
            float lanes[2][kWidth] = {};
            for (Index j = 0; j < n; j += kWidth)
                for (Index s = 0; s < 2; ++s)
                    for (Index k = 0; k < kWidth; ++k) lanes[s][k] += strengths[j + k] * weight[s][j + k];
            for (Index s = 0; s <= other - c; ++s) {
                double sum = 0.0;
                for (Index k = 0; k < kWidth; ++k) sum += static_cast<double>(lanes[s][k]);
                scores[c + s] += sum;
            }
        }
    }
}

struct Voices {
    void (*distances)(const Speakers& boxes, const float* first, const float* second, float* out_first,
                      float* out_second);
    void (*fall)(float* values, Index n, float rate, std::int32_t* powers, float* scales);
    void (*sum)(float* strengths, Index n, const float* weights, Index n_levels, Index n_classes, double* scores);
};

#define SSLART_VOICES(name, target)                                                                                  \
    target inline void distances_##name(const Speakers& b, const float* x, const float* y, float* to_x, float* to_y) { \
        distances_of(b, x, y, to_x, to_y);                                                                             \
    }                                                                                                                  \
    target inline void fall_##name(float* values, Index n, float rate, std::int32_t* powers, float* scales) {          \
        fall_off(values, n, rate, powers, scales);                                                                     \
    }                                                                                                                  \
    target inline void speak_##name(float* s, Index n, const float* w, Index levels, Index classes, double* scores) {  \
        speak(s, n, w, levels, classes, scores);                                                                       \
    }                                                                                                                  \
    inline constexpr Voices kVoices_##name = {distances_##name, fall_##name, speak_##name};

SSLART_VOICES(portable, )
#ifdef SSLART_X86
SSLART_VOICES(avx2, SSLART_AVX2)
SSLART_VOICES(avx512, SSLART_AVX512)
#endif

#undef SSLART_VOICES

inline const Voices& voices() {
    const std::string name = chosen_instructions()->name;
#ifdef SSLART_X86
    if (name == "avx512") return kVoices_avx512;
    if (name == "avx2") return kVoices_avx2;
#endif
    return kVoices_portable;
}

// measures the samples two by two, then calls work(voices, sample, its distances) for each
template <class Work>
void in_pairs(const Speakers& boxes, const float* samples, Index n_samples, Index cost, Patience& patience, Work work) {
    const Voices& set = voices();
    const Index n_boxes = boxes.n_boxes();
    std::vector<float> distances(static_cast<std::size_t>(2 * n_boxes));
    for (Index i = 0; i < n_samples; i += 2) {
        if (!patience.spend(2 * cost)) return;
        const Index next = i + 1 < n_samples ? i + 1 : i;
        set.distances(boxes, samples + i * boxes.n_features, samples + next * boxes.n_features, distances.data(),
                      distances.data() + n_boxes);
        work(set, i, distances.data());
        if (next != i) work(set, next, distances.data() + n_boxes);
    }
}

inline void measure(const Speakers& boxes, const float* samples, Index n_samples, float* out, Patience& patience) {
    const Index n_boxes = boxes.n_boxes();
    in_pairs(boxes, samples, n_samples, n_boxes * boxes.n_features, patience,
             [=](const Voices&, Index i, const float* distances) {
                 std::memcpy(out + i * n_boxes, distances, static_cast<std::size_t>(n_boxes) * sizeof(float));
             });
}

inline void hear(const Speakers& boxes, const float* samples, Index n_samples, float rate, const float* weights,
                 Index n_levels, Index n_classes, double* scores, Patience& patience) {
    const Index n_boxes = boxes.n_boxes();
    std::vector<std::int32_t> powers(static_cast<std::size_t>(n_boxes));
    std::vector<float> scales(static_cast<std::size_t>(n_boxes));
    in_pairs(boxes, samples, n_samples, n_boxes * (boxes.n_features + n_levels * n_classes), patience,
             [&](const Voices& set, Index i, float* distances) {
                 set.fall(distances, n_boxes, rate, powers.data(), scales.data());
                 set.sum(distances, n_boxes, weights, n_levels, n_classes, scores + i * n_classes);
             });
}

}  // namespace sslart
