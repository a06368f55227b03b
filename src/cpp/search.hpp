// The search: which nodes answer a sample. One scan over all nodes, then questions about what it saw.
//
// On the 2⁻³² grid every sum below is exact, so the order of summation cannot change a result.
#pragma once

#include <algorithm>
#include <vector>

#include "model.hpp"
#include "sample.hpp"

namespace sslart {

inline double overlap(const double* a, const double* w, Index length) {
    constexpr Index kLanes = 8;
    double lanes[kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= length; i += kLanes)
        for (Index k = 0; k < kLanes; ++k) lanes[k] += std::min(a[i + k], w[i + k]);
    double sum = 0.0;
    for (; i < length; ++i) sum += std::min(a[i], w[i]);
    for (double lane : lanes) sum += lane;
    return sum;
}

class Search {
public:
    Search(double choice, Index capacity) : choice_(choice), choices_(capacity), matches_(capacity) {}

    void look(const Sample& sample, const Boxes& boxes) {
        n_nodes_ = boxes.n_nodes;
        for (Index j = 0; j < n_nodes_; ++j) {
            const double* w = boxes.weight(j);
            double norm = boxes.norms[j];
            for (Index i : sample.missing()) norm -= w[i] + w[i + boxes.n_features];
            const double shared = overlap(sample.code(), w, 2 * boxes.n_features);
            choices_[j] = shared / (choice_ + norm);
            matches_[j] = shared / sample.norm();
        }
    }

    double match(Index node) const { return matches_[node]; }

    // argmax of the choice over the nodes that pass vigilance and that `allowed` lets through; lowest index on ties
    template <class Allowed>
    Index best(double vigilance, Allowed allowed) const {
        Index winner = kNone;
        for (Index j = 0; j < n_nodes_; ++j)
            if (matches_[j] >= vigilance && (winner == kNone || choices_[j] > choices_[winner]) && allowed(j))
                winner = j;
        return winner;
    }

    // the `depth` nodes of highest choice that `allowed` lets through, best first, kNone where there are no more
    template <class Allowed>
    void rank(Index depth, Allowed allowed, Index* nodes) const {
        Index found = 0;
        for (Index j = 0; j < n_nodes_; ++j) {
            if (!allowed(j)) continue;
            if (found == depth && choices_[j] <= choices_[nodes[depth - 1]]) continue;
            Index place = found < depth ? found++ : depth - 1;
            for (; place > 0 && choices_[j] > choices_[nodes[place - 1]]; --place) nodes[place] = nodes[place - 1];
            nodes[place] = j;
        }
        std::fill(nodes + found, nodes + depth, kNone);
    }

    // whether the search asks `node` before `other`: by choice, the lower index on ties
    bool asked_earlier(Index node, Index other) const {
        return choices_[node] > choices_[other] || (choices_[node] == choices_[other] && node < other);
    }

    // how many nodes the search asks before `node`
    Index n_asked_before(Index node) const {
        Index n_earlier = 0;
        for (Index j = 0; j < n_nodes_; ++j) n_earlier += asked_earlier(j, node);
        return n_earlier;
    }

private:
    double choice_;
    Index n_nodes_ = 0;
    std::vector<double> choices_;
    std::vector<double> matches_;
};

}  // namespace sslart
