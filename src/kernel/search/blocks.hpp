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

// Each block is one row: the norms of its boxes, then their sides.
class BoxBlocks {
public:
    explicit BoxBlocks(Index n_groups = 0) : n_groups_(n_groups), rows_(kSidesAt + n_groups * kGroupBytes, kChunkBytes) {}

    Index n_groups() const { return n_groups_; }
    Index n_blocks() const { return rows_.size(); }
    const std::uint8_t* block(Index b) const { return rows_[b] + kSidesAt; }
    const float* norms(Index b) const { return norms_of(block(b)); }
    bool is_empty(Index place) const { return norms(place / kBlock)[kNormPlace[place % kBlock]] == kNoNorm; }

    // Blocks that are read one after another, by as few looks as possible.
    class Reader {
    public:
        explicit Reader(const BoxBlocks& blocks)
            : rows_(blocks.rows_), width_(blocks.rows_.width()) {}
        // the sides of a block
        const std::uint8_t* operator[](Index b) {
            if (b == next_ && n_left_ > 0) {
                at_ += width_;
            } else {
                at_ = rows_[b] + kSidesAt;
                n_left_ = rows_.n_together(b);
            }
            next_ = b + 1;
            --n_left_;
            return at_;
        }

    private:
        const Rows<std::uint8_t>& rows_;
        const Index width_;
        const std::uint8_t* at_ = nullptr;
        Index next_ = -1, n_left_ = 0;
    };

    // the norms that go with the sides of a block
    static const float* norms_of(const std::uint8_t* sides) { return reinterpret_cast<const float*>(sides - kSidesAt); }

    // An empty place has a norm so low that it never passes.
    void add_block(Owner owner) {
        std::uint8_t* side = rows_.append(owner) + kSidesAt;
        std::fill_n(norms_of(side), kBlock, kNoNorm);
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memset(side, 0, kGroupBytes / 2);
            std::memset(side + kGroupBytes / 2, 255, kGroupBytes / 2);
        }
    }

    void put(Index place, const CoarseBox& box, Owner owner) {
        std::uint8_t* const sides = rows_.change(place / kBlock, owner) + kSidesAt;
        std::uint8_t* side = sides + (place % kBlock) * kBlock;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes) {
            std::memcpy(side, &box.lower[g * kBlock], kBlock);
            std::memcpy(side + kGroupBytes / 2, &box.upper[g * kBlock], kBlock);
        }
        norms_of(sides)[kNormPlace[place % kBlock]] = box.norm;
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
        std::uint8_t* const sides = rows_.change(place / kBlock, owner) + kSidesAt;
        float& norm = norms_of(sides)[kNormPlace[place % kBlock]];
        norm = std::max(norm, box.norm);
        std::uint8_t* side = sides + (place % kBlock) * kBlock;
        for (Index g = 0; g < n_groups_; ++g, side += kGroupBytes)
            for (Index i = 0; i < kBlock; ++i) {
                side[i] = std::min(side[i], box.lower[g * kBlock + i]);
                std::uint8_t& upper = side[kGroupBytes / 2 + i];
                upper = std::max(upper, box.upper[g * kBlock + i]);
            }
    }

private:
    static constexpr float kNoNorm = -1e30f;
    static constexpr Index kSidesAt = kBlock * static_cast<Index>(sizeof(float));
    static constexpr Index kChunkBytes = 8192;  // a scan reads chunk after chunk

    static float* norms_of(std::uint8_t* sides) { return reinterpret_cast<float*>(sides - kSidesAt); }

    Index n_groups_;
    Rows<std::uint8_t> rows_;
};

}  // namespace sslart
