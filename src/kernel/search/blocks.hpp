// Boxes in 8 bits per side, in blocks of sixteen: the memory layout of a scan.
//
// Within a block, each group of eight features holds 128 bytes of lower sides (eight per box) and 128 bytes of upper
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

constexpr Index kBlock = 16;                           // boxes in a block
constexpr Index kGroup = 8;                            // features in a group
constexpr Index kSideBytes = kBlock * kGroup;          // lower sides of one group of one block, then upper ones
constexpr Index kGroupBytes = 2 * kSideBytes;

// Where the norm of a box stands within its block, and back: a scan computes the sums of the two halves of a block in
// turn.
constexpr Index norm_place(Index box) { return box % (kBlock / 2) * 2 + box / (kBlock / 2); }
constexpr Index box_at(Index norm_place) { return norm_place % 2 * (kBlock / 2) + norm_place / 2; }

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

// Each block is one row: the norms of its boxes, then their sides.
class BoxBlocks {
public:
    explicit BoxBlocks(Index n_groups = 0) : n_groups_(n_groups), rows_(kSidesAt + n_groups * kGroupBytes, kChunkBytes) {}

    Index n_groups() const { return n_groups_; }
    Index n_blocks() const { return rows_.size(); }
    const std::uint8_t* block(Index b) const { return rows_[b] + kSidesAt; }
    const float* norms(Index b) const { return norms_of(block(b)); }
    bool is_empty(Index place) const { return norms(place / kBlock)[norm_place(place % kBlock)] == kNoNorm; }

    // distance in bytes between consecutive blocks, and number of blocks at that distance from a block on
    Index stride() const { return rows_.width(); }
    Index n_together(Index b) const { return rows_.n_together(b); }

    // the norms that go with the sides of a block
    static const float* norms_of(const std::uint8_t* sides) { return reinterpret_cast<const float*>(sides - kSidesAt); }

    // An empty place has a norm so low that it never passes.
    void add_block(Owner owner) {
        std::uint8_t* side = rows_.append(owner) + kSidesAt;
        std::fill_n(norms_of(side), kBlock, kNoNorm);
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memset(side, 0, kSideBytes);
            std::memset(side + kSideBytes, 255, kSideBytes);
        }
    }

    void put(Index place, const CoarseBox& box, Owner owner) {
        std::uint8_t* const sides = rows_.change(place / kBlock, owner) + kSidesAt;
        std::uint8_t* side = sides + (place % kBlock) * kGroup;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(side, &box.lower[g * kGroup], kGroup);
            std::memcpy(side + kSideBytes, &box.upper[g * kGroup], kGroup);
        }
        norms_of(sides)[norm_place(place % kBlock)] = box.norm;
    }

    void get(Index place, CoarseBox& box) const {
        const std::uint8_t* side = block(place / kBlock) + (place % kBlock) * kGroup;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(&box.lower[g * kGroup], side, kGroup);
            std::memcpy(&box.upper[g * kGroup], side + kSideBytes, kGroup);
        }
        box.norm = norms(place / kBlock)[norm_place(place % kBlock)];
    }

    // widens the box at a place so that it contains another box, whose choice and match it never underestimates
    void cover(Index place, const CoarseBox& box, Owner owner) {
        if (is_empty(place)) return put(place, box, owner);
        std::uint8_t* const sides = rows_.change(place / kBlock, owner) + kSidesAt;
        float& norm = norms_of(sides)[norm_place(place % kBlock)];
        norm = std::max(norm, box.norm);
        std::uint8_t* side = sides + (place % kBlock) * kGroup;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes)
            for (Index i = 0; i < kGroup; ++i) {
                side[i] = std::min(side[i], box.lower[g * kGroup + i]);
                std::uint8_t& upper = side[kSideBytes + i];
                upper = std::max(upper, box.upper[g * kGroup + i]);
            }
    }

private:
    static constexpr float kNoNorm = -1e30f;
    static constexpr Index kSidesAt = kBlock * static_cast<Index>(sizeof(float));  // as long as a cache line
    static constexpr Index kChunkBytes = 16384;  // a scan reads chunk after chunk

    static float* norms_of(std::uint8_t* sides) { return reinterpret_cast<float*>(sides - kSidesAt); }

    Index n_groups_;
    Rows<std::uint8_t> rows_;
};

}  // namespace sslart
