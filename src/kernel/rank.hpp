// Prediction: the best nodes for each sample of a batch. Changes nothing.
#pragma once

#include "model.hpp"
#include "interrupt.hpp"
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

inline void rank_nodes(const Boxes& boxes, Filter& filter, double choice, const Questions& questions,
                       Interrupt& interrupt) {
    Search search(Purpose::kPredict, choice, filter, boxes);
    Wanted wanted;
    wanted.depth = questions.depth;
    if (questions.labelled_only) wanted.labels = questions.labels;
    for (Index i = 0; i < questions.n_samples; ++i) {
        if (!interrupt.may_continue(boxes.n_nodes * 2 * boxes.n_features)) return;
        search.look_at(questions.samples + i * boxes.n_features);
        Index* nodes = questions.nodes + i * questions.depth;
        double* matches = questions.matches + i * questions.depth;
        std::fill_n(nodes, questions.depth, kNone);
        std::fill_n(matches, questions.depth, 0.0);
        for (const Found& found : search.find(wanted)) {
            *nodes++ = found.node;
            *matches++ = found.match;
        }
    }
}

}  // namespace sslart
