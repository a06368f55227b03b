// Shapley values of boxes: the contribution of each column of a sample to a box term.
//
// The strength of a box is a product over columns, Π z_j with z_j = exp(−rate · distance in column j), and a missing
// column has z_j = 1. So the term defines a score for every set of known columns, and the Shapley value of column j is
// w (z_j − 1) ∫₀¹ Π_{g≠j} (1 + t (z_g − 1)) dt: a polynomial in t, which Gauss–Legendre quadrature integrates exactly
// with half as many nodes as there are columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "art/model.hpp"
#include "evidence/loops.hpp"
#include "evidence/quadrature.hpp"
#include "evidence/rbf.hpp"
#include "evidence/strengths.hpp"

namespace sslart {

// The features of a term by the column of the user's table that they encode.
struct ColumnGroups {
    std::vector<Index> columns;   // of each group
    std::vector<Index> starts;    // where each group starts in `features`, and their end
    std::vector<Index> features;  // positions within the term
};

constexpr Index kTogether = 8;       // boxes that are divided among columns at once
constexpr Index kNodesTogether = 8;  // of quadrature

// Working memory of one thread, for some boxes each.
struct ShapleyScratch {
    SampleFactors sample;
    std::vector<Index> active;  // columns in which a box does not contain the sample
    AlignedDoubles changes;     // by active column: strength − 1
    AlignedDoubles before;      // by pair of active columns and node: product over the pairs before, and over the two
    AlignedDoubles weights;     // by class
    AlignedDoubles sums;        // by column and class

    void resize(Index n_columns, Index n_classes) {
        const std::size_t size = static_cast<std::size_t>(n_columns + 1) * kTogether;
        if (changes.size() < size) {
            active.resize(size / kTogether);
            changes.resize(size);
            before.resize(size * kNodesTogether);
        }
        weights.resize(static_cast<std::size_t>(n_classes * kTogether));
        sums.assign(size * static_cast<std::size_t>(n_classes), 0.0);
    }
};

using AddContributions = void (*)(const PackedBoxes& boxes, const StrengthFactors& factors, const ColumnGroups& groups,
                                  const float* sample, double rate, const BoxWeights& weights, double* contributions,
                                  ShapleyScratch& scratch);

}  // namespace sslart

#define SSLART_SET portable
#define SSLART_SET_TARGET
#define SSLART_SET_LANES 4
#include "evidence/shapley.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES

#ifdef SSLART_X86

#define SSLART_SET avx2
#define SSLART_SET_TARGET SSLART_AVX2
#define SSLART_SET_LANES 8
#include "evidence/shapley.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES

#define SSLART_SET avx512
#define SSLART_SET_TARGET SSLART_AVX512
#define SSLART_SET_LANES 16
#include "evidence/shapley.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES

#endif  // SSLART_X86
