// One sample, complement-coded: A = (x, 1−x) over the features it has. A missing feature takes no part in any sum.
#pragma once

#include <cmath>
#include <vector>

#include "art/model.hpp"
#include "runtime/simd.hpp"

namespace sslart {

class Sample {
public:
    explicit Sample(Index n_features) : n_features_(n_features), code_(2 * n_features) {}

    void set(const double* x, const VectorOps& ops) {
        missing_.clear();
        double* a = code_.data();
        double* complement = a + n_features_;
        if (!ops.complement(x, n_features_, a)) return;
        for (Index i = 0; i < n_features_; ++i)
            if (std::isnan(x[i])) {
                missing_.push_back(i);
                a[i] = complement[i] = 0.0;  // a zero adds nothing to |A ∧ W|
            }
    }

    const double* code() const { return code_.data(); }
    const std::vector<Index>& missing() const { return missing_; }
    // |A|: with complement coding, one per feature that the sample has
    double norm() const { return static_cast<double>(n_features_ - static_cast<Index>(missing_.size())); }

private:
    Index n_features_;
    std::vector<double> code_;
    std::vector<Index> missing_;
};

}  // namespace sslart
