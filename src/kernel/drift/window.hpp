// ADWIN: a window over a stream, as long as the means of its parts do not differ (Bifet & Gavaldà, 2007).
#pragma once

#include <cmath>
#include <vector>

#include "drift/buckets.hpp"

namespace sslart {

constexpr double kDriftDelta = 0.002;  // bounds the probability of a false alarm, over all series together
constexpr double kMinPart = 5.0;       // values on each side of a cut
constexpr double kMinValues = 10.0;

// Where a window falls into two parts whose means differ.
struct WindowCut {
    Index place = kNone;  // the last row before it, kNone: there is none
    Index series = 0;
};

// Rows of a window: last sample, number of values, totals and squares of every series.
class Window {
public:
    Window(Buckets& buckets) : buckets_(buckets), n_series_((buckets.width() - 2) / 2) {}

    WindowCut cut() {
        const Index n_rows = buckets_.n_rows(), n_sums = buckets_.width() - 1;
        WindowCut found;
        if (n_rows < 2) return found;
        sums_.assign(static_cast<std::size_t>(n_rows * n_sums), 0.0);
        for (Index i = 0; i < n_rows; ++i)
            for (Index j = 0; j < n_sums; ++j) sums_[i * n_sums + j] = (i ? sum(i - 1)[j] : 0.0) + buckets_.row(i)[1 + j];
        const double* const total = sum(n_rows - 1);
        const double n = total[0];
        if (n <= kMinValues) return found;
        variances_.resize(static_cast<std::size_t>(n_series_));
        Index n_present = 0;
        for (Index s = 0; s < n_series_; ++s) {
            const double mean = total[1 + s] / n;
            variances_[s] = std::max(0.0, total[1 + n_series_ + s] / n - mean * mean);
            n_present += total[1 + s] != 0.0;
        }
        const double certainty =
            std::log(2.0 * std::log(n) * static_cast<double>(std::max<Index>(1, n_present)) / kDriftDelta);
        double most = 1.0;
        for (Index i = 0; i + 1 < n_rows; ++i) {
            const double older = sum(i)[0], newer = n - older;
            const double either = 1.0 / std::max(older - (kMinPart - 1.0), kTiny) + 1.0 / std::max(newer - (kMinPart - 1.0), kTiny);
            const double rest = either * (2.0 / 3.0 * certainty);
            for (Index s = 0; s < n_series_; ++s) {
                const double before = sum(i)[1 + s];
                const double limit = std::sqrt(either * (2.0 * certainty * variances_[s])) + rest;
                const double excess = std::abs(before / older - (total[1 + s] - before) / newer) / limit;
                if (excess > most) {
                    most = excess;
                    found = {i, s};
                }
            }
        }
        return found;
    }

    // the sums over the rows up to one, as of the last cut that was looked for
    const double* sum(Index place) const { return sums_.data() + place * (buckets_.width() - 1); }

private:
    static constexpr double kTiny = 1e-9;  // in place of too few values, so that the limit is far away

    Buckets& buckets_;
    Index n_series_;
    std::vector<double> sums_, variances_;
};

}  // namespace sslart
