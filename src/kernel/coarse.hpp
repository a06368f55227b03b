// A second, coarse copy of the boxes that rules nodes out cheaply: a cache, made from the boxes and never saved.
//
// Sides are rounded outward, so that the L1 distance between a coarse sample and a coarse box never exceeds 255 times
// the true distance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <shared_mutex>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "blocks.hpp"
#include "model.hpp"
#include "sample.hpp"
#include "tree.hpp"
#include "simd.hpp"

namespace sslart {

// A sample as the filter sees it: both roundings of each value, in the order of the filter's features.
struct CoarseSample {
    std::vector<std::uint8_t> low, high;  // rounded down, rounded up; 0 and 255 where missing
    std::vector<std::uint8_t> missing;    // 255 where missing
    std::vector<std::uint8_t> rounded;    // scratch
    bool any_missing = false;
};

class Filter {
public:
    Filter() = default;
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    // a model that outgrew its filter needs the memory: glibc would keep it
    ~Filter() {
        const bool is_large = nodes_.n_bytes() > kLarge;
        nodes_ = Layer();
#ifdef __GLIBC__
        if (is_large) malloc_trim(0);
#else
        (void)is_large;
#endif
    }

    // learning excludes every other use; predictions exclude learning only
    std::shared_mutex in_use;

    Index n_nodes() const { return n_nodes_; }
    const Layer& nodes() const { return nodes_; }
    const Tree& tree() const { return tree_; }
    Index node_at(Index place) const { return tree_.node_at(place); }

    // brings the filter up to the nodes there are; what it holds of earlier nodes must still be true
    void follow(const Boxes& boxes, const Vectors& vectors) {
        if (n_nodes_ == 0) arrange(boxes);
        nodes_.reserve(boxes.capacity);
        while (n_nodes_ < boxes.n_nodes) {
            const Index node = n_nodes_++;
            if (node % kBlock == 0) nodes_.open_block();
            update(boxes, node, vectors);
        }
        if (tree_.is_due(n_nodes_)) tree_.grow(nodes_, n_nodes_);
    }

    // takes note of a search while learning, and cuts down a tree that does not pay
    void account(Index n_visited) {
        if (learning_.shows_loss(n_visited, tree_.n_nodes() / kBlock)) tree_.cut_down(nodes_, n_nodes_);
    }

    void update(const Boxes& boxes, Index node, const Vectors& vectors) {
        const Index D = boxes.n_features;
        vectors.outward(boxes.weight(node), D, rounded_.data(), rounded_.data() + D);
        in_order(rounded_.data(), D, box_.lower.data(), box_.upper.data());
        box_.set_norm(boxes.norms[node]);
        const Index place = tree_.place_of(node);
        nodes_.put(place, box_);
        tree_.cover(place, box_);
    }

    void read(const Sample& sample, CoarseSample& coarse, const Vectors& vectors) const {
        const std::size_t width = box_.lower.size();
        if (coarse.low.size() != width || coarse.any_missing) {
            coarse.low.assign(width, 0);
            coarse.high.assign(width, 255);
            coarse.missing.assign(width, 0);
        }
        coarse.any_missing = !sample.missing().empty();
        const Index D = static_cast<Index>(place_.size());
        coarse.rounded.resize(static_cast<std::size_t>(2 * D));
        vectors.outward(sample.code(), D, coarse.rounded.data(), coarse.rounded.data() + D);
        in_order(coarse.rounded.data(), D, coarse.low.data(), coarse.high.data());
        for (Index i : sample.missing()) {
            const Index place = place_[i];
            coarse.low[place] = 0;
            coarse.high[place] = coarse.missing[place] = 255;
        }
    }

private:
    // features in which boxes differ most come first: the scan can then give up early on most blocks
    void arrange(const Boxes& boxes) {
        const Index D = boxes.n_features;
        const Index n_groups = (D + kBlock - 1) / kBlock;
        nodes_ = Layer(n_groups);
        box_ = CoarseBox(n_groups * kBlock);
        rounded_.resize(static_cast<std::size_t>(2 * D));
        std::vector<Index> order(D);
        std::iota(order.begin(), order.end(), Index{0});
        is_ordered_ = n_groups > kGroupsWithoutLook;
        if (is_ordered_) {
            const std::vector<double> spread = spreads(boxes);
            std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return spread[a] > spread[b]; });
        }
        order_.assign(order.begin(), order.end());
        place_.resize(D);
        for (Index place = 0; place < D; ++place) place_[order[place]] = place;
    }

    static std::vector<double> spreads(const Boxes& boxes) {
        const Index D = boxes.n_features, n_looked_at = std::min<Index>(boxes.n_nodes, 256);
        std::vector<double> sums(D, 0.0), squares(D, 0.0);
        for (Index j = 0; j < n_looked_at; ++j) {
            const double* u = boxes.weight(j);
            for (Index i = 0; i < D; ++i) {
                sums[i] += u[i];
                squares[i] += u[i] * u[i];
            }
        }
        for (Index i = 0; i < D; ++i) squares[i] -= sums[i] * sums[i] / static_cast<double>(n_looked_at);
        return squares;
    }

    // from the order of the model's features to that of the filter's
    void in_order(const std::uint8_t* rounded, Index D, std::uint8_t* lower, std::uint8_t* upper) const {
        if (is_ordered_) {
            const std::uint32_t* order = order_.data();
            for (Index place = 0; place < D; ++place) lower[place] = rounded[order[place]];
            for (Index place = 0; place < D; ++place) upper[place] = rounded[D + order[place]];
        } else {
            std::memcpy(lower, rounded, static_cast<std::size_t>(D));
            std::memcpy(upper, rounded + D, static_cast<std::size_t>(D));
        }
    }

    static constexpr Index kLarge = Index{1} << 20;  // bytes
    static constexpr Index kGroupsWithoutLook = 2;  // up to so many groups the scan looks only at the end

    Index n_nodes_ = 0;
    Layer nodes_;
    Tree tree_;
    Account learning_;
    bool is_ordered_ = false;
    std::vector<std::uint32_t> order_;   // feature at each place
    std::vector<Index> place_;           // place of each feature
    std::vector<std::uint8_t> rounded_;  // scratch of an update
    CoarseBox box_;                      // scratch of an update
};

}  // namespace sslart
