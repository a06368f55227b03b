// Values of features as ranks: the share of all samples at or below a value, straight between the entries of a table.
#pragma once

#include <cmath>
#include <vector>

#include "art/model.hpp"

namespace sslart {

class RankTables {
public:
    RankTables() = default;

    // feature f has the entries from offsets[f] up to offsets[f + 1], which is left out; none: its values stay as they
    // are
    RankTables(const Index* offsets, Index n_features, const double* values, const double* shares)
        : offsets_(offsets, offsets + n_features + 1),
          values_(values, values + offsets[n_features]),
          shares_(shares, shares + offsets[n_features]),
          slopes_(values_.size(), 0.0) {
        for (Index f = 0; f < n_features; ++f)
            for (Index j = offsets[f]; j + 1 < offsets[f + 1]; ++j)
                slopes_[j] = (shares[j + 1] - shares[j]) / (values[j + 1] - values[j]);
    }

    Index n_features() const { return offsets_.empty() ? 0 : static_cast<Index>(offsets_.size()) - 1; }
    bool has_table(Index feature) const { return feature < n_features() && offsets_[feature] < offsets_[feature + 1]; }

    // as np.interp: beyond the ends the share at that end, NaN for NaN
    double share(Index feature, double value) const {
        if (std::isnan(value)) return value;
        const double* x = values_.data() + offsets_[feature];
        const double* y = shares_.data() + offsets_[feature];
        const Index n = offsets_[feature + 1] - offsets_[feature];
        if (value < x[0]) return y[0];
        Index last = 0;  // the last entry at or below the value, found without branches
        for (Index length = n; length > 1;) {
            const Index half = length / 2;
            last = x[last + half] <= value ? last + half : last;
            length -= half;
        }
        if (last == n - 1 || x[last] == value) return y[last];
        const double slope = slopes_[offsets_[feature] + last];
        const double result = slope * (value - x[last]) + y[last];
        if (!std::isnan(result)) return result;
        const double from_above = slope * (value - x[last + 1]) + y[last + 1];
        return std::isnan(from_above) && y[last] == y[last + 1] ? y[last] : from_above;
    }

private:
    std::vector<Index> offsets_;
    std::vector<double> values_, shares_, slopes_;
};

}  // namespace sslart
