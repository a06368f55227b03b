// Encoding: from the units of the data to the grid in [0, 1].
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "art/model.hpp"
#include "runtime/simd.hpp"

namespace sslart {

constexpr double kGridSteps = 4294967296.0;  // 2³²

inline double on_grid(double value) { return std::nearbyint(value * kGridSteps) / kGridSteps; }

// Scales, clips and rounds a matrix; NaN stays NaN, and so does a feature of which no value is known (lower > upper).
// Returns whether a value lies beyond the range of its feature.
inline bool encode(const double* matrix, Index n_samples, Index n_features, const double* lower, const double* upper,
                   double* coded, const VectorOps& ops) {
    bool beyond = false;
    std::vector<double> span(n_features), known(n_features);
    for (Index i = 0; i < n_features; ++i) {
        const double width = upper[i] - lower[i];
        span[i] = width > 0 ? width : 1.0;
        known[i] = lower[i] <= upper[i] ? (width > 0 ? 1.0 : 0.0) : std::nan("");
    }
    for (Index j = 0; j < n_samples * n_features; j += n_features)
        beyond |= ops.scale(matrix + j, lower, upper, span.data(), known.data(), n_features, coded + j);
    return beyond;
}

}  // namespace sslart
