// A tree of boxes over the blocks of coarse boxes: a box of one level contains all boxes of a block of the level
// below, so that one comparison rules out a block of boxes, or a block of such blocks.
//
// The tree puts nodes that lie close together in the same block; nodes created after it was built follow in the order
// they were created. It only rules nodes out; whether a node is selected is decided exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "search/blocks.hpp"

namespace sslart {

// Detects trees whose searches visit so many blocks that scanning all blocks in order would be faster.
class VisitStatistics {
public:
    // true after every kSearches searches that together visited too many blocks
    bool exceeds_limit(Index n_visited, Index n_blocks) {
        n_visited_ += n_visited;
        n_blocks_ += n_blocks;
        if (++n_searches_ < kSearches) return false;
        const bool exceeds = n_visited_ * 5 > n_blocks_ * 2;
        *this = VisitStatistics();
        return exceeds;
    }

private:
    static constexpr Index kSearches = 32;
    Index n_searches_ = 0, n_visited_ = 0, n_blocks_ = 0;
};

class Tree {
public:
    // not built for fewer than `min_nodes` nodes
    explicit Tree(Index min_nodes) : next_(min_nodes) {}

    // nodes in the tree: they have the places before this one
    Index n_nodes() const { return layout_ ? static_cast<Index>(layout_->node_at.size()) : 0; }
    bool is_built() const { return !levels_.empty(); }
    Index n_levels() const { return static_cast<Index>(levels_.size()); }
    const BoxBlocks& level(Index above) const { return levels_[static_cast<std::size_t>(above - 1)]; }

    Index node_at(Index place) const { return place < n_nodes() ? Index{layout_->node_at[place]} : place; }
    Index place_of(Index node) const { return node < n_nodes() ? Index{layout_->place_of[node]} : node; }

    bool is_due(Index n_all) const { return n_all >= next_; }

    void cover(Index place, const CoarseBox& box, Owner owner) {
        if (place >= n_nodes()) return;
        for (BoxBlocks& level : levels_) level.cover(place /= kBlock, box, owner);
    }

    // sorts all full blocks again and builds the levels over them
    void build(BoxBlocks& nodes, Index n_all, Owner owner) {
        const Index n = n_all / kBlock * kBlock;
        std::vector<std::uint32_t> by_place(n);  // former place at each new place
        std::iota(by_place.begin(), by_place.end(), 0u);
        Sorter(nodes, n).sort(by_place.data(), n);

        auto layout = std::make_shared<Layout>();
        layout->node_at.resize(n);
        layout->place_of.resize(n);
        for (Index place = 0; place < n; ++place) {
            const std::uint32_t node = static_cast<std::uint32_t>(node_at(by_place[place]));
            layout->node_at[place] = node;
            layout->place_of[node] = static_cast<std::uint32_t>(place);
        }
        rearrange(nodes, by_place, owner);
        layout_ = std::move(layout);
        build_levels(nodes, owner);
        next_ = n_all + std::max<Index>(n_all / kShareOutside, kBlock);
    }

    // Puts all nodes back in the order they were created, which suits scans of all blocks. The tree is built again once
    // there are twice as many nodes.
    void remove(BoxBlocks& nodes, Index n_all, Owner owner) {
        rearrange(nodes, layout_->place_of, owner);
        levels_.clear();
        layout_.reset();
        next_ = 2 * n_all;
    }

private:
    // the box at each place, and the place of each box
    struct Layout {
        std::vector<std::uint32_t> node_at, place_of;
    };

    // moves boxes in place, cycle by cycle: the box for place i is now at place former[i]
    static void rearrange(BoxBlocks& nodes, const std::vector<std::uint32_t>& former, Owner owner) {
        CoarseBox first(nodes.n_groups() * kGroup), box = first;
        std::vector<bool> is_moved(former.size(), false);
        for (std::size_t start = 0; start < former.size(); ++start) {
            if (is_moved[start]) continue;
            nodes.get(static_cast<Index>(start), first);
            std::size_t place = start;
            for (; former[place] != start; place = former[place]) {
                nodes.get(former[place], box);
                nodes.put(static_cast<Index>(place), box, owner);
                is_moved[place] = true;
            }
            nodes.put(static_cast<Index>(place), first, owner);
            is_moved[place] = true;
        }
    }

    static constexpr Index kShareOutside = 8;  // built again once an eighth of the nodes is outside
    static constexpr Index kTopBlocks = 128;   // levels are added until the top one has at most so many blocks

    void build_levels(const BoxBlocks& nodes, Owner owner) {
        levels_.clear();
        CoarseBox box(nodes.n_groups() * kGroup);
        const BoxBlocks* below = &nodes;
        Index n_below = n_nodes();
        do {
            const Index n_here = (n_below + kBlock - 1) / kBlock;
            BoxBlocks level(nodes.n_groups());
            for (Index place = 0; place < n_below; ++place) {
                if (place % (kBlock * kBlock) == 0) level.add_block(owner);
                below->get(place, box);
                level.cover(place / kBlock, box, owner);
            }
            levels_.push_back(std::move(level));
            below = &levels_.back();
            n_below = n_here;
        } while (n_below > kTopBlocks * kBlock);
    }

    // Halves a set of boxes repeatedly along the feature in which their middles vary most, always between two blocks.
    class Sorter {
    public:
        Sorter(const BoxBlocks& boxes, Index n)
            : n_keys_(std::min<Index>(boxes.n_groups() * kGroup, kMaxKeys)), keys_(n * n_keys_) {
            CoarseBox box(boxes.n_groups() * kGroup);
            for (Index place = 0; place < n; ++place) {
                boxes.get(place, box);
                for (Index i = 0; i < n_keys_; ++i)
                    keys_[place * n_keys_ + i] = static_cast<std::uint8_t>((box.lower[i] + box.upper[i]) / 2);
            }
        }

        void sort(std::uint32_t* places, Index n) const {
            const Index n_blocks = (n + kBlock - 1) / kBlock;
            if (n_blocks < 2) return;
            Index unit = 1;  // whole subtrees stay together
            while (unit * kBlock <= n_blocks / 2) unit *= kBlock;
            const Index half = n_blocks / 2 / unit * unit * kBlock;
            const Index key = widest(places, n);
            std::nth_element(places, places + half, places + n, [&](std::uint32_t a, std::uint32_t b) {
                return keys_[a * n_keys_ + key] < keys_[b * n_keys_ + key];
            });
            sort(places, half);
            sort(places + half, n - half);
        }

    private:
        static constexpr Index kMaxKeys = 16;  // features come in the order of how much they vary

        Index widest(const std::uint32_t* places, Index n) const {
            double sums[kMaxKeys] = {}, squares[kMaxKeys] = {};
            const Index step = std::max<Index>(1, n / 256);
            Index n_used = 0;
            for (Index j = 0; j < n; j += step, ++n_used)
                for (Index i = 0; i < n_keys_; ++i) {
                    const double value = keys_[places[j] * n_keys_ + i];
                    sums[i] += value;
                    squares[i] += value * value;
                }
            Index best = 0;
            for (Index i = 0; i < n_keys_; ++i) {
                squares[i] -= sums[i] * sums[i] / static_cast<double>(n_used);
                if (squares[i] > squares[best]) best = i;
            }
            return best;
        }

        Index n_keys_;
        std::vector<std::uint8_t> keys_;
    };

    std::vector<BoxBlocks> levels_;  // from the bottom up
    std::shared_ptr<const Layout> layout_;
    Index next_;  // built (again) once there are so many nodes
};

}  // namespace sslart
