// The search for the best boxes of a sample. Coarse boxes rule out most of them; the others are evaluated exactly.
//
// On the 2⁻³² grid every sum is exact, so neither the order of summation nor the order in which nodes are evaluated can
// change a result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "art/boxes.hpp"
#include "art/sample.hpp"
#include "runtime/dispatch.hpp"
#include "search/coarse.hpp"

namespace sslart {

struct Candidate {
    Index node;
    double choice;
    double match;
    double beyond;  // |W| − |A ∧ W|: 0 where the box holds the sample, so that learning it leaves the box as it is

    // ranking order: by choice, the lower index on ties
    bool precedes(const Candidate& other) const {
        return choice > other.choice || (choice == other.choice && node < other.node);
    }
};

// Conditions of a search.
struct Query {
    Index depth = 1;                   // number of boxes to return
    double vigilance = 0.0;            // only nodes of at least this match
    const Labels* labels = nullptr;    // only nodes with a label, where given
    const Candidate* after = nullptr;  // only nodes ranked after this one, where given
};

enum class Purpose { kLearn, kRank };

class Search final : private Visitor {
public:
    // learning needs the cache for itself; searches that rank can share a prepared one
    Search(Purpose purpose, double choice, SearchCache& cache, const Boxes& boxes)
        : purpose_(purpose),
          instructions_(*chosen_instructions()),
          alpha_(choice),
          margin_(Limits::margin(boxes.n_features)),
          cache_(cache),
          boxes_(boxes),
          sample_(boxes.n_features) {}

    const Sample& sample() const { return sample_; }

    // brings the cache up to date; afterwards searches that change no box can share it
    void prepare() {
        if (!cache_.is_prepared(boxes_)) cache_.add_new_nodes(boxes_, instructions_.ops, boxes_.owner);
    }

    void set_sample(const double* x) {
        sample_.set(x, instructions_.ops);
        prepare();
        if (uses_filter()) cache_.round(sample_, coarse_, instructions_.ops);
    }

    // the boxes of highest choice, best first
    const std::vector<Candidate>& find(const Query& query) {
        query_ = query;
        candidates_.clear();
        limits.set_vigilance(query.vigilance, sample_.norm(), margin_);
        limits.set_best(0.0, alpha_, margin_);
        reached_choice_ = 0.0;
        if (uses_filter()) {
            scan_cache();
        } else {
            for (Index j = 0; j < boxes_.n_boxes; ++j) evaluate(j);
        }
        std::sort_heap(candidates_.begin(), candidates_.end(), precedes);
        return candidates_;
    }

    const VectorOps& ops() const { return instructions_.ops; }

    // must be called after every change of a box
    void update_node(Index node) {
        if (node < cache_.n_nodes()) cache_.update(boxes_, node, instructions_.ops, boxes_.owner);
    }

private:
    bool uses_filter() const { return cache_.filters(boxes_.n_boxes); }

    // the nodes in the tree, where there is one, then the nodes after it
    void scan_cache() {
        const Tree& tree = cache_.tree();
        const BoxBlocks& nodes = cache_.nodes();
        scan_ = instructions_.scan(nodes.n_groups(), coarse_);
        const bool descends = uses_tree_ && tree.is_built();
        if (descends) {
            search_nearest_block();
            BlockRange blocks{0, tree.level(tree.n_levels()).n_blocks()};
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
        if (descends) record_visits(static_cast<Index>(listed_.size()));
    }

    // Scans the nearest block first. Its nodes are found again later, but their choice rules out more of the others.
    void search_nearest_block() {
        const Tree& tree = cache_.tree();
        Index block = 0, last = tree.level(tree.n_levels()).n_blocks();
        for (Index level = tree.n_levels(); level > 0; --level, last = block + 1)
            block = instructions_.nearest(tree.level(level), block, last, coarse_);
        level_ = 0;
        scan_(cache_.nodes(), {block, 1}, coarse_, *this);
        if (!candidates_.empty() && candidates_.size() == static_cast<std::size_t>(query_.depth))
            reached_choice_ = candidates_.front().choice;
        candidates_.clear();
    }

    // a box that the scan cannot rule out: a node, or a block of the level below
    void visit(Index place) override {
        if (level_ == 0)
            evaluate(cache_.node_at(place));
        else
            below_.push_back(static_cast<std::uint32_t>(place));
    }

    void evaluate(Index node) {
        if (node >= boxes_.n_boxes) return;  // created after this call began
        if (query_.labels && (*query_.labels)[node] == kNone) return;
        const double* w = boxes_.weight(node);
        double norm = boxes_.norm(node);
        for (Index i : sample_.missing()) norm -= w[i] + w[i + boxes_.n_features];
        const double shared = instructions_.ops.overlap(sample_.code(), w, 2 * boxes_.n_features);
        const Candidate here{node, shared / (alpha_ + norm), shared / sample_.norm(), norm - shared};
        if (!(here.match >= query_.vigilance) || (query_.after && !query_.after->precedes(here))) return;
        keep(here);
    }

    // candidates_ is a heap with the lowest ranked node on top
    void keep(const Candidate& here) {
        const std::size_t depth = static_cast<std::size_t>(query_.depth);
        if (candidates_.size() == depth) {
            if (!here.precedes(candidates_.front())) return;
            std::pop_heap(candidates_.begin(), candidates_.end(), precedes);
            candidates_.back() = here;
        } else {
            candidates_.push_back(here);
        }
        std::push_heap(candidates_.begin(), candidates_.end(), precedes);
        if (candidates_.size() == depth)
            limits.set_best(std::max(reached_choice_, candidates_.front().choice), alpha_, margin_);
    }

    static bool precedes(const Candidate& one, const Candidate& other) { return one.precedes(other); }

    // a tree that does not save time is removed, or no longer used by a search that must not change it
    void record_visits(Index n_visited) {
        if (purpose_ == Purpose::kLearn)
            cache_.record_visits(n_visited, boxes_.owner);
        else if (visits_.exceeds_limit(n_visited, cache_.tree().n_nodes() / kBlock))
            uses_tree_ = false;
    }

    Purpose purpose_;
    const Instructions& instructions_;
    double alpha_;
    double margin_;
    SearchCache& cache_;
    const Boxes& boxes_;
    Sample sample_;
    CoarseSample coarse_;
    Scan scan_ = nullptr;
    double reached_choice_ = 0.0;  // a choice that at least `depth` nodes are known to reach
    Index level_ = 0;              // of the tree that is scanned, 0 for the nodes
    bool uses_tree_ = true;
    VisitStatistics visits_;
    std::vector<std::uint32_t> below_, listed_;  // blocks of the level below, and of this level
    Query query_;
    std::vector<Candidate> candidates_;
};

}  // namespace sslart
