// Learning: one pass over a batch, sample by sample.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "model.hpp"
#include "patience.hpp"
#include "sample.hpp"
#include "search.hpp"

namespace sslart {

// What a node was before a sample changed it: lets the caller take back an interrupted call.
struct Journal {
    double* weights;  // samples × 2·features, or null to keep none
    Index* support;
    Index* counts;
};

struct Batch {
    const double* samples;  // samples × features, coded to [0, 1]; NaN where missing
    const Index* targets;   // class codes, kNone where unlabelled
    Index* winners;         // out: the node that learnt each sample
    Index* foreseen;        // out, or null: the class that the model as it was predicts for each labelled sample
    Index search_depth;     // T of that prediction, 0 for no limit
    Index n_samples;
    Journal journal;
};

inline double on_grid(double value) {
    constexpr double kSteps = 4294967296.0;  // 2³²
    return std::nearbyint(value * kSteps) / kSteps;
}

// W ← β(A ∧ W) + (1−β)W, in the features the sample has; a side that no sample has reached yet takes the sample's value
inline void adapt(const Sample& sample, double beta, double* w, Index n_features, double& norm) {
    const double* a = sample.code();
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

inline Index create(Boxes& boxes, Map& map) {
    const Index node = boxes.n_nodes++;
    std::fill_n(boxes.weight(node), 2 * boxes.n_features, 1.0);
    map.support[node] = 0;
    std::fill_n(map.count(node), map.n_classes, Index{0});
    map.labels[node] = kNone;
    return node;
}

inline void associate(Map& map, Index node, Index target) {
    const Index count = ++map.count(node)[target];
    const Index label = map.labels[node];
    const Index leading = label == kNone ? 0 : map.count(node)[label];
    if (count > leading || (count == leading && target < label)) map.labels[node] = target;
}

// The node that resonates with the sample, kNone if none does. One-to-one: while the winner belongs to another class,
// it is switched off and vigilance is raised just above its match (match tracking). Vigilance only rises, so the nodes
// that failed are those asked no later than the last of them.
inline Index resonance(const Search& search, const Map& map, Index target, const Rule& rule) {
    double vigilance = rule.vigilance;
    Index failed = kNone;
    for (;;) {
        const Index winner =
            search.best(vigilance, [&](Index j) { return failed == kNone || search.asked_earlier(failed, j); });
        const bool fits = winner == kNone || !rule.one_to_one || target == kNone || map.labels[winner] == kNone ||
                          map.labels[winner] == target;
        if (fits) return winner;
        failed = winner;
        vigilance = search.match(winner) + rule.match_tracking;
    }
}

inline Index foresee(const Search& search, const Map& map, Index search_depth) {
    const Index node =
        search.best(-std::numeric_limits<double>::infinity(), [&](Index j) { return map.labels[j] != kNone; });
    if (node == kNone) return kNone;
    if (search_depth > 0 && search.n_asked_before(node) >= search_depth) return kNone;
    return map.labels[node];
}

// Learns from sample `next` on; stops early when a new node does not fit in the arrays or when patience ends.
// Returns the number of the first sample that was not learnt.
inline Index learn(Boxes& boxes, Map& map, const Rule& rule, const Batch& batch, Index next, Patience& patience) {
    Sample sample(boxes.n_features);
    Search search(rule.choice, boxes.capacity);
    const Index width = 2 * boxes.n_features;
    for (; next < batch.n_samples; ++next) {
        if (!patience.spend(boxes.n_nodes * width)) break;
        sample.read(batch.samples + next * boxes.n_features);
        search.look(sample, boxes);
        const Index target = batch.targets[next];
        const Index winner = resonance(search, map, target, rule);
        if (winner == kNone && boxes.n_nodes == boxes.capacity) break;
        if (batch.foreseen && target != kNone) batch.foreseen[next] = foresee(search, map, batch.search_depth);

        const Index node = winner == kNone ? create(boxes, map) : winner;
        if (batch.journal.weights) {
            std::memcpy(batch.journal.weights + next * width, boxes.weight(node), width * sizeof(double));
            batch.journal.support[next] = map.support[node];
            std::copy_n(map.count(node), map.n_classes, batch.journal.counts + next * map.n_classes);
        }
        adapt(sample, rule.learning_rate, boxes.weight(node), boxes.n_features, boxes.norms[node]);
        ++map.support[node];
        if (target != kNone) associate(map, node, target);
        batch.winners[next] = node;
    }
    return next;
}

}  // namespace sslart
