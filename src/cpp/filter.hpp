// A second, coarse copy of the boxes that rules nodes out cheaply: a cache, made from the boxes and never saved.
//
// Each side is kept in 8 bits, rounded outward, so that the L1 distance between a coarse sample and a coarse box never
// exceeds 255 times the true distance. Nodes stand in blocks of eight; within a block, each group of eight features
// holds 64 bytes of lower sides (eight per node) and 64 bytes of upper sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <shared_mutex>
#include <vector>

#include "model.hpp"
#include "sample.hpp"

namespace sslart {

constexpr Index kBlock = 8;        // nodes in a block, and features in a group
constexpr Index kGroupBytes = 128; // lower and upper sides of one group of one block

// where the scan finds a node's norm within its block: the order in which the sums of the block come out of it
constexpr Index kNormPlace[kBlock] = {0, 2, 4, 6, 1, 3, 5, 7};

// the floor of 255 times each value; the product is exact on the grid
inline void floors_255(const double* values, Index length, std::uint8_t* floors) {
    for (Index i = 0; i < length; ++i) floors[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(values[i] * 255.0));
}

// A sample as the filter sees it: both roundings of each value, in the order of the filter's features.
struct CoarseSample {
    std::vector<std::uint8_t> low, high;  // rounded down, rounded up; 0 and 255 where missing
    std::vector<std::uint8_t> missing;    // 255 where missing
    std::vector<std::uint8_t> rounded;    // scratch
    bool any_missing = false;
};

class Filter {
public:
    // learning excludes every other use; predictions exclude learning only
    std::shared_mutex in_use;

    Index n_nodes() const { return n_nodes_; }
    Index n_groups() const { return n_groups_; }
    Index n_blocks() const { return (n_nodes_ + kBlock - 1) / kBlock; }
    const std::uint8_t* block(Index b) const { return sides_.data() + b * n_groups_ * kGroupBytes; }
    const float* norms(Index b) const { return norms_.data() + b * kBlock; }

    // brings the filter up to the nodes there are; what it holds of earlier nodes must still be true
    void follow(const Boxes& boxes) {
        if (n_nodes_ == 0) arrange(boxes);
        reserve(boxes.n_nodes);
        while (n_nodes_ < boxes.n_nodes) {
            const Index node = n_nodes_++;
            if (node % kBlock == 0) open_block();
            update(boxes, node);
        }
    }

    void update(const Boxes& boxes, Index node) {
        const double* w = boxes.weight(node);
        std::uint8_t* lower = sides_.data() + (node / kBlock) * n_groups_ * kGroupBytes + (node % kBlock) * kBlock;
        std::uint8_t* rounded = rounded_.data();
        floors_255(w, 2 * boxes.n_features, rounded);
        for (Index place = 0; place < boxes.n_features; ++place) {
            std::uint8_t* side = lower + (place / kBlock) * kGroupBytes + place % kBlock;
            side[0] = rounded[order_[place]];
            // upper sides are rounded up: v = 1 − w, and 255 less the floor of 255·w is the ceiling of 255·v
            side[kGroupBytes / 2] = static_cast<std::uint8_t>(255 - rounded[order_[place] + boxes.n_features]);
        }
        norms_[(node / kBlock) * kBlock + kNormPlace[node % kBlock]] = round_up(255.0 * boxes.norms[node]);
    }

    void read(const Sample& sample, CoarseSample& coarse) const {
        const std::size_t width = static_cast<std::size_t>(n_groups_ * kBlock);
        if (coarse.low.size() != width || coarse.any_missing) {
            coarse.low.assign(width, 0);
            coarse.high.assign(width, 255);
            coarse.missing.assign(width, 0);
        }
        coarse.any_missing = !sample.missing().empty();
        const std::size_t D = order_.size();
        coarse.rounded.resize(2 * D);
        floors_255(sample.code(), static_cast<Index>(2 * D), coarse.rounded.data());
        for (std::size_t place = 0; place < D; ++place) {
            coarse.low[place] = coarse.rounded[order_[place]];
            coarse.high[place] = static_cast<std::uint8_t>(255 - coarse.rounded[order_[place] + D]);
        }
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
        n_groups_ = (D + kBlock - 1) / kBlock;
        std::vector<double> spread(D, 0.0);
        const Index n_looked_at = std::min<Index>(boxes.n_nodes, 256);
        for (Index i = 0; i < D; ++i) {
            double sum = 0.0, squares = 0.0;
            for (Index j = 0; j < n_looked_at; ++j) {
                const double u = boxes.weight(j)[i];
                sum += u;
                squares += u * u;
            }
            spread[i] = squares - sum * sum / static_cast<double>(std::max<Index>(n_looked_at, 1));
        }
        order_.resize(D);
        std::iota(order_.begin(), order_.end(), 0u);
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return spread[a] > spread[b]; });
        rounded_.resize(2 * D);
        place_.resize(D);
        for (Index place = 0; place < D; ++place) place_[order_[place]] = place;
    }

    void reserve(Index n_nodes) {
        const std::size_t blocks = static_cast<std::size_t>((n_nodes + kBlock - 1) / kBlock);
        const std::size_t bytes = blocks * static_cast<std::size_t>(n_groups_ * kGroupBytes);
        if (bytes > sides_.capacity()) {
            sides_.reserve(std::max(bytes, sides_.capacity() + sides_.capacity() / 2));
            norms_.reserve(std::max(blocks * kBlock, norms_.capacity() + norms_.capacity() / 2));
        }
    }

    // an empty place has no norm and never passes; features beyond the last cost nothing
    void open_block() {
        const std::size_t start = sides_.size();
        sides_.resize(start + static_cast<std::size_t>(n_groups_ * kGroupBytes), 0);
        for (Index g = 0; g < n_groups_; ++g)
            std::memset(sides_.data() + start + g * kGroupBytes + kGroupBytes / 2, 255, kGroupBytes / 2);
        norms_.resize(norms_.size() + kBlock, -1e30f);
    }

    static float round_up(double value) {
        const float rounded = static_cast<float>(value);
        return rounded < value ? std::nextafter(rounded, std::numeric_limits<float>::infinity()) : rounded;
    }

    Index n_nodes_ = 0;
    Index n_groups_ = 0;
    std::vector<std::uint32_t> order_;   // feature at each place
    std::vector<Index> place_;           // place of each feature
    std::vector<std::uint8_t> rounded_;  // scratch of an update
    std::vector<std::uint8_t> sides_;
    std::vector<float> norms_;
};

}  // namespace sslart
