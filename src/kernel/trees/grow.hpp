// Grows one randomised decision tree: each node is split at a random threshold of the best of some random columns, of
// which several features may stand for one.
//
// All sums run over the samples in their order, so that the tree has the same bits everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "art/model.hpp"
#include "runtime/interrupt.hpp"
#include "trees/forest.hpp"
#include "trees/random.hpp"

namespace sslart {

// Training data of a tree: values feature by feature, NaN where missing.
struct TreeData {
    const double* columns;  // features × samples
    const Index* classes;
    const double* weights;  // 0: the sample takes no part
    Index n_samples, n_features, n_classes;
    const Index* starts;    // of each column in `features`, and their end
    const Index* features;  // by column
    Index n_columns;
};

struct TreeSettings {
    std::uint64_t seed;
    Index n_tried;      // columns per node, constant ones not counted
    double min_weight;  // of a leaf
};

// Output arrays of the nodes, laid out as in a Forest.
struct TreeArrays {
    Index* features;
    double* thresholds;
    Index* left;
    double* shares;  // of the weight of the samples with a value that goes left
    double* values;  // leaves × classes: shares of the classes
};

class TreeGrower {
public:
    TreeGrower(const TreeData& data, const TreeSettings& settings, const TreeArrays& out)
        : data_(data), settings_(settings), out_(out), random_(settings.seed) {
        const auto n_classes = static_cast<std::size_t>(data.n_classes);
        totals_.resize(n_classes);
        known_.resize(n_classes);
        left_.resize(n_classes);
        columns_.resize(static_cast<std::size_t>(data.n_columns));
        for (Index i = 0; i < data.n_samples; ++i)
            if (data.weights[i] > 0.0) rows_.push_back(i);
        spare_.resize(rows_.size());
        for (Index c = 0; c < data.n_columns; ++c) columns_[static_cast<std::size_t>(c)] = c;
    }

    // grows the tree and returns the number of nodes; the tree is incomplete if interrupted
    Index grow(Interrupt& interrupt) {
        std::vector<Part> parts{{0, 0, static_cast<Index>(rows_.size())}};
        n_nodes_ = 1;
        while (!parts.empty()) {
            const Part part = parts.back();
            parts.pop_back();
            if (!interrupt.may_continue((part.end - part.start) * settings_.n_tried)) return n_nodes_;
            const double total = count_classes(part);
            const Split split = is_pure() || total < 2.0 * settings_.min_weight ? Split{} : best_split(part);
            if (split.feature == kLeaf) {
                make_leaf(part.node, total);
                continue;
            }
            const Index middle = divide(part, split);
            out_.features[part.node] = split.feature;
            out_.thresholds[part.node] = split.threshold;
            out_.left[part.node] = n_nodes_;
            out_.shares[part.node] = split.share;
            parts.push_back({n_nodes_ + 1, middle, part.end});
            parts.push_back({n_nodes_, part.start, middle});
            n_nodes_ += 2;
        }
        return n_nodes_;
    }

private:
    struct Part {
        Index node, start, end;
    };

    struct Split {
        Index feature = kLeaf;
        double threshold = 0.0, share = 0.0;
    };

    double count_classes(const Part& part) {
        std::fill(totals_.begin(), totals_.end(), 0.0);
        for (Index place = part.start; place < part.end; ++place) {
            const Index row = rows_[place];
            totals_[data_.classes[row]] += data_.weights[row];
        }
        return sum(totals_);
    }

    bool is_pure() const {
        return std::count_if(totals_.begin(), totals_.end(), [](double weight) { return weight > 0.0; }) < 2;
    }

    struct Range {
        double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    };

    Range range_of(const Part& part, Index feature) const {
        const double* column = data_.columns + feature * data_.n_samples;
        Range range;
        for (Index place = part.start; place < part.end; ++place) {
            const double value = column[rows_[place]];
            if (value < range.lowest) range.lowest = value;
            if (value > range.highest) range.highest = value;
        }
        return range;
    }

    // one feature of a column that is not constant in the node, at random; kLeaf if there is none
    Index feature_of(const Part& part, Index column, Range& range) {
        const Index start = data_.starts[column], size = data_.starts[column + 1] - start;
        const Index first = size > 1 ? random_.below(size) : 0;
        for (Index place = 0; place < size; ++place) {
            const Index feature = data_.features[start + (first + place) % size];
            range = range_of(part, feature);
            if (range.lowest < range.highest) return feature;
        }
        return kLeaf;
    }

    // columns are drawn without replacement until enough of them are not constant in the node
    Split best_split(const Part& part) {
        Split best;
        double best_gain = -std::numeric_limits<double>::infinity();
        Index n_tried = 0;
        for (Index drawn = 0; drawn < data_.n_columns && n_tried < settings_.n_tried; ++drawn) {
            std::swap(columns_[drawn], columns_[drawn + random_.below(data_.n_columns - drawn)]);
            Range range;
            const Index feature = feature_of(part, columns_[drawn], range);
            if (feature == kLeaf) continue;
            ++n_tried;
            const double* column = data_.columns + feature * data_.n_samples;
            const double lowest = range.lowest, highest = range.highest;
            double threshold = lowest + random_.uniform() * (highest - lowest);
            if (threshold >= highest) threshold = lowest;
            std::fill(known_.begin(), known_.end(), 0.0);
            std::fill(left_.begin(), left_.end(), 0.0);
            for (Index place = part.start; place < part.end; ++place) {
                const Index row = rows_[place];
                const double value = column[row];
                if (std::isnan(value)) continue;
                known_[data_.classes[row]] += data_.weights[row];
                if (value <= threshold) left_[data_.classes[row]] += data_.weights[row];
            }
            const double known = sum(known_), left = sum(left_), right = known - left;
            if (left < settings_.min_weight || right < settings_.min_weight) continue;
            double of_left = 0.0, of_right = 0.0, of_both = 0.0;
            for (Index c = 0; c < data_.n_classes; ++c) {
                const double on_right = known_[c] - left_[c];
                of_left += left_[c] * left_[c];
                of_right += on_right * on_right;
                of_both += known_[c] * known_[c];
            }
            const double gain = of_left / left + of_right / right - of_both / known;
            if (gain > best_gain) {
                best_gain = gain;
                best = {feature, threshold, left / known};
            }
        }
        return best;
    }

    // The samples of the left child first, both in their order; those without a value go with most others.
    Index divide(const Part& part, const Split& split) {
        const double* column = data_.columns + split.feature * data_.n_samples;
        const bool missing_left = split.share >= 0.5;
        Index n_left = part.start, n_right = 0;
        for (Index place = part.start; place < part.end; ++place) {
            const Index row = rows_[place];
            const double value = column[row];
            if (std::isnan(value) ? missing_left : value <= split.threshold)
                rows_[n_left++] = row;
            else
                spare_[n_right++] = row;
        }
        std::copy(spare_.begin(), spare_.begin() + n_right, rows_.begin() + n_left);
        return n_left;
    }

    void make_leaf(Index node, double total) {
        out_.features[node] = kLeaf;
        out_.thresholds[node] = 0.0;
        out_.left[node] = n_leaves_;
        out_.shares[node] = 0.0;
        for (Index c = 0; c < data_.n_classes; ++c) out_.values[n_leaves_ * data_.n_classes + c] = totals_[c] / total;
        ++n_leaves_;
    }

    static double sum(const std::vector<double>& values) {
        double total = 0.0;
        for (const double value : values) total += value;
        return total;
    }

    const TreeData& data_;
    const TreeSettings& settings_;
    const TreeArrays& out_;
    SplitMix random_;
    std::vector<Index> rows_, spare_, columns_;
    std::vector<double> totals_, known_, left_;
    Index n_nodes_ = 0, n_leaves_ = 0;
};

}  // namespace sslart
