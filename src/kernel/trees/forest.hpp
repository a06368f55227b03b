// Decision trees as flat arrays, and the leaves that a sample reaches.
#pragma once

#include <cmath>

#include "art/model.hpp"

namespace sslart {

constexpr Index kLeaf = -1;  // in the place of a feature

// The nodes of all trees. The right child follows the left one; a leaf has its number in the place of the left child.
struct Forest {
    const Index* roots;
    Index n_trees;
    const Index* features;
    const double* thresholds;
    const Index* left;
    const double* shares;  // of the samples learnt that went left, of those with a value
    const double* values;  // leaves × classes
    Index n_classes;

    // Adds the values of the leaf that a sample reaches from a node, times a weight. Where a value is missing, both
    // children count, each by its share.
    void add_leaves(Index node, const double* sample, double weight, double* scores) const {
        while (features[node] != kLeaf) {
            const double value = sample[features[node]];
            const Index next = left[node];
            if (std::isnan(value)) {
                add_leaves(next, sample, weight * shares[node], scores);
                weight *= 1.0 - shares[node];
                node = next + 1;
            } else {
                node = next + (value <= thresholds[node] ? 0 : 1);
            }
        }
        const double* own = values + left[node] * n_classes;
        for (Index c = 0; c < n_classes; ++c) scores[c] += weight * own[c];
    }
};

}  // namespace sslart
