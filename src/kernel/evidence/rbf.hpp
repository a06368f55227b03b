// Radial basis functions of boxes, exp(−rate · distance): samples two by two.
#pragma once

#include <vector>

#include "art/model.hpp"
#include "evidence/loops.hpp"

namespace sslart {

// distances: samples × boxes
inline void measure(const EvidenceLoops& loops, const PackedBoxes& boxes, const float* samples, Index n_samples,
                    float* distances) {
    Index i = 0;
    for (; i + 1 < n_samples; i += 2)
        loops.measure_two(boxes, samples + i * boxes.n_features, distances + i * boxes.n_boxes());
    if (i < n_samples) loops.measure_one(boxes, samples + i * boxes.n_features, distances + i * boxes.n_boxes());
}

// Weights of boxes: levels × classes × boxes. At each level the basis functions are the squares of those before.
struct BoxWeights {
    const float* values;
    Index n_levels;
    Index n_classes;

    const float* of(Index level, Index c, Index n_boxes) const {
        return values + (level * n_classes + c) * n_boxes;
    }

    // true if any of the given boxes has a weight
    bool any(Index level, Index first, Index n, Index n_boxes) const {
        for (Index c = 0; c < n_classes; ++c)
            for (Index k = 0; k < n; ++k)
                if (of(level, c, n_boxes)[first + k] != 0.0f) return true;
        return false;
    }
};

// adds to the scores, samples × classes
inline void add_box_scores(const EvidenceLoops& loops, const PackedBoxes& boxes, const float* samples, Index n_samples,
                           float rate, const BoxWeights& weights, double* scores, std::vector<float>& activations) {
    activations.resize(static_cast<std::size_t>(2 * boxes.n_boxes()));
    Index i = 0;
    for (; i + 1 < n_samples; i += 2)
        loops.add_scores_two(boxes, samples + i * boxes.n_features, rate, weights.values, weights.n_levels,
                             weights.n_classes, activations.data(), scores + i * weights.n_classes);
    if (i < n_samples)
        loops.add_scores_one(boxes, samples + i * boxes.n_features, rate, weights.values, weights.n_levels,
                             weights.n_classes, activations.data(), scores + i * weights.n_classes);
}

}  // namespace sslart
