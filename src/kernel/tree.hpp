// A tree of boxes over the blocks of the filter: a box of one level holds all eight of a block of the level below, so
// that one look rules out eight boxes, or eight blocks of them.
//
// The tree keeps nodes that lie close together in the same block; nodes made since it was grown stand behind it in the
// order they were made. Like the filter it is a cache that can rule nodes out but never decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "blocks.hpp"

namespace sslart {

// Fewer nodes than this do not pay for a tree. The tests set it lower.
inline Index& tree_from() {
    static Index n_nodes = 4096;
    return n_nodes;
}

// Whether a tree saves enough: a look at its levels and at blocks out of order must cost less than a plain pass.
class Account {
public:
    // after so many searches, whether they came down to too many of the blocks
    bool shows_loss(Index n_visited, Index n_blocks) {
        n_visited_ += n_visited;
        n_blocks_ += n_blocks;
        if (++n_searches_ < kSearches) return false;
        const bool loss = n_visited_ * 5 > n_blocks_ * 2;
        *this = Account();
        return loss;
    }

private:
    static constexpr Index kSearches = 32;
    Index n_searches_ = 0, n_visited_ = 0, n_blocks_ = 0;
};

class Tree {
public:
    // nodes in the tree: they have the places before this one
    Index n_nodes() const { return static_cast<Index>(node_at_.size()); }
    bool is_grown() const { return !levels_.empty(); }
    Index n_levels() const { return static_cast<Index>(levels_.size()); }
    const Layer& level(Index above) const { return levels_[static_cast<std::size_t>(above - 1)]; }

    Index node_at(Index place) const { return place < n_nodes() ? Index{node_at_[place]} : place; }
    Index place_of(Index node) const { return node < n_nodes() ? Index{place_of_[node]} : node; }

    bool is_due(Index n_all) const { return n_all >= std::max(tree_from(), next_); }

    void cover(Index place, const CoarseBox& box) {
        if (place >= n_nodes()) return;
        for (Layer& level : levels_) level.cover(place /= kBlock, box);
    }

    // sorts all full blocks anew and builds the levels over them
    void grow(Layer& nodes, Index n_all) {
        const Index n = n_all / kBlock * kBlock;
        std::vector<std::uint32_t> by_place(n);  // former place at each new place
        std::iota(by_place.begin(), by_place.end(), 0u);
        Sorter(nodes, n).sort(by_place.data(), n);

        std::vector<std::uint32_t> node_at(n);
        for (Index place = 0; place < n; ++place) node_at[place] = static_cast<std::uint32_t>(this->node_at(by_place[place]));
        rearrange(nodes, by_place);
        node_at_ = std::move(node_at);
        place_of_.resize(n);
        for (Index place = 0; place < n; ++place) place_of_[node_at_[place]] = static_cast<std::uint32_t>(place);
        raise_levels(nodes);
        next_ = n_all + std::max<Index>(n_all / kShareOutside, kBlock);
    }

    // puts all nodes back in the order they were made, which suits plain scans; a tree is tried again at twice the size
    void cut_down(Layer& nodes, Index n_all) {
        rearrange(nodes, place_of_);
        levels_.clear();
        node_at_.clear();
        place_of_.clear();
        next_ = 2 * n_all;
    }

private:
    // moves boxes in place, cycle by cycle: `former` names the present place of each of the first
    static void rearrange(Layer& nodes, const std::vector<std::uint32_t>& former) {
        CoarseBox first(nodes.n_groups() * kBlock), box = first;
        std::vector<bool> is_moved(former.size(), false);
        for (std::size_t start = 0; start < former.size(); ++start) {
            if (is_moved[start]) continue;
            nodes.get(static_cast<Index>(start), first);
            std::size_t place = start;
            for (; former[place] != start; place = former[place]) {
                nodes.get(former[place], box);
                nodes.put(static_cast<Index>(place), box);
                is_moved[place] = true;
            }
            nodes.put(static_cast<Index>(place), first);
            is_moved[place] = true;
        }
    }

    static constexpr Index kShareOutside = 8;  // grown anew once an eighth of the nodes stands outside
    static constexpr Index kTopBlocks = 128;   // levels are raised until there are so few blocks

    void raise_levels(const Layer& nodes) {
        levels_.clear();
        CoarseBox box(nodes.n_groups() * kBlock);
        const Layer* below = &nodes;
        Index n_below = n_nodes();
        do {
            const Index n_here = (n_below + kBlock - 1) / kBlock;
            Layer level(nodes.n_groups());
            level.reserve(n_here);
            for (Index place = 0; place < n_below; ++place) {
                if (place % (kBlock * kBlock) == 0) level.open_block();
                below->get(place, box);
                level.cover(place / kBlock, box);
            }
            levels_.push_back(std::move(level));
            below = &levels_.back();
            n_below = n_here;
        } while (n_below > kTopBlocks * kBlock);
    }

    // Halves a set of boxes again and again where their middles spread most, always between two blocks.
    class Sorter {
    public:
        Sorter(const Layer& boxes, Index n) : n_keys_(std::min<Index>(boxes.n_groups() * kBlock, kMostKeys)), keys_(n * n_keys_) {
            CoarseBox box(boxes.n_groups() * kBlock);
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
        static constexpr Index kMostKeys = 16;  // the first features are those that vary most

        Index widest(const std::uint32_t* places, Index n) const {
            double sums[kMostKeys] = {}, squares[kMostKeys] = {};
            const Index step = std::max<Index>(1, n / 256);
            Index looked_at = 0;
            for (Index j = 0; j < n; j += step, ++looked_at)
                for (Index i = 0; i < n_keys_; ++i) {
                    const double value = keys_[places[j] * n_keys_ + i];
                    sums[i] += value;
                    squares[i] += value * value;
                }
            Index best = 0;
            for (Index i = 0; i < n_keys_; ++i) {
                squares[i] -= sums[i] * sums[i] / static_cast<double>(looked_at);
                if (squares[i] > squares[best]) best = i;
            }
            return best;
        }

        Index n_keys_;
        std::vector<std::uint8_t> keys_;
    };

    std::vector<Layer> levels_;  // from the bottom up
    std::vector<std::uint32_t> node_at_, place_of_;
    Index next_ = 0;  // grown again once there are so many nodes
};

}  // namespace sslart
