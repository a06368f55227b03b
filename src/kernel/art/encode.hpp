// Encoding: from the units of the data to the grid in [0, 1].
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "art/model.hpp"

namespace sslart {

constexpr double kGridSteps = 4294967296.0;  // 2³²

inline double on_grid(double value) { return std::nearbyint(value * kGridSteps) / kGridSteps; }

// Scales, clips and rounds a matrix; NaN stays NaN, and so does a feature of which no value is known (lower > upper).
// Returns whether a value lies beyond the range of its feature.
inline bool encode(const double* matrix, Index n_samples, Index n_features, const double* lower, const double* upper,
                   double* coded) {
    // adding and subtracting 1.5·2²⁰ rounds a value in [0, 1] to a multiple of 2⁻³², ties to even
    constexpr double kRounder = 1.5 * (1 << 20);
    bool beyond = false;
    std::vector<double> span(n_features), known(n_features);
    for (Index i = 0; i < n_features; ++i) {
        const double width = upper[i] - lower[i];
        span[i] = width > 0 ? width : 1.0;
        known[i] = lower[i] <= upper[i] ? (width > 0 ? 1.0 : 0.0) : std::nan("");
    }
    for (Index j = 0; j < n_samples; ++j) {
        const double* x = matrix + j * n_features;
        double* c = coded + j * n_features;
        int outside = 0;
        for (Index i = 0; i < n_features; ++i) {
            outside |= (x[i] < lower[i]) | (x[i] > upper[i]);
            double value = (x[i] - lower[i]) / span[i] * known[i];
            value = value < 0.0 ? 0.0 : value;
            value = value > 1.0 ? 1.0 : value;
            c[i] = (value + kRounder) - kRounder;
        }
        beyond |= outside != 0;
    }
    return beyond;
}

}  // namespace sslart
