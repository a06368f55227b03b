// The nearest of many centres by Euclidean distance, the lowest index on ties.
//
// Each distance is added up feature by feature whatever the number of samples and the instruction set, so that a sample
// has the same nearest centre everywhere.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "art/model.hpp"
#include "evidence/loops.hpp"

namespace sslart {

class Centres {
public:
    struct Scratch {
        std::vector<float> samples;
        std::vector<LaneMinimum> minimum;
    };

    // missing: one value per feature, which replaces a missing value of a sample
    Centres(const double* centres, Index n_centres, const double* missing, Index n_features)
        : n_features_(n_features),
          n_blocks_((n_centres + kWidth - 1) / kWidth),
          missing_(missing, missing + n_features),
          values_(static_cast<std::size_t>(n_blocks_ * n_features * kWidth), 0.0f),
          half_norms_(static_cast<std::size_t>(n_blocks_ * kWidth), std::numeric_limits<float>::infinity()) {
        for (Index j = 0; j < n_centres; ++j) {
            double squares = 0.0;
            for (Index f = 0; f < n_features; ++f) {
                const float value = static_cast<float>(centres[j * n_features + f]);
                values_[((j / kWidth) * n_features + f) * kWidth + j % kWidth] = value;
                squares += static_cast<double>(value) * static_cast<double>(value);
            }
            half_norms_[j] = static_cast<float>(0.5 * squares);
        }
    }

    Index n_features() const { return n_features_; }
    Index size() const { return n_blocks_ * n_features_ * kWidth; }

    // each block is read once for all samples
    void nearest(const EvidenceLoops& loops, const double* samples, Index n_samples, Index* out,
                 Scratch& scratch) const {
        prepare(samples, n_samples, scratch);
        const PackedCentres packed{values_.data(), half_norms_.data(), n_blocks_, n_features_};
        const float* values = scratch.samples.data();
        LaneMinimum* minimum = scratch.minimum.data();
        for (Index block = 0; block < n_blocks_; ++block) {
            Index i = 0;
            for (; i + kSamplesTogether <= n_samples; i += kSamplesTogether)
                loops.update_minimum_four(packed, block, values + i * n_features_, minimum + i);
            for (; i < n_samples; ++i) loops.update_minimum_one(packed, block, values + i * n_features_, minimum + i);
        }
        for (Index i = 0; i < n_samples; ++i) out[i] = index_of(minimum[i]);
    }

private:
    void prepare(const double* samples, Index n_samples, Scratch& scratch) const {
        scratch.samples.resize(static_cast<std::size_t>(n_samples * n_features_));
        for (Index i = 0; i < n_samples; ++i)
            for (Index f = 0; f < n_features_; ++f) {
                const double value = samples[i * n_features_ + f];
                scratch.samples[i * n_features_ + f] = static_cast<float>(std::isnan(value) ? missing_[f] : value);
            }
        LaneMinimum none;
        for (Index k = 0; k < kWidth; ++k) {
            none.distances[k] = std::numeric_limits<float>::infinity();
            none.blocks[k] = 0;
        }
        scratch.minimum.assign(static_cast<std::size_t>(n_samples), none);
    }

    static Index index_of(const LaneMinimum& minimum) {
        Index best = minimum.blocks[0] * kWidth;
        float least = minimum.distances[0];
        for (Index k = 1; k < kWidth; ++k) {
            const Index index = minimum.blocks[k] * kWidth + k;
            if (minimum.distances[k] < least || (minimum.distances[k] == least && index < best)) {
                least = minimum.distances[k];
                best = index;
            }
        }
        return best;
    }

    Index n_features_;
    Index n_blocks_;
    std::vector<double> missing_;
    std::vector<float> values_, half_norms_;
};

}  // namespace sslart
