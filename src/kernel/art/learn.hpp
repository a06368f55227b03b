// Learning: one pass over a batch, sample by sample.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "art/boxes.hpp"
#include "art/encode.hpp"
#include "art/sample.hpp"
#include "runtime/interrupt.hpp"
#include "search/search.hpp"

namespace sslart {

// Fits of samples to the boxes, measured before the samples are learnt.
struct Fits {
    const std::uint8_t* wanted;  // of which samples, or null for none
    Index* nodes;                // out: the node of highest choice, kNone where there was no node
    double* familiarity;         // out: one minus its distance, less a share of its size
    double* extents;             // out: the sum of the sides of its box
};

struct Batch {
    const double* samples;  // samples × features, coded to [0, 1]; NaN where missing
    const Index* targets;   // class codes, kNone where unlabelled
    Index* winners;         // out: the node that learnt each sample
    Index* predicted;       // out, or null: the class predicted for each labelled sample before it is learnt
    Index search_depth;     // T of that prediction, 0 for no limit
    bool predict_by_first;  // where the first node that passes vigilance has a label, that is the prediction
    double* gaps;           // out, or null: how far each sample lay from the box that it resonated with
    Index n_samples;
    Index max_boxes;        // learning stops where a sample would need one more
    Fits fits;
};

// W ← β(A ∧ W) + (1−β)W, in the features the sample has; a side that no sample has reached yet takes the sample's value
inline void adapt(const Sample& sample, double beta, double* w, Index n_features, double& norm, const VectorOps& ops) {
    const double* a = sample.code();
    if (beta == 1.0 && sample.missing().empty()) {
        // an uncommitted side has weight 1, so that the minimum is the sample's value there too
        norm = ops.shrink(a, w, 2 * n_features);
        return;
    }
    auto missing = sample.missing().begin();
    double sum = 0.0;
    for (Index i = 0; i < n_features; ++i) {
        double& u = w[i];
        double& c = w[i + n_features];
        if (missing != sample.missing().end() && *missing == i) {
            ++missing;
        } else if (u + c > 1.0) {
            u = a[i];
            c = a[i + n_features];
        } else {
            u = on_grid(beta * std::min(a[i], u) + (1.0 - beta) * u);
            c = on_grid(beta * std::min(a[i + n_features], c) + (1.0 - beta) * c);
        }
        sum += u + c;
    }
    norm = sum;
}

// Returns the box that resonates with the sample, kNone if none does. One-to-one: while the winner belongs to another
// class, it is left out and vigilance is raised just above its match (match tracking). Vigilance only rises, so the
// nodes that can still win come later in the ranking.
// `first` is the first node that passed vigilance, whatever its class.
inline Candidate resonance(Search& search, const Labels& labels, Index target, const LearningParams& params,
                           Candidate& first) {
    constexpr Candidate kNoCandidate{kNone, 0.0, 0.0, 0.0};
    const bool tracks = params.one_to_one && target != kNone;
    Query query;
    query.vigilance = params.vigilance;
    Candidate last{};
    first = kNoCandidate;
    for (query.depth = 1;; query.depth = std::min<Index>(16, 4 * query.depth)) {
        const std::vector<Candidate>& found = search.find(query);
        for (const Candidate& candidate : found) {
            if (candidate.match < query.vigilance) continue;
            if (first.node == kNone) first = candidate;
            const Index label = labels[candidate.node];
            if (!tracks || label == kNone || label == target) return candidate;
            query.vigilance = candidate.match + params.match_tracking;
        }
        if (static_cast<Index>(found.size()) < query.depth) return kNoCandidate;
        last = found.back();
        query.after = &last;
    }
}

// Returns the class predicted for the sample: that of the first labelled box among the `search_depth` best.
inline Index predict_class(Search& search, const Labels& labels, Index search_depth) {
    Query query;
    if (search_depth > 0)
        query.depth = search_depth;
    else
        query.labels = &labels;
    for (const Candidate& candidate : search.find(query))
        if (labels[candidate.node] != kNone) return labels[candidate.node];
    return kNone;
}

constexpr double kSizeShare = 0.125;  // as in _art/geometry.py

// Returns the mean distance per feature of a sample from a box; a side that no sample has reached yet counts as zero.
// Its weights are 1, so that it has a part of 1 in what the sample lies beyond.
inline double gap(const Sample& sample, const Candidate& box, const double* w, Index n_features) {
    Index n_open = 0;
    for (Index i = 0; i < n_features; ++i) n_open += w[i] + w[i + n_features] > 1.0;
    for (Index i : sample.missing()) n_open -= w[i] + w[i + n_features] > 1.0;
    return (box.beyond - static_cast<double>(n_open)) / sample.norm();
}

// Records the box of highest choice for a sample before it is learnt.
inline void record_fit(Search& search, const Boxes& boxes, const Fits& fits, Index sample) {
    const std::vector<Candidate>& found = search.find(Query{});
    if (found.empty()) return;
    const double* w = boxes.weight(found.front().node);
    double extent = 0.0;  // a side that no sample has reached yet has weights that sum to more than 1
    for (Index i = 0; i < boxes.n_features; ++i) extent += std::max(0.0, 1.0 - w[i] - w[i + boxes.n_features]);
    fits.nodes[sample] = found.front().node;
    fits.familiarity[sample] = std::max(0.0, 1.0 - gap(search.sample(), found.front(), w, boxes.n_features) -
                                                 kSizeShare * extent / static_cast<double>(boxes.n_features));
    fits.extents[sample] = extent;
}

// Learns from sample `next` on; stops early before a sample that would need a box too many, or when it is interrupted.
// Returns the index of the first sample that was not learnt.
inline Index learn(Boxes& boxes, SearchCache& cache, const LearningParams& params, const Batch& batch, Index next,
                   Interrupt& interrupt) {
    Search search(Purpose::kLearn, params.choice, cache, boxes);
    const Labels labels(boxes);
    const Index width = 2 * boxes.n_features;
    for (; next < batch.n_samples; ++next) {
        if (!interrupt.may_continue(boxes.n_boxes * width)) break;
        search.set_sample(batch.samples + next * boxes.n_features);
        const Index target = batch.targets[next];
        Candidate first;
        const Candidate winner = resonance(search, labels, target, params, first);
        if (winner.node == kNone && boxes.n_boxes >= batch.max_boxes) break;
        if (batch.predicted && target != kNone) {
            const bool by_first = batch.predict_by_first && first.node != kNone && labels[first.node] != kNone;
            batch.predicted[next] = by_first ? labels[first.node] : predict_class(search, labels, batch.search_depth);
        }
        if (batch.fits.wanted && batch.fits.wanted[next]) record_fit(search, boxes, batch.fits, next);
        if (batch.gaps && first.node != kNone)
            batch.gaps[next] = gap(search.sample(), first, boxes.weight(first.node), boxes.n_features);

        const Index box = winner.node == kNone ? boxes.add() : winner.node;
        Boxes::Summary& summary = *boxes.summaries.change(box, boxes.owner);
        ++summary.support;
        if (winner.node == kNone || winner.beyond != 0.0) {
            adapt(search.sample(), params.learning_rate, boxes.weights.change(box, boxes.owner), boxes.n_features,
                  summary.norm, search.ops());
            search.update_node(box);
        }
        if (target != kNone) boxes.associate(box, target);
        batch.winners[next] = box;
    }
    return next;
}

}  // namespace sslart
