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
#include "art/rows.hpp"

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
    explicit BoxBlocks(Index n_groups = 0) : n_groups_(n_groups), sides_(n_groups * kGroupBytes), norms_(kBlock) {}

    Index n_groups() const { return n_groups_; }
    Index n_blocks() const { return norms_.size(); }
    const std::uint8_t* block(Index b) const { return sides_[b]; }
    bool is_empty(Index place) const { return norms(place / kBlock)[kNormPlace[place % kBlock]] == kNoNorm; }
    const float* norms(Index b) const { return norms_[b]; }

    // An empty place has a norm so low that it never passes.
    void add_block(Owner owner) {
        std::uint8_t* side = sides_.append(owner);
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memset(side, 0, kGroupBytes / 2);
            std::memset(side + kGroupBytes / 2, 255, kGroupBytes / 2);
        }
        std::fill_n(norms_.append(owner), kBlock, kNoNorm);
    }

    void put(Index place, const CoarseBox& box, Owner owner) {
        std::uint8_t* side = sides_.change(place / kBlock, owner) + (place % kBlock) * kBlock;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(side, &box.lower[g * kBlock], kBlock);
            std::memcpy(side + kGroupBytes / 2, &box.upper[g * kBlock], kBlock);
        }
        norms_.change(place / kBlock, owner)[kNormPlace[place % kBlock]] = box.norm;
    }

    void get(Index place, CoarseBox& box) const {
        const std::uint8_t* side = block(place / kBlock) + (place % kBlock) * kBlock;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(&box.lower[g * kBlock], side, kBlock);
            std::memcpy(&box.upper[g * kBlock], side + kGroupBytes / 2, kBlock);
        }
        box.norm = norms(place / kBlock)[kNormPlace[place % kBlock]];
    }

    // widens the box at a place so that it contains another box, whose choice and match it never underestimates
    void cover(Index place, const CoarseBox& box, Owner owner) {
        if (is_empty(place)) return put(place, box, owner);
        float& norm = norms_.change(place / kBlock, owner)[kNormPlace[place % kBlock]];
        norm = std::max(norm, box.norm);
        std::uint8_t* side = sides_.change(place / kBlock, owner) + (place % kBlock) * kBlock;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes)
            for (Index i = 0; i < kBlock; ++i) {
                side[i] = std::min(side[i], box.lower[g * kBlock + i]);
                std::uint8_t& upper = side[kGroupBytes / 2 + i];
                upper = std::max(upper, box.upper[g * kBlock + i]);
            }
    }

private:
    static constexpr float kNoNorm = -1e30f;

    Index n_groups_;
    Rows<std::uint8_t> sides_;  // a row per block
    Rows<float> norms_;         // likewise
};

}  // namespace sslart
