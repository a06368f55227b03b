// Ranking: the best boxes for each sample of a batch. Boxes are not changed.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "art/boxes.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/parallel.hpp"
#include "search/search.hpp"

namespace sslart {

struct RankRequest {
    const double* samples;  // samples × features, coded to [0, 1]; NaN where missing
    Labels labels;          // class per node, kNone where it has none
    bool labelled_only;     // whether to leave out nodes without a label
    Index n_samples;
    Index depth;      // T: how many nodes to return
    Index* nodes;     // out: samples × depth, best first
    double* matches;  // out: samples × depth
};

// ranks boxes for the samples in [first, last); returns false if interrupted
inline bool rank_samples(Search& search, const Boxes& boxes, const RankRequest& request, Index first, Index last,
                         Interrupt& interrupt) {
    Query query;
    query.depth = request.depth;
    if (request.labelled_only) query.labels = &request.labels;
    for (Index i = first; i < last; ++i) {
        if (!interrupt.may_continue(boxes.n_boxes * 2 * boxes.n_features)) return false;
        search.set_sample(request.samples + i * boxes.n_features);
        Index* nodes = request.nodes + i * request.depth;
        double* matches = request.matches + i * request.depth;
        std::fill_n(nodes, request.depth, kNone);
        std::fill_n(matches, request.depth, 0.0);
        for (const Candidate& candidate : search.find(query)) {
            *nodes++ = candidate.node;
            *matches++ = candidate.match;
        }
    }
    return true;
}

// The cache must be prepared.
inline void rank_nodes(const Boxes& boxes, SearchCache& cache, double choice, const RankRequest& request,
                       Index n_threads, Interrupt& interrupt) {
    const Items samples{request.n_samples, boxes.n_boxes * 2 * boxes.n_features, 1};
    parallel_for(samples, n_threads, interrupt, [&] {
        auto search = std::make_unique<Search>(Purpose::kRank, choice, cache, boxes);
        return [&boxes, &request, search = std::move(search)](Index first, Index last, Interrupt& own) {
            return rank_samples(*search, boxes, request, first, last, own);
        };
    });
}

}  // namespace sslart
