// What labels change in a stream: the functions whose weights they change, and how candidates compete.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "art/model.hpp"
#include "evidence/rank_tables.hpp"
#include "evidence/rbf.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/interrupt.hpp"

namespace sslart {

// Scores, boxes, a constant, and a trend in each of the first features, where values are mixed with their ranks.
struct StreamFunctions {
    RankTables ranks;
    double rank_weight;
    std::vector<float> lower, upper;
    Index n_blocks, n_features, n_boxes;
    double width;   // a box is exp(−distance / width)
    double middle;  // where a trend is zero
    Index n_trends;

    Index size(Index n_classes) const { return n_classes + n_boxes + 1 + n_trends; }

    // scores: samples × classes; out: samples × functions
    void values(const double* samples, Index n_samples, const double* scores, Index n_classes, double* out,
                Interrupt& interrupt) const {
        const EvidenceLoops& loops = chosen_instructions().load()->loops;
        const PackedBoxes boxes{lower.data(), upper.data(), n_blocks, n_features};
        std::vector<double> blended(static_cast<std::size_t>(n_features));
        std::vector<float> single(blended.size()), distances(static_cast<std::size_t>(boxes.n_boxes()));
        for (Index i = 0; i < n_samples; ++i, samples += n_features, scores += n_classes) {
            if (!interrupt.may_continue(boxes.n_boxes() * (n_features + 1))) return;
            for (Index f = 0; f < n_features; ++f) {
                const double value = samples[f];
                blended[f] = ranks.has_table(f)
                                 ? (1.0 - rank_weight) * value + rank_weight * ranks.share(f, value)
                                 : value;
                single[f] = static_cast<float>(blended[f]);
            }
            measure(loops, boxes, single.data(), 1, distances.data());
            out = std::copy_n(scores, n_classes, out);
            for (Index box = 0; box < n_boxes; ++box) *out++ = std::exp(-static_cast<double>(distances[box]) / width);
            *out++ = 1.0;
            for (Index f = 0; f < n_trends; ++f) *out++ = std::isnan(blended[f]) ? 0.0 : blended[f] - middle;
        }
    }
};

// Candidates that predict labels, one after another: their errors decide what each counts for the next label.
struct Competition {
    double sharpness, kept;  // of the losses, and the share of them that remains after a label
    Index n_candidates, n_classes;

    // scores: candidates × classes of one label; returns the class that all predict together
    Index learn(const double* scores, Index target, double* losses, double* errors, std::vector<double>& sums) const {
        const double least = *std::min_element(losses, losses + n_candidates);
        sums.assign(static_cast<std::size_t>(n_classes), 0.0);
        for (Index r = 0; r < n_candidates; ++r) {
            const double* own = scores + r * n_classes;
            const double share = std::exp(-sharpness * (losses[r] - least));
            double loss = 0.0;
            for (Index c = 0; c < n_classes; ++c) {
                const double error = own[c] - (c == target ? 1.0 : 0.0);
                sums[c] += share * own[c];
                loss += error * error;
            }
            const double wrong = std::max_element(own, own + n_classes) - own == target ? 0.0 : 1.0;
            losses[r] = kept * losses[r] + (loss + wrong) / 2.0;
            errors[r] = kept * errors[r] + wrong;
        }
        return std::max_element(sums.begin(), sums.end()) - sums.begin();
    }
};

}  // namespace sslart
