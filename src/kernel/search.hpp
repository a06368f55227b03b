// The search: which nodes answer a sample. A filter rules most nodes out; the others are decided exactly.
//
// On the 2⁻³² grid every sum is exact, so neither the order of summation nor the order in which nodes are looked at can
// change a result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "coarse.hpp"
#include "dispatch.hpp"
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

// whether the filter, if it will be used, knows all nodes
inline bool is_prepared(const Filter& filter, const Boxes& boxes) {
    return boxes.n_nodes < filter_from() || filter.n_nodes() >= boxes.n_nodes;
}

// What a search looks for.
struct Wanted {
    Index depth = 1;               // how many nodes
    double vigilance = 0.0;        // only nodes that match at least so well
    const Index* labels = nullptr; // only nodes with a label, where given
    const Found* after = nullptr;  // only nodes asked after this one, where given
};

enum class Purpose { kLearn, kPredict };

class Search final : private Judge {
public:
    // who learns has the filter to itself; who predicts may share it
    Search(Purpose purpose, double choice, Filter& filter, const Boxes& boxes)
        : purpose_(purpose),
          instructions_(*chosen_instructions()),
          filter_from_(filter_from()),
          alpha_(choice),
          margin_(Limits::margin(boxes.n_features)),
          filter_(filter),
          boxes_(boxes),
          sample_(boxes.n_features) {}

    const Sample& sample() const { return sample_; }

    // brings the filter up to date; afterwards searches that change no box may share it
    void prepare() {
        if (!is_prepared(filter_, boxes_)) filter_.follow(boxes_, instructions_.vectors);
    }

    void look_at(const double* x) {
        sample_.read(x, instructions_.vectors);
        prepare();
        if (uses_filter()) filter_.read(sample_, coarse_, instructions_.vectors);
    }

    // the nodes of highest choice, best first
    const std::vector<Found>& find(const Wanted& wanted) {
        wanted_ = wanted;
        found_.clear();
        limits.set_vigilance(wanted.vigilance, sample_.norm(), margin_);
        limits.set_best(0.0, alpha_, margin_);
        bar_ = 0.0;
        if (uses_filter()) {
            scan_filter();
        } else {
            for (Index j = 0; j < boxes_.n_nodes; ++j) look_exactly(j);
        }
        std::sort_heap(found_.begin(), found_.end(), asked_before);
        return found_;
    }

    const Vectors& vectors() const { return instructions_.vectors; }

    // to be told of every change to a box
    void changed(Index node) {
        if (node < filter_.n_nodes()) filter_.update(boxes_, node, instructions_.vectors);
    }

private:
    bool uses_filter() const { return boxes_.n_nodes >= filter_from_; }

    // down the tree where there is one, then over what stands behind it
    void scan_filter() {
        const Tree& tree = filter_.tree();
        const Layer& nodes = filter_.nodes();
        scan_ = instructions_.scan(nodes.n_groups(), coarse_);
        const bool descends = uses_tree_ && tree.is_grown();
        if (descends) {
            aim();
            Blocks blocks{0, tree.level(tree.n_levels()).n_blocks()};
            for (level_ = tree.n_levels(); level_ > 0; --level_) {
                below_.clear();
                scan_(tree.level(level_), blocks, coarse_, *this);
                std::swap(below_, listed_);
                blocks = {0, static_cast<Index>(listed_.size()), listed_.data()};
            }
            scan_(nodes, blocks, coarse_, *this);
        }
        const Index first = descends ? tree.n_nodes() / kBlock : 0;
        scan_(nodes, {first, nodes.n_blocks() - first}, coarse_, *this);
        if (descends) account(static_cast<Index>(listed_.size()));
    }

    // Goes straight down to the closest block. What it finds there is found again, but raises the bar for all others.
    void aim() {
        const Tree& tree = filter_.tree();
        Index block = 0, last = tree.level(tree.n_levels()).n_blocks();
        for (Index level = tree.n_levels(); level > 0; --level, last = block + 1)
            block = instructions_.closest(tree.level(level), block, last, coarse_);
        level_ = 0;
        scan_(filter_.nodes(), {block, 1}, coarse_, *this);
        if (!found_.empty() && found_.size() == static_cast<std::size_t>(wanted_.depth)) bar_ = found_.front().choice;
        found_.clear();
    }

    // what the scan cannot rule out: a node, or a block of the level below
    void consider(Index place) override {
        if (level_ == 0)
            look_exactly(filter_.node_at(place));
        else
            below_.push_back(static_cast<std::uint32_t>(place));
    }

    void look_exactly(Index node) {
        if (node >= boxes_.n_nodes) return;  // made by a call that came after this one began
        if (wanted_.labels && wanted_.labels[node] == kNone) return;
        const double* w = boxes_.weight(node);
        double norm = boxes_.norms[node];
        for (Index i : sample_.missing()) norm -= w[i] + w[i + boxes_.n_features];
        const double shared = instructions_.vectors.overlap(sample_.code(), w, 2 * boxes_.n_features);
        const Found here{node, shared / (alpha_ + norm), shared / sample_.norm()};
        if (!(here.match >= wanted_.vigilance) || (wanted_.after && !wanted_.after->before(here))) return;
        keep(here);
    }

    // found_ is a heap with the node asked last on top
    void keep(const Found& here) {
        const std::size_t depth = static_cast<std::size_t>(wanted_.depth);
        if (found_.size() == depth) {
            if (!here.before(found_.front())) return;
            std::pop_heap(found_.begin(), found_.end(), asked_before);
            found_.back() = here;
        } else {
            found_.push_back(here);
        }
        std::push_heap(found_.begin(), found_.end(), asked_before);
        if (found_.size() == depth) limits.set_best(std::max(bar_, found_.front().choice), alpha_, margin_);
    }

    static bool asked_before(const Found& one, const Found& other) { return one.before(other); }

    // a tree that does not pay is cut down, or passed over by a search that may not change it
    void account(Index n_visited) {
        if (purpose_ == Purpose::kLearn)
            filter_.account(n_visited);
        else if (predicting_.shows_loss(n_visited, filter_.tree().n_nodes() / kBlock))
            uses_tree_ = false;
    }

    Purpose purpose_;
    const Instructions& instructions_;
    Index filter_from_;
    double alpha_;
    double margin_;
    Filter& filter_;
    const Boxes& boxes_;
    Sample sample_;
    CoarseSample coarse_;
    Scan scan_ = nullptr;
    double bar_ = 0.0;     // a choice that as many nodes as are wanted are known to reach
    Index level_ = 0;      // of the tree that the scan is at, 0 for the nodes
    bool uses_tree_ = true;
    Account predicting_;
    std::vector<std::uint32_t> below_, listed_;  // blocks of the level below, and of this level
    Wanted wanted_;
    std::vector<Found> found_;
};

}  // namespace sslart
