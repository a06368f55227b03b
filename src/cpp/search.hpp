// The search: which nodes answer a sample. A filter rules most nodes out; the others are decided exactly.
//
// On the 2⁻³² grid every sum is exact, so neither the order of summation nor the order in which nodes are looked at can
// change a result.
#pragma once

#include <algorithm>
#include <vector>

#include "filter.hpp"
#include "instructions.hpp"
#include "model.hpp"
#include "sample.hpp"

namespace sslart {

struct Found {
    Index node;
    double choice;
    double match;

    // whether the search asks this node before another: by choice, the lower index on ties
    bool before(const Found& other) const {
        return choice > other.choice || (choice == other.choice && node < other.node);
    }
};

// Fewer nodes than this are looked at one by one. The tests set it lower.
inline Index& filter_from() {
    static Index n_nodes = 96;
    return n_nodes;
}

// What a search looks for.
struct Wanted {
    Index depth = 1;               // how many nodes
    double vigilance = 0.0;        // only nodes that match at least so well
    const Index* labels = nullptr; // only nodes with a label, where given
    const Found* after = nullptr;  // only nodes asked after this one, where given
};

class Search final : private Judge {
public:
    Search(double choice, Filter& filter, const Boxes& boxes)
        : instructions_(*chosen_instructions()),
          filter_from_(filter_from()),
          alpha_(choice),
          margin_(Limits::margin(boxes.n_features)),
          filter_(filter),
          boxes_(boxes),
          sample_(boxes.n_features) {}

    const Sample& sample() const { return sample_; }

    // brings the filter up to date; afterwards searches that change no box may share it
    void prepare() {
        if (uses_filter() && filter_.n_nodes() < boxes_.n_nodes) filter_.follow(boxes_);
    }

    void look_at(const double* x) {
        sample_.read(x);
        prepare();
        if (uses_filter()) filter_.read(sample_, coarse_);
    }

    // the nodes of highest choice, best first
    const std::vector<Found>& find(const Wanted& wanted) {
        wanted_ = wanted;
        found_.clear();
        limits.set_vigilance(wanted.vigilance, sample_.norm(), margin_);
        limits.set_best(0.0, alpha_, margin_);
        if (uses_filter()) {
            instructions_.scan(filter_, coarse_)(filter_, coarse_, *this);
        } else {
            for (Index j = 0; j < boxes_.n_nodes; ++j) consider(j);
        }
        return found_;
    }

    // to be told of every change to a box
    void changed(Index node) {
        if (node < filter_.n_nodes()) filter_.update(boxes_, node);
    }

private:
    bool uses_filter() const { return boxes_.n_nodes >= filter_from_; }

    void consider(Index node) override {
        if (node >= boxes_.n_nodes) return;  // made by a call that came after this one began
        if (wanted_.labels && wanted_.labels[node] == kNone) return;
        const double* w = boxes_.weight(node);
        double norm = boxes_.norms[node];
        for (Index i : sample_.missing()) norm -= w[i] + w[i + boxes_.n_features];
        const double shared = instructions_.overlap(sample_.code(), w, 2 * boxes_.n_features);
        const Found here{node, shared / (alpha_ + norm), shared / sample_.norm()};
        if (!(here.match >= wanted_.vigilance) || (wanted_.after && !wanted_.after->before(here))) return;
        keep(here);
    }

    void keep(const Found& here) {
        const std::size_t depth = static_cast<std::size_t>(wanted_.depth);
        if (found_.size() == depth) {
            if (!here.before(found_.back())) return;
            found_.pop_back();
        }
        found_.insert(std::upper_bound(found_.begin(), found_.end(), here,
                                       [](const Found& one, const Found& other) { return one.before(other); }),
                      here);
        if (found_.size() == depth) limits.set_best(found_.back().choice, alpha_, margin_);
    }

    const Instructions& instructions_;
    Index filter_from_;
    double alpha_;
    double margin_;
    Filter& filter_;
    const Boxes& boxes_;
    Sample sample_;
    CoarseSample coarse_;
    Wanted wanted_;
    std::vector<Found> found_;
};

}  // namespace sslart
