// Joining boxes that lie close together, in rounds. sslart._art.boxes has the rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "art/encode.hpp"
#include "art/model.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/simd.hpp"

namespace sslart {

struct JoinRequest {
    Index n_boxes, n_features;
    Index max_boxes;   // 0: no limit
    Index cell_size;   // how many boxes are compared with each other
    double vigilance;  // the match that unions need; with a limit, lowered to what they have
    Index* into;       // out: the new number of each box
    double* weights;   // in and out: the boxes, in the end those that are left, in the order of their first part
};

class Joiner {
public:
    // `keys`: boxes of unlike keys are not joined; kNone is like any
    Joiner(JoinRequest& request, const Index* keys, const VectorOps& ops, Interrupt& interrupt)
        : request_(request), ops_(ops), interrupt_(interrupt), n_boxes_(request.n_boxes), width_(2 * request.n_features),
          cell_size_(request.cell_size), keys_(keys, keys + request.n_boxes) {}

    // joins boxes, and returns how many are left; stops early where it is interrupted
    Index join() {
        std::iota(request_.into, request_.into + n_boxes_, Index{0});
        Index n_fruitless = 0;
        const Index limit = request_.max_boxes;
        for (Index round = 0; limit == 0 || n_boxes_ > limit; ++round) {
            const Index n_before = n_boxes_;
            if (!find_pairs(round % kKindsOfRounds + 2)) break;
            join_pairs();
            n_fruitless = n_boxes_ == n_before ? n_fruitless + 1 : 0;
            if (n_fruitless > 0 && n_boxes_ <= cell_size_) break;
            if (n_fruitless == kKindsOfRounds) {
                if (limit == 0) break;
                cell_size_ *= 2;
                n_fruitless = 0;
            }
        }
        return n_boxes_;
    }

private:
    using Pair = std::tuple<double, Index, Index>;  // minus the match of the union, first box, second box
    static constexpr Index kKindsOfRounds = 2;      // a cut leaves a half of the boxes below it, or a third

    const double* weight(Index box) const { return request_.weights + box * width_; }

    // twice the centre of a box
    double centre(Index box, Index feature) const {
        return weight(box)[feature] + (1.0 - weight(box)[feature + request_.n_features]);
    }

    bool are_alike(Index a, Index b) const { return keys_[a] == keys_[b] || keys_[a] == kNone || keys_[b] == kNone; }

    // finds the closest partner of each box; false where it was interrupted
    bool find_pairs(Index parts) {
        pairs_.clear();
        order_.resize(n_boxes_);
        std::iota(order_.begin(), order_.end(), Index{0});
        std::vector<std::pair<Index, Index>> pending{{0, n_boxes_}};
        while (!pending.empty()) {
            const auto [first, last] = pending.back();
            pending.pop_back();
            const Index size = last - first;
            if (size <= cell_size_) {
                std::sort(order_.begin() + first, order_.begin() + last);
                if (!pair_cell(order_.data() + first, size)) return false;
                continue;
            }
            if (!interrupt_.may_continue(size * width_)) return false;
            cut(first, last, first + size / parts);
            pending.emplace_back(first, first + size / parts);
            pending.emplace_back(first + size / parts, last);
        }
        return true;
    }

    // divides the boxes from first to last by their centres in the feature in which these differ most
    void cut(Index first, Index last, Index middle) {
        const Index feature = widest(order_.data() + first, last - first);
        by_centre_.clear();
        for (Index i = first; i < last; ++i) by_centre_.emplace_back(centre(order_[i], feature), order_[i]);
        std::nth_element(by_centre_.begin(), by_centre_.begin() + (middle - first), by_centre_.end());
        for (Index i = first; i < last; ++i) order_[i] = by_centre_[i - first].second;
    }

    // the feature in which centres deviate most from their mean; whole numbers, so that every sum is exact
    Index widest(const Index* boxes, Index n) {
        const Index n_features = request_.n_features;
        means_.assign(n_features, 0);
        spreads_.assign(n_features, 0);
        const auto whole = [this](Index box, Index f) { return static_cast<Index>(centre(box, f) * kGridSteps); };
        for (Index i = 0; i < n; ++i)
            for (Index f = 0; f < n_features; ++f) means_[f] += whole(boxes[i], f);
        for (Index& mean : means_) mean /= n;
        for (Index i = 0; i < n; ++i)
            for (Index f = 0; f < n_features; ++f) spreads_[f] += std::abs(whole(boxes[i], f) - means_[f]);
        return std::max_element(spreads_.begin(), spreads_.end()) - spreads_.begin();
    }

    // adds the pairs of the boxes of one cell, which are in ascending order; false where it was interrupted
    bool pair_cell(const Index* boxes, Index n) {
        const Index stride = (n + kBoxesAtOnce - 1) / kBoxesAtOnce * kBoxesAtOnce;
        columns_.assign(width_ * stride, 0.0);
        for (Index i = 0; i < n; ++i)
            for (Index side = 0; side < width_; ++side) columns_[side * stride + i] = weight(boxes[i])[side];
        matches_.resize(stride);
        best_.assign(n, kNoPair);
        for (Index i = 0; i < n; ++i) {
            if (!interrupt_.may_continue((n - i) * width_)) return false;
            match_unions(weight(boxes[i]), i, n, stride);
            for (Index j = i + 1; j < n; ++j) {
                const double minus = -matches_[j];
                const bool is_better_i = minus < std::get<0>(best_[i]), is_better_j = minus < std::get<0>(best_[j]);
                if ((is_better_i || is_better_j) && are_alike(boxes[i], boxes[j])) {
                    if (is_better_i) best_[i] = {minus, boxes[i], boxes[j]};
                    if (is_better_j) best_[j] = {minus, boxes[i], boxes[j]};
                }
            }
        }
        for (const Pair& pair : best_)
            if (std::get<1>(pair) != kNone) pairs_.push_back(pair);
        return true;
    }

    // the match of the union of a box with each of the boxes after it in its cell: 1 less the mean of its sides
    void match_unions(const double* w, Index at, Index n, Index stride) {
        const Index n_features = request_.n_features;
        const Index start = (at + 1) / kBoxesAtOnce * kBoxesAtOnce;
        for (Index j = start; j < n; j += kBoxesAtOnce)
            ops_.overlaps(w, columns_.data() + j, stride, width_, matches_.data() + j);
        unreached_.clear();
        for (Index f = 0; f < n_features; ++f)
            if (w[f] + w[f + n_features] > 1.0) unreached_.push_back(f);
        const double n_all = static_cast<double>(n_features);
        if (unreached_.empty()) {
            for (Index j = start; j < stride; ++j) matches_[j] /= n_all;
            return;
        }
        for (Index j = at + 1; j < n; ++j) {
            Index n_not = 0;  // a side that neither has reached adds 2 to the overlap
            for (Index f : unreached_)
                n_not += columns_[f * stride + j] + columns_[(f + n_features) * stride + j] > 1.0;
            const double n_sides = n_all - static_cast<double>(n_not);
            matches_[j] = n_sides == 0.0 ? 1.0 : (matches_[j] - 2.0 * static_cast<double>(n_not)) / n_sides;
        }
    }

    void join_pairs() {
        std::sort(pairs_.begin(), pairs_.end());
        pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
        target_.resize(n_boxes_);
        std::iota(target_.begin(), target_.end(), Index{0});
        is_joined_.assign(n_boxes_, false);
        Index n_wanted = request_.max_boxes > 0 ? n_boxes_ - request_.max_boxes : n_boxes_;
        double lowest = request_.vigilance;
        if (request_.max_boxes > 0 && !pairs_.empty())  // the better half in any case
            lowest = std::min(lowest, -std::get<0>(pairs_[pairs_.size() / 2]));
        for (const auto& [minus_match, first, second] : pairs_) {
            if (n_wanted == 0 || -minus_match < lowest) break;
            if (is_joined_[first] || is_joined_[second]) continue;
            ops_.shrink(weight(second), request_.weights + first * width_, width_);
            keys_[first] = std::max(keys_[first], keys_[second]);
            target_[second] = first;
            is_joined_[first] = is_joined_[second] = true;
            request_.vigilance = std::min(request_.vigilance, -minus_match);
            --n_wanted;
        }
        close_ranks();
    }

    // removes the boxes that have become part of others
    void close_ranks() {
        Index n_kept = 0;
        for (Index box = 0; box < n_boxes_; ++box) {
            if (target_[box] != box) {
                target_[box] = target_[target_[box]];  // of an earlier box: its new number
                continue;
            }
            if (n_kept != box) {
                std::memcpy(request_.weights + n_kept * width_, weight(box), width_ * sizeof(double));
                keys_[n_kept] = keys_[box];
            }
            target_[box] = n_kept++;
        }
        for (Index i = 0; i < request_.n_boxes; ++i) request_.into[i] = target_[request_.into[i]];
        n_boxes_ = n_kept;
    }

    static constexpr Pair kNoPair{std::numeric_limits<double>::infinity(), kNone, kNone};

    JoinRequest& request_;
    const VectorOps& ops_;
    Interrupt& interrupt_;
    Index n_boxes_, width_, cell_size_;
    std::vector<Index> keys_, order_, target_, means_, spreads_, unreached_;
    std::vector<bool> is_joined_;
    std::vector<double> columns_, matches_;
    std::vector<std::pair<double, Index>> by_centre_;
    std::vector<Pair> pairs_, best_;
};

}  // namespace sslart
