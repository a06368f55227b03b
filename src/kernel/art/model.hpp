// The arrays of a model: Python owns them, the kernel borrows them for one call.
#pragma once

#include <cstdint>

namespace sslart {

using Index = std::int64_t;

constexpr Index kNone = -1;  // no node, no class, no label

struct Boxes {
    double* weights;  // nodes × 2·features: W = (u, 1−v), every value a multiple of 2⁻³²
    double* norms;    // |W| per node
    Index n_nodes;
    Index capacity;
    Index n_features;

    double* weight(Index node) const { return weights + node * 2 * n_features; }
};

// Count: whole numbers, or double where samples count less as they age.
template <class Count>
struct ClassMap {
    Count* support;  // number of samples learnt, per node
    Count* counts;   // nodes × classes: F of the one-to-many mapping
    Index* labels;   // argmax of the counts, kNone where there are none
    Index n_classes;

    Count* count(Index node) const { return counts + node * n_classes; }
};

struct LearningParams {
    double vigilance;       // ρ
    double choice;          // α
    double learning_rate;   // β
    double match_tracking;  // δ
    bool one_to_one;
};

}  // namespace sslart
