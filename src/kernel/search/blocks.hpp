// Boxes in 8 bits per side, in blocks of eight: what a scan reads.
//
// Within a block, each group of eight features holds 64 bytes of lower sides (eight per box) and 64 bytes of upper
// sides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "art/model.hpp"

namespace sslart {

constexpr Index kBlock = 8;         // boxes in a block, and features in a group
constexpr Index kGroupBytes = 128;  // lower and upper sides of one group of one block

// where the norm of each box stands within its block: the order in which a scan computes the sums of the block
constexpr Index kNormPlace[kBlock] = {0, 2, 4, 6, 1, 3, 5, 7};

// One box, rounded outward: sides in the feature order of the cache, and 255·|W| rounded up.
struct CoarseBox {
    std::vector<std::uint8_t> lower, upper;
    float norm = 0.0f;

    explicit CoarseBox(Index width = 0) : lower(width, 0), upper(width, 255) {}

    void set_norm(double norm_of_weights) {
        const double value = 255.0 * norm_of_weights;
        norm = static_cast<float>(value);
        if (norm < value) norm = std::nextafter(norm, std::numeric_limits<float>::infinity());
    }
};

class BoxBlocks {
public:
    explicit BoxBlocks(Index n_groups = 0) : n_groups_(n_groups) {}

    Index n_groups() const { return n_groups_; }
    Index n_blocks() const { return static_cast<Index>(norms_.size()) / kBlock; }
    Index n_bytes() const { return static_cast<Index>(sides_.size()); }
    const std::uint8_t* block(Index b) const { return sides_.data() + b * n_groups_ * kGroupBytes; }
    bool is_empty(Index place) const { return norms_[norm_at(place)] == kNoNorm; }
    const float* norms(Index b) const { return norms_.data() + b * kBlock; }

    // address space for so many boxes; memory is taken only as they fill it
    void reserve(Index n_boxes) {
        const std::size_t blocks = static_cast<std::size_t>((n_boxes + kBlock - 1) / kBlock);
        sides_.reserve(blocks * static_cast<std::size_t>(n_groups_ * kGroupBytes));
        norms_.reserve(blocks * kBlock);
    }

    // An empty place has a norm so low that it never passes.
    void add_block() {
        const std::size_t start = sides_.size();
        sides_.resize(start + static_cast<std::size_t>(n_groups_ * kGroupBytes), 0);
        for (Index g = 0; g < n_groups_; ++g)
            std::memset(sides_.data() + start + g * kGroupBytes + kGroupBytes / 2, 255, kGroupBytes / 2);
        norms_.resize(norms_.size() + kBlock, kNoNorm);
    }

    void put(Index place, const CoarseBox& box) {
        std::uint8_t* side = sides_.data() + sides_at(place);
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(side, &box.lower[g * kBlock], kBlock);
            std::memcpy(side + kGroupBytes / 2, &box.upper[g * kBlock], kBlock);
        }
        norms_[norm_at(place)] = box.norm;
    }

    void get(Index place, CoarseBox& box) const {
        const std::uint8_t* side = sides_.data() + sides_at(place);
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(&box.lower[g * kBlock], side, kBlock);
            std::memcpy(&box.upper[g * kBlock], side + kGroupBytes / 2, kBlock);
        }
        box.norm = norms_[norm_at(place)];
    }

    // widens the box at a place so that it contains another box, whose choice and match it never underestimates
    void cover(Index place, const CoarseBox& box) {
        float& norm = norms_[norm_at(place)];
        if (norm == kNoNorm) return put(place, box);
        norm = std::max(norm, box.norm);
        std::uint8_t* side = sides_.data() + sides_at(place);
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes)
            for (Index i = 0; i < kBlock; ++i) {
                side[i] = std::min(side[i], box.lower[g * kBlock + i]);
                std::uint8_t& upper = side[kGroupBytes / 2 + i];
                upper = std::max(upper, box.upper[g * kBlock + i]);
            }
    }

private:
    static constexpr float kNoNorm = -1e30f;

    Index sides_at(Index place) const { return (place / kBlock) * n_groups_ * kGroupBytes + (place % kBlock) * kBlock; }
    static Index norm_at(Index place) { return (place / kBlock) * kBlock + kNormPlace[place % kBlock]; }

    Index n_groups_;
    std::vector<std::uint8_t> sides_;
    std::vector<float> norms_;
};

}  // namespace sslart
