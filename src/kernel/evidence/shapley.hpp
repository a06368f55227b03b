// Shapley values of boxes: how much each column of a sample adds to a box term.
//
// The strength of a box is a product over columns, Π z_j with z_j = exp(−rate · distance in column j), and a missing
// column has z_j = 1. So the term defines a score for every set of known columns, and the Shapley value of column j is
// w (z_j − 1) ∫₀¹ Π_{g≠j} (1 + t (z_g − 1)) dt: a polynomial in t, which Gauss–Legendre quadrature integrates exactly
// with half as many nodes as there are columns.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "art/model.hpp"
#include "evidence/loops.hpp"
#include "evidence/quadrature.hpp"
#include "evidence/rbf.hpp"

namespace sslart {

// The features of a term by the column of the user's table that they encode.
struct ColumnGroups {
    std::vector<Index> columns;   // of each group
    std::vector<Index> starts;    // where each group starts in `features`, and their end
    std::vector<Index> features;  // positions within the term
};

constexpr Index kNodesTogether = 4;  // of quadrature

// Working memory of one thread.
struct ShapleyScratch {
    std::vector<double> changes, before, values;  // columns × boxes of a block: z − 1, and what `integrate` needs
    std::vector<double> sums;                     // columns × classes × boxes of a block
    std::vector<Index> active;

    void resize(Index n_columns) {
        const std::size_t size = static_cast<std::size_t>(n_columns) + 1;
        if (active.size() >= size) return;
        active.resize(size);
        changes.resize(size * kWidth);
        values.resize(size * kWidth);
        before.resize(size * kNodesTogether * kWidth);
    }
};

using AddContributions = void (*)(const PackedBoxes& boxes, const ColumnGroups& groups, const float* sample,
                                  double rate, const BoxWeights& weights, double* contributions,
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
