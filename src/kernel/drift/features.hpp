// Drift of features: the mean of a feature after a change differs from the mean before it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "drift/buckets.hpp"
#include "drift/sums.hpp"
#include "drift/window.hpp"

namespace sslart {

constexpr double kMinBefore = 256.0, kMinAfter = 16.0;  // values on each side of a change
constexpr double kMinRangeValues = 128.0;  // of a mean that belongs to the range of earlier means
constexpr double kMinBeyond = 0.25;            // shares of that range that the mean after a change lies beyond it
constexpr double kMinFeatureShift = 0.25;  // standard deviations, so that small changes are not reported
constexpr double kRounding = 1e-12;        // a variance below this share of the mean square is a rounding
constexpr Index kFirstFeatureCheck = 1024, kLongStream = 16384, kRarer = 4;

inline bool features_are_checked(Index end) {
    return end >= kFirstFeatureCheck && end % (kDriftBlock * (end <= kLongStream ? 1 : kRarer)) == 0;
}

// The most significant change of each feature, columns first, then categories; `excess` is 0 where there is none.
struct FeatureCuts {
    Index* changes;  // last samples before the changes
    double* excess;  // differences of the means, divided by the limits
};

// Rows: last sample, samples, values of each column, their sums, their squares, samples of each category. The window
// of a feature consists of the rows that begin at its start or later.
class FeatureWindows {
public:
    FeatureWindows(const Buckets& buckets, Index n_columns, const Index* columns, Index n_categories, Index* starts)
        : buckets_(buckets), starts_(starts), features_(static_cast<std::size_t>(n_columns + n_categories)) {
        for (Index f = 0; f < n_columns; ++f) features_[f] = {2 + f, 2 + n_columns + f, 2 + 2 * n_columns + f};
        for (Index c = 0; c < n_categories; ++c) {
            const Index place = 2 + 3 * n_columns + c;
            features_[n_columns + c] = {2 + columns[c], place, place};
        }
    }

    // Cuts every window whose mean has changed; returns whether any has.
    bool cut(FeatureCuts cuts) {
        sum_windows();
        const Index n_tested = std::count_if(features_.begin(), features_.end(), is_tested);
        for (Feature& feature : features_)
            if (is_tested(feature))
                feature.certainty = std::log(2.0 * std::log(feature.n) * static_cast<double>(n_tested) / kDriftDelta);
        const std::size_t n_features = features_.size();
        std::fill_n(cuts.changes, n_features, kNone);
        std::fill_n(cuts.excess, n_features, 0.0);
        for (Index i = 0; i + 1 < buckets_.n_rows(); ++i)
            for (std::size_t f = 0; f < n_features; ++f) {
                if (!is_tested(features_[f])) continue;
                add(features_[f], buckets_.row(i), begin(i) >= starts_[f]);
                const double excess = excess_after(features_[f]);
                if (!(excess > cuts.excess[f])) continue;
                cuts.excess[f] = excess;
                cuts.changes[f] = static_cast<Index>(buckets_.row(i)[0]);
            }
        bool any = false;
        for (std::size_t f = 0; f < n_features; ++f) {
            if (cuts.changes[f] == kNone) continue;
            starts_[f] = cuts.changes[f];
            any = true;
        }
        return any;
    }

private:
    struct Feature {
        Index count, sum, square;  // places in a row
        double n = 0.0, total = 0.0, squares = 0.0, variance = 0.0, certainty = 0.0;  // of the window
        double between = 0.0, n_rows = 0.0;  // sum of the squared sums of its rows over their counts, and their number
        double n_before = 0.0, total_before = 0.0, squares_before = 0.0;
        double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;  // earlier means, from any row
    };

    static bool is_tested(const Feature& feature) { return feature.variance > 0.0; }

    Index begin(Index i) const { return i ? static_cast<Index>(buckets_.row(i - 1)[0]) : 0; }

    static double variance_of(double n, double sum, double squares) {
        const double mean = sum / n, square = squares / n, variance = square - mean * mean;
        return variance > kRounding * square ? variance : 0.0;
    }

    void sum_windows() {
        for (Index i = 0; i < buckets_.n_rows(); ++i) {
            const double* const row = buckets_.row(i);
            for (std::size_t f = 0; f < features_.size(); ++f) {
                Feature& feature = features_[f];
                if (begin(i) < starts_[f]) continue;
                if (!(row[feature.count] > 0.0)) continue;
                feature.n += row[feature.count];
                feature.total += row[feature.sum];
                feature.squares += row[feature.square];
                feature.between += row[feature.sum] * (row[feature.sum] / row[feature.count]);
                feature.n_rows += 1.0;
            }
        }
        for (Feature& feature : features_)
            if (feature.n >= kMinBefore + kMinAfter)
                feature.variance = variance_of(feature.n, feature.total, feature.squares);
    }

    static void add(Feature& feature, const double* row, bool is_in_window) {
        const double n = row[feature.count], sum = row[feature.sum];
        if (!(n > 0.0)) return;
        const double mean = sum / n;
        if (n >= kMinRangeValues) {
            feature.lowest = std::min(feature.lowest, mean);
            feature.highest = std::max(feature.highest, mean);
        }
        if (!is_in_window) return;
        feature.n_before += n;
        feature.total_before += sum;
        feature.squares_before += row[feature.square];
    }

    // The difference of the means before and after, divided by its limit; 0 where it is within the limit, or small, or
    // the mean after is in the range of earlier means. Where the means of the rows spread more than those of independent
    // samples, as in seasons, so must the means before and after, unless the latter is far out of the range.
    static double excess_after(const Feature& feature) {
        const double n = feature.n_before, n_after = feature.n - n, variance = feature.variance;
        if (n < kMinBefore || n_after < kMinAfter) return 0.0;
        const double mean = feature.total_before / n, total_after = feature.total - feature.total_before;
        const double after = total_after / n_after, difference = std::abs(after - mean);
        if (difference * difference < kMinFeatureShift * kMinFeatureShift * variance) return 0.0;
        const double beyond = std::max(after - feature.highest, feature.lowest - after);
        if (!(beyond > kMinBeyond * (feature.highest - feature.lowest))) return 0.0;
        const double own = variance_of(n, feature.total_before, feature.squares_before);
        const double own_after = variance_of(n_after, total_after, feature.squares - feature.squares_before);
        const double error = 2.0 * feature.certainty *
                             (std::max(own, variance) / n + std::max(own_after, variance) / n_after);
        const double rest = 2.0 / 3.0 * feature.certainty * std::sqrt(variance) * (1.0 / n + 1.0 / n_after);
        const double limit = std::sqrt(error) + rest;
        if (!(difference > limit)) return 0.0;
        if (n_after >= kMinRangeValues && beyond * beyond > own) return difference / limit;
        const double within = (n * own + n_after * own_after) / feature.n, n_free = feature.n_rows - 2.0;
        const double spread = (feature.between - feature.total_before * mean - total_after * after) / (within * n_free);
        const bool is_spread = n_free > 0.0 && within > kRounding * variance && spread > 1.0;
        if (is_spread && !(difference > std::sqrt(error * spread) + rest)) return 0.0;
        return difference / limit;
    }

    const Buckets& buckets_;
    Index* starts_;
    std::vector<Feature> features_;
};

}  // namespace sslart
