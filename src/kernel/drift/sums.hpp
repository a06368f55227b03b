// Sums over blocks of a stream: of measurements of each sample before it is learnt, and of its values.
#pragma once

#include <algorithm>
#include <cmath>

#include "art/model.hpp"

namespace sslart {

constexpr Index kDriftBlock = 32;          // samples that are summed
constexpr Index kDriftClasses = 100;       // whose labels are counted; further ones count as one
constexpr double kDriftGrid = 1048576.0;   // multiples of its inverse add up exactly, in any order
constexpr double kDriftMaxValue = 1e140;   // its square, summed over any stream, is finite
constexpr Index kMissingCategory = -1;

// columns of a row of sums; those of features, categories and classes follow. The first one is not used here.
enum DriftSum : Index { kCount = 1, kRoots, kNovel, kPredicted, kWrong, kWrongSquares, kLabelled, kFirstFeature };

// Samples in succession.
struct StreamPart {
    const double* values;    // samples × columns, NaN where missing
    const Index* places;     // samples × columns, or null: the category of each value, negative where none is counted
    const double* first;     // of each column, from which values are measured; NaN where none is known
    const double* gaps;      // of each sample; NaN where no box could take it
    double room;             // the gap of a sample that is as novel as can be
    const Index* codes;      // classes, or null; kNone where unlabelled
    const Index* predicted;  // classes, or null; kNone where nothing was predicted
    const double* wrong;     // or null: how wrong each prediction was, NaN where nothing was predicted
    Index n_samples, n_columns, n_categories, n_classes;

    Index width() const { return kFirstFeature + 3 * n_columns + n_categories + n_classes; }
};

inline double on_drift_grid(double value) { return std::nearbyint(value * kDriftGrid) / kDriftGrid; }

// Adds the values of a sample; returns whether each that is known can be measured.
inline bool add_values(const double* values, const double* first, Index n_columns, double* counts) {
    double* const sums = counts + n_columns;
    double* const squares = sums + n_columns;
    bool measured = true;
    for (Index j = 0; j < n_columns; ++j) {
        const double value = values[j], known = value == value ? 1.0 : 0.0;
        measured &= value != value || first[j] == first[j];
        double own = std::min(std::max(value - first[j], -kDriftMaxValue), kDriftMaxValue);
        own = value == value ? own : 0.0;
        counts[j] += known;
        sums[j] += own;
        squares[j] += own * own;
    }
    return measured;
}

// Adds samples to rows of sums of which the first `n_filled` samples are there already. Returns false where the rows
// have no column for a class, or a value has nothing to be measured from.
inline bool add_to_sums(const StreamPart& part, Index n_filled, double* rows) {
    const Index width = part.width(), first_category = kFirstFeature + 3 * part.n_columns;
    const Index first_class = first_category + part.n_categories;
    for (Index i = 0; i < part.n_samples; ++i) {
        double* const row = rows + (n_filled + i) / kDriftBlock * width;
        const double share = part.gaps[i] / part.room, novelty = share < 1.0 ? share : 1.0;
        row[kCount] += 1.0;
        row[kRoots] += on_drift_grid(std::sqrt(novelty));
        row[kNovel] += on_drift_grid(novelty);
        if (!add_values(part.values + i * part.n_columns, part.first, part.n_columns, row + kFirstFeature)) return false;
        if (part.places) {
            const Index* const places = part.places + i * part.n_columns;
            for (Index j = 0; j < part.n_columns; ++j) {
                if (places[j] != kMissingCategory) row[kFirstFeature + j] += 1.0;
                if (places[j] >= 0) row[first_category + places[j]] += 1.0;
            }
        }
        const Index code = part.codes ? std::min(part.codes[i], kDriftClasses - 1) : kNone;
        if (code == kNone) continue;
        if (code >= part.n_classes) return false;
        row[kLabelled] += 1.0;
        row[first_class + code] += 1.0;
        double wrong = part.wrong ? part.wrong[i] : std::nan("");
        if (part.predicted && part.predicted[i] != kNone) wrong = part.predicted[i] != part.codes[i] ? 1.0 : 0.0;
        if (wrong != wrong) continue;
        wrong = on_drift_grid(wrong);
        row[kPredicted] += 1.0;
        row[kWrong] += wrong;
        row[kWrongSquares] += on_drift_grid(wrong * wrong);
    }
    return true;
}

}  // namespace sslart
