// Learning: one pass over a batch, sample by sample.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "art/encode.hpp"
#include "art/model.hpp"
#include "art/sample.hpp"
#include "runtime/interrupt.hpp"
#include "search/search.hpp"

namespace sslart {

// A node as it was before a sample changed it: lets the caller undo an interrupted call.
template <class Count>
struct Journal {
    double* weights;  // samples × 2·features, or null to keep none
    Count* support;
    Count* counts;
};

// How well samples fitted the nodes before they were learnt.
struct Fits {
    const std::uint8_t* wanted;  // of which samples, or null for none
    Index* nodes;                // out: the node of highest choice, kNone where there was no node
    double* matches;             // out: its match
    double* extents;             // out: the sum of the sides of its box
};

template <class Count>
struct Batch {
    const double* samples;  // samples × features, coded to [0, 1]; NaN where missing
    const Index* targets;   // class codes, kNone where unlabelled
    Index* winners;         // out: the node that learnt each sample
    Index* predicted;       // out, or null: the class predicted for each labelled sample before it is learnt
    Index search_depth;     // T of that prediction, 0 for no limit
    bool predict_by_first;  // where the first node that passes vigilance has a label, that is the prediction
    double* gaps;           // out, or null: how far each sample lay from the box that it resonated with
    Index n_samples;
    Journal<Count> journal;
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

template <class Count>
Index create_node(Boxes& boxes, ClassMap<Count>& map) {
    const Index node = boxes.n_nodes++;
    std::fill_n(boxes.weight(node), 2 * boxes.n_features, 1.0);
    map.support[node] = 0;
    std::fill_n(map.count(node), map.n_classes, Count{0});
    map.labels[node] = kNone;
    return node;
}

template <class Count>
void associate(ClassMap<Count>& map, Index node, Index target) {
    const Count count = ++map.count(node)[target];
    const Index label = map.labels[node];
    const Count leading = label == kNone ? Count{0} : map.count(node)[label];
    if (count > leading || (count == leading && target < label)) map.labels[node] = target;
}

// The node that resonates with the sample, kNone if none does. One-to-one: while the winner belongs to another class,
// it is left out and vigilance is raised just above its match (match tracking). Vigilance only rises, so the nodes that
// can still win come later in the ranking.
// `first` is the first node that passed vigilance, whatever its class.
inline Index resonance(Search& search, const Index* labels, Index target, const LearningParams& params, Index& first) {
    const bool tracks = params.one_to_one && target != kNone;
    Query query;
    query.vigilance = params.vigilance;
    Candidate last{};
    first = kNone;
    for (query.depth = 1;; query.depth = std::min<Index>(16, 4 * query.depth)) {
        const std::vector<Candidate>& found = search.find(query);
        for (const Candidate& candidate : found) {
            if (candidate.match < query.vigilance) continue;
            if (first == kNone) first = candidate.node;
            const Index label = labels[candidate.node];
            if (!tracks || label == kNone || label == target) return candidate.node;
            query.vigilance = candidate.match + params.match_tracking;
        }
        if (static_cast<Index>(found.size()) < query.depth) return kNone;
        last = found.back();
        query.after = &last;
    }
}

// The class predicted for the sample: that of the first labelled node among the `search_depth` best.
inline Index predict_class(Search& search, const Index* labels, Index search_depth) {
    Query query;
    if (search_depth > 0)
        query.depth = search_depth;
    else
        query.labels = labels;
    for (const Candidate& candidate : search.find(query))
        if (labels[candidate.node] != kNone) return labels[candidate.node];
    return kNone;
}

// Records the node of highest choice for the sample that is to be learnt.
inline void record_fit(Search& search, const Boxes& boxes, const Fits& fits, Index sample) {
    const std::vector<Candidate>& found = search.find(Query{});
    if (found.empty()) return;
    const double* w = boxes.weight(found.front().node);
    double extent = 0.0;  // a side that no sample has reached yet has weights that sum to more than 1
    for (Index i = 0; i < boxes.n_features; ++i) extent += std::max(0.0, 1.0 - w[i] - w[i + boxes.n_features]);
    fits.nodes[sample] = found.front().node;
    fits.matches[sample] = found.front().match;
    fits.extents[sample] = extent;
}

// How far a sample lies from a box, by the mean of its features; a side that no sample has reached yet counts nothing.
inline double gap(const Sample& sample, const double* w, Index n_features) {
    const double* a = sample.code();
    auto missing = sample.missing().begin();
    double sum = 0.0;
    for (Index i = 0; i < n_features; ++i) {
        if (missing != sample.missing().end() && *missing == i) {
            ++missing;
        } else if (w[i] + w[i + n_features] <= 1.0) {
            sum += std::max(0.0, w[i] - a[i]) + std::max(0.0, w[i + n_features] - a[i + n_features]);
        }
    }
    return sum / static_cast<double>(n_features - static_cast<Index>(sample.missing().size()));
}

// Learns from sample `next` on; stops early when a new node does not fit in the arrays or when it is interrupted.
// Returns the index of the first sample that was not learnt.
template <class Count>
Index learn(Boxes& boxes, ClassMap<Count>& map, SearchCache& cache, const LearningParams& params,
            const Batch<Count>& batch, Index next, Interrupt& interrupt) {
    Search search(Purpose::kLearn, params.choice, cache, boxes);
    const Index width = 2 * boxes.n_features;
    for (; next < batch.n_samples; ++next) {
        if (!interrupt.may_continue(boxes.n_nodes * width)) break;
        search.set_sample(batch.samples + next * boxes.n_features);
        const Index target = batch.targets[next];
        Index first;
        const Index winner = resonance(search, map.labels, target, params, first);
        if (winner == kNone && boxes.n_nodes == boxes.capacity) break;
        if (batch.predicted && target != kNone) {
            const bool by_first = batch.predict_by_first && first != kNone && map.labels[first] != kNone;
            batch.predicted[next] = by_first ? map.labels[first] : predict_class(search, map.labels, batch.search_depth);
        }
        if (batch.fits.wanted && batch.fits.wanted[next]) record_fit(search, boxes, batch.fits, next);
        if (batch.gaps && first != kNone)
            batch.gaps[next] = gap(search.sample(), boxes.weight(first), boxes.n_features);

        const Index node = winner == kNone ? create_node(boxes, map) : winner;
        if (batch.journal.weights) {
            std::memcpy(batch.journal.weights + next * width, boxes.weight(node), width * sizeof(double));
            batch.journal.support[next] = map.support[node];
            std::copy_n(map.count(node), map.n_classes, batch.journal.counts + next * map.n_classes);
        }
        adapt(search.sample(), params.learning_rate, boxes.weight(node), boxes.n_features, boxes.norms[node],
              search.ops());
        search.update_node(node);
        ++map.support[node];
        if (target != kNone) associate(map, node, target);
        batch.winners[next] = node;
    }
    return next;
}

}  // namespace sslart
