// Prediction: the best nodes for each sample of a batch. Changes nothing.
#pragma once

#include "model.hpp"
#include "patience.hpp"
#include "sample.hpp"
#include "search.hpp"

namespace sslart {

struct Questions {
    const double* samples;  // samples × features, coded to [0, 1]; NaN where missing
    const Index* labels;    // class per node, kNone where it has none
    bool labelled_only;     // whether to pass over nodes without a label
    Index n_samples;
    Index depth;      // T: how many nodes to name
    Index* nodes;     // out: samples × depth, best first
    double* matches;  // out: samples × depth
};

inline void rank_nodes(const Boxes& boxes, double choice, const Questions& questions, Patience& patience) {
    Sample sample(boxes.n_features);
    Search search(choice, boxes.n_nodes);
    for (Index i = 0; i < questions.n_samples; ++i) {
        if (!patience.spend(boxes.n_nodes * 2 * boxes.n_features)) return;
        sample.read(questions.samples + i * boxes.n_features);
        search.look(sample, boxes);
        Index* nodes = questions.nodes + i * questions.depth;
        search.rank(
            questions.depth, [&](Index j) { return !questions.labelled_only || questions.labels[j] != kNone; }, nodes);
        for (Index t = 0; t < questions.depth; ++t)
            questions.matches[i * questions.depth + t] = nodes[t] == kNone ? 0.0 : search.match(nodes[t]);
    }
}

}  // namespace sslart
