// The cache of the search: a coarse copy of the boxes that rules nodes out quickly. It is computed from the boxes and
// never saved.
//
// Sides are rounded outward, so that the L1 distance between a coarse sample and a coarse box never exceeds 255 times
// the true distance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "art/boxes.hpp"
#include "art/sample.hpp"
#include "runtime/simd.hpp"
#include "search/blocks.hpp"
#include "search/tree.hpp"

namespace sslart {

// A sample in 8 bits: both roundings of each value, in the feature order of the cache.
struct CoarseSample {
    std::vector<std::uint8_t> low, high;  // rounded down, rounded up; 0 and 255 where missing
    std::vector<std::uint8_t> missing;    // 255 where missing
    std::vector<std::uint8_t> rounded;    // scratch
    bool any_missing = false;
};

class SearchCache {
public:
    // below `filter_from` boxes a search evaluates every box, below `tree_from` it uses no tree
    explicit SearchCache(Index filter_from = 96, Index tree_from = 4096)
        : filter_from_(filter_from), tree_(tree_from) {}

    Index n_nodes() const { return n_nodes_; }
    const BoxBlocks& nodes() const { return nodes_; }
    const Tree& tree() const { return tree_; }
    Index node_at(Index place) const { return tree_.node_at(place); }

    bool filters(Index n_nodes) const { return n_nodes >= filter_from_; }
    // true if the cache contains all boxes, or if a search of these boxes does not use it
    bool is_prepared(const Boxes& boxes) const { return !filters(boxes.n_boxes) || n_nodes_ >= boxes.n_boxes; }

    // adds the boxes that are not in the cache yet; the others must be up to date
    void add_new_nodes(const Boxes& boxes, const VectorOps& ops, Owner owner) {
        if (n_nodes_ == 0) order_features(boxes);
        while (n_nodes_ < boxes.n_boxes) {
            const Index node = n_nodes_++;
            if (node % kBlock == 0) nodes_.add_block(owner);
            update(boxes, node, ops, owner);
        }
        if (tree_.is_due(n_nodes_)) tree_.build(nodes_, n_nodes_, owner);
    }

    // counts a search while learning, and removes a tree that does not save time
    void record_visits(Index n_visited, Owner owner) {
        if (visits_.exceeds_limit(n_visited, tree_.n_nodes() / kBlock)) tree_.remove(nodes_, n_nodes_, owner);
    }

    void update(const Boxes& boxes, Index node, const VectorOps& ops, Owner owner) {
        thread_local std::vector<std::uint8_t> rounded;
        thread_local CoarseBox box;
        const Index D = boxes.n_features;
        const std::size_t width = static_cast<std::size_t>(nodes_.n_groups() * kGroup);
        rounded.resize(static_cast<std::size_t>(2 * D));
        if (box.lower.size() != width) box = CoarseBox(nodes_.n_groups() * kGroup);
        std::fill(box.lower.begin() + D, box.lower.end(), std::uint8_t{0});
        std::fill(box.upper.begin() + D, box.upper.end(), std::uint8_t{255});
        ops.outward(boxes.weight(node), D, rounded.data(), rounded.data() + D);
        reorder(rounded.data(), D, box.lower.data(), box.upper.data());
        box.set_norm(boxes.norm(node));
        const Index place = tree_.place_of(node);
        nodes_.put(place, box, owner);
        tree_.cover(place, box, owner);
    }

    void round(const Sample& sample, CoarseSample& coarse, const VectorOps& ops) const {
        const std::size_t width = static_cast<std::size_t>(nodes_.n_groups() * kGroup);
        if (coarse.low.size() != width || coarse.any_missing) {
            coarse.low.assign(width, 0);
            coarse.high.assign(width, 255);
            coarse.missing.assign(width, 0);
        }
        coarse.any_missing = !sample.missing().empty();
        const Index D = static_cast<Index>(order_->place.size());
        coarse.rounded.resize(static_cast<std::size_t>(2 * D));
        ops.outward(sample.code(), D, coarse.rounded.data(), coarse.rounded.data() + D);
        reorder(coarse.rounded.data(), D, coarse.low.data(), coarse.high.data());
        for (Index i : sample.missing()) {
            const Index place = order_->place[i];
            coarse.low[place] = 0;
            coarse.high[place] = coarse.missing[place] = 255;
        }
    }

private:
    struct Order {
        bool is_given;                       // not that of the model
        std::vector<std::uint32_t> feature;  // at each place
        std::vector<Index> place;            // of each feature
    };

    // features in which boxes differ most come first, so that the scan can skip most blocks early
    void order_features(const Boxes& boxes) {
        const Index D = boxes.n_features;
        const Index n_groups = (D + kGroup - 1) / kGroup;
        nodes_ = BoxBlocks(n_groups);
        std::vector<Index> order(D);
        std::iota(order.begin(), order.end(), Index{0});
        auto found = std::make_shared<Order>();
        found->is_given = n_groups > kGroupsWithoutCheck;
        if (found->is_given) {
            const std::vector<double> spread = spreads(boxes);
            std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return spread[a] > spread[b]; });
        }
        found->feature.assign(order.begin(), order.end());
        found->place.resize(D);
        for (Index place = 0; place < D; ++place) found->place[order[place]] = place;
        order_ = std::move(found);
    }

    static std::vector<double> spreads(const Boxes& boxes) {
        const Index D = boxes.n_features, n_used = std::min<Index>(boxes.n_boxes, 256);
        std::vector<double> sums(D, 0.0), squares(D, 0.0);
        for (Index j = 0; j < n_used; ++j) {
            const double* u = boxes.weight(j);
            for (Index i = 0; i < D; ++i) {
                sums[i] += u[i];
                squares[i] += u[i] * u[i];
            }
        }
        for (Index i = 0; i < D; ++i) squares[i] -= sums[i] * sums[i] / static_cast<double>(n_used);
        return squares;
    }

    // from the feature order of the model to that of the cache
    void reorder(const std::uint8_t* rounded, Index D, std::uint8_t* lower, std::uint8_t* upper) const {
        if (order_->is_given) {
            const std::uint32_t* order = order_->feature.data();
            for (Index place = 0; place < D; ++place) lower[place] = rounded[order[place]];
            for (Index place = 0; place < D; ++place) upper[place] = rounded[D + order[place]];
        } else {
            std::memcpy(lower, rounded, static_cast<std::size_t>(D));
            std::memcpy(upper, rounded + D, static_cast<std::size_t>(D));
        }
    }

    static constexpr Index kGroupsWithoutCheck = 2;  // up to so many groups the scan checks only at the end

    Index filter_from_;
    Index n_nodes_ = 0;
    BoxBlocks nodes_;
    Tree tree_;
    VisitStatistics visits_;
    std::shared_ptr<const Order> order_;
};

}  // namespace sslart
