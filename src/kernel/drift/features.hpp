// Detection of features with values never seen before: their mean has left the range of all earlier means.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "art/model.hpp"

namespace sslart {

constexpr double kFeatureMargin = 1.0;     // standard deviations that the mean lies beyond the earlier ones
constexpr double kMinMeanValues = 16.0;    // of a mean
constexpr double kMinEarlierValues = 256.0;

// Rows of a history: last sample, samples, values of each column, their sums, their squares, samples of each category.
struct FeatureRows {
    const double* rows;
    Index n_rows, n_columns, n_categories;
    const double* origins;  // of each column
    const Index* columns;   // of each category

    Index width() const { return 2 + 3 * n_columns + n_categories; }
};

// Fills, for each column and then each category, how many standard deviations the mean of the rows from `after` on lies
// beyond the means of the first `n_earlier` rows; -1 where it does not lie clearly beyond. Returns whether any does.
inline bool beyond_earlier(const FeatureRows& history, Index n_earlier, Index after, double* beyond) {
    const Index n = history.n_columns, width = history.width();
    std::vector<double> earlier(static_cast<std::size_t>(width), 0.0), later(earlier);
    for (Index i = 0; i < n_earlier; ++i)
        for (Index j = 0; j < width; ++j) earlier[j] += history.rows[i * width + j];
    for (Index i = after; i < history.n_rows; ++i)
        for (Index j = 0; j < width; ++j) later[j] += history.rows[i * width + j];
    bool any = false;
    for (Index f = 0; f < n + history.n_categories; ++f) {
        const bool is_number = f < n;
        const Index count = 2 + (is_number ? f : history.columns[f - n]);
        const Index total = is_number ? 2 + n + f : 2 + 3 * n + f - n, square = is_number ? 2 + 2 * n + f : total;
        const double origin = is_number ? history.origins[f] : 0.0;
        double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
        for (Index i = 0; i < n_earlier; ++i) {
            const double* const row = history.rows + i * width;
            if (row[count] < kMinMeanValues) continue;
            const double mean = row[total] / row[count] + origin;
            lowest = std::min(lowest, mean);
            highest = std::max(highest, mean);
        }
        beyond[f] = -1.0;
        if (lowest > highest || earlier[count] < kMinEarlierValues || later[count] < kMinMeanValues) continue;
        const double mean = earlier[total] / earlier[count], square_mean = earlier[square] / earlier[count];
        double variance = std::max(0.0, square_mean - mean * mean);
        if (variance < 1e-12 * earlier[square] / earlier[count]) variance = 0.0;  // a rounding
        const double deviation = std::sqrt(variance), now = later[total] / later[count] + origin;
        const double distance = std::max(now - highest, lowest - now);
        if (!(distance > kFeatureMargin * deviation)) continue;
        beyond[f] = distance / std::max(deviation, 1e-300);
        any = true;
    }
    return any;
}

}  // namespace sslart
