// The terms of an evidence score: each adds to the scores of the classes, sample by sample.
#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "art/model.hpp"
#include "evidence/centres.hpp"
#include "evidence/rbf.hpp"
#include "evidence/shapley.hpp"
#include "runtime/dispatch.hpp"

namespace sslart {

// Working memory of one thread, shared by all terms.
struct TermScratch {
    std::vector<float> view;
    std::vector<float> activations;
    Centres::Scratch centres;
    std::vector<Index> nearest;
    std::vector<double> sums;
    ShapleyScratch shapley;
};

// Samples as a term gets them: samples × features, values blended with their ranks, NaN where missing.
struct BlendedSamples {
    const double* values;
    Index n_samples;
    Index n_features;

    const double* sample(Index i) const { return values + i * n_features; }
};

// Decomposition of scores: samples × columns × classes, and the part of no single column, samples × classes.
struct ContributionSums {
    double* by_column;
    double* of_graph;
    Index n_columns;
    Index n_classes;
    const Index* columns;  // of each feature

    double* at(Index i, Index feature) const { return by_column + (i * n_columns + columns[feature]) * n_classes; }
};

class Term {
public:
    virtual ~Term() = default;
    virtual void add(const BlendedSamples& samples, const Instructions& instructions, double* scores,
                     TermScratch& scratch) const = 0;
    // adds the Shapley value of each column, or, of the graph, the term itself
    virtual void contribute(const BlendedSamples& samples, const Instructions& instructions,
                            const ContributionSums& sums, TermScratch& scratch) const = 0;
    // values read per sample
    virtual Index cost() const = 0;
};

// Σ exp(−rate · distance)^(2^level) · weight over boxes in some features, each scaled by a factor, and over levels
class BoxTerm final : public Term {
public:
    std::vector<Index> features;
    std::vector<double> factors;
    std::vector<float> lower, upper, weights;
    float rate;
    Index n_blocks, n_levels, n_classes;

    void add(const BlendedSamples& samples, const Instructions& instructions, double* scores,
             TermScratch& scratch) const override {
        select(samples, scratch);
        const PackedBoxes boxes{lower.data(), upper.data(), n_blocks, n_features()};
        add_box_scores(instructions.loops, boxes, scratch.view.data(), samples.n_samples, rate,
                       {weights.data(), n_levels, n_classes}, scores, scratch.activations);
    }

    void contribute(const BlendedSamples& samples, const Instructions& instructions, const ContributionSums& sums,
                    TermScratch& scratch) const override {
        select(samples, scratch);
        const ColumnGroups groups = by_column(sums.columns);
        const PackedBoxes boxes{lower.data(), upper.data(), n_blocks, n_features()};
        std::call_once(strengths_made_, [&] { strengths_ = StrengthFactors(boxes, rate); });
        for (Index i = 0; i < samples.n_samples; ++i)
            instructions.add_contributions(boxes, strengths_, groups, scratch.view.data() + i * n_features(), rate,
                                           {weights.data(), n_levels, n_classes},
                                           sums.by_column + i * sums.n_columns * n_classes, scratch.shapley);
    }

    Index cost() const override { return n_blocks * kWidth * (n_features() + n_levels * n_classes); }

private:
    mutable std::once_flag strengths_made_;  // by whichever thread needs them first
    mutable StrengthFactors strengths_;

    Index n_features() const { return static_cast<Index>(features.size()); }

    // the features of the term, scaled
    void select(const BlendedSamples& samples, TermScratch& scratch) const {
        const Index n = n_features();
        scratch.view.resize(static_cast<std::size_t>(samples.n_samples * n));
        for (Index i = 0; i < samples.n_samples; ++i) {
            const double* sample = samples.sample(i);
            for (Index f = 0; f < n; ++f)
                scratch.view[i * n + f] = static_cast<float>(sample[features[f]] * factors[f]);
        }
    }

    ColumnGroups by_column(const Index* columns) const {
        ColumnGroups groups;
        groups.features.resize(features.size());
        for (Index f = 0; f < n_features(); ++f) groups.features[f] = f;
        std::stable_sort(groups.features.begin(), groups.features.end(),
                         [&](Index a, Index b) { return columns[features[a]] < columns[features[b]]; });
        for (Index place = 0; place < n_features(); ++place) {
            const Index column = columns[features[groups.features[place]]];
            if (groups.columns.empty() || groups.columns.back() != column) {
                groups.columns.push_back(column);
                groups.starts.push_back(place);
            }
        }
        groups.starts.push_back(n_features());
        return groups;
    }
};

// The output of the nearest centre.
class GraphTerm final : public Term {
public:
    GraphTerm(Centres all_centres, std::vector<double> all_outputs, Index number_of_classes)
        : centres(std::move(all_centres)), outputs(std::move(all_outputs)), n_classes(number_of_classes) {}

    Centres centres;
    std::vector<double> outputs;  // centres × classes
    Index n_classes;

    void add(const BlendedSamples& samples, const Instructions& instructions, double* scores,
             TermScratch& scratch) const override {
        scratch.nearest.resize(static_cast<std::size_t>(samples.n_samples));
        centres.nearest(instructions.loops, samples.values, samples.n_samples, scratch.nearest.data(), scratch.centres);
        for (Index i = 0; i < samples.n_samples; ++i)
            for (Index c = 0; c < n_classes; ++c)
                scores[i * n_classes + c] += outputs[scratch.nearest[i] * n_classes + c];
    }

    void contribute(const BlendedSamples& samples, const Instructions& instructions, const ContributionSums& sums,
                    TermScratch& scratch) const override {
        add(samples, instructions, sums.of_graph, scratch);
    }

    Index cost() const override { return centres.size(); }
};

// Σ (x − centre) · slope over the features that the sample has
class LinearTerm final : public Term {
public:
    std::vector<double> centre;
    std::vector<double> slopes;  // features × classes
    Index n_classes;

    void add(const BlendedSamples& samples, const Instructions&, double* scores, TermScratch& scratch) const override {
        for (Index i = 0; i < samples.n_samples; ++i) {
            const double* sample = samples.sample(i);
            scratch.sums.assign(static_cast<std::size_t>(n_classes), 0.0);
            for (Index f = 0; f < samples.n_features; ++f) {
                if (std::isnan(sample[f])) continue;
                const double difference = sample[f] - centre[f];
                for (Index c = 0; c < n_classes; ++c) scratch.sums[c] += difference * slopes[f * n_classes + c];
            }
            for (Index c = 0; c < n_classes; ++c) scores[i * n_classes + c] += scratch.sums[c];
        }
    }

    void contribute(const BlendedSamples& samples, const Instructions&, const ContributionSums& sums,
                    TermScratch&) const override {
        for (Index i = 0; i < samples.n_samples; ++i) {
            const double* sample = samples.sample(i);
            for (Index f = 0; f < samples.n_features; ++f) {
                if (std::isnan(sample[f])) continue;
                double* own = sums.at(i, f);
                for (Index c = 0; c < n_classes; ++c) own[c] += (sample[f] - centre[f]) * slopes[f * n_classes + c];
            }
        }
    }

    Index cost() const override { return static_cast<Index>(slopes.size()); }
};

// Σ of a function per feature that is straight between evenly spaced knots on [0, 1], over the features that the sample
// has
class SplineTerm final : public Term {
public:
    std::vector<double> heights;  // features × knots × classes
    Index n_knots, n_classes;

    void add(const BlendedSamples& samples, const Instructions&, double* scores, TermScratch& scratch) const override {
        for (Index i = 0; i < samples.n_samples; ++i) {
            scratch.sums.assign(static_cast<std::size_t>(n_classes), 0.0);
            for (Index f = 0; f < samples.n_features; ++f) add_height(samples.sample(i)[f], f, scratch.sums.data());
            for (Index c = 0; c < n_classes; ++c) scores[i * n_classes + c] += scratch.sums[c];
        }
    }

    void contribute(const BlendedSamples& samples, const Instructions&, const ContributionSums& sums,
                    TermScratch&) const override {
        for (Index i = 0; i < samples.n_samples; ++i)
            for (Index f = 0; f < samples.n_features; ++f) add_height(samples.sample(i)[f], f, sums.at(i, f));
    }

    Index cost() const override { return 2 * static_cast<Index>(heights.size()) / n_knots; }

private:
    void add_height(double value, Index f, double* sums) const {
        if (std::isnan(value)) return;
        const double clipped = value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
        const double position = clipped * static_cast<double>(n_knots - 1);
        const Index whole = static_cast<Index>(position);
        const Index below = whole < n_knots - 2 ? whole : n_knots - 2;
        const double part = position - static_cast<double>(below);
        const double* height = heights.data() + (f * n_knots + below) * n_classes;
        for (Index c = 0; c < n_classes; ++c) sums[c] += (1.0 - part) * height[c] + part * height[n_classes + c];
    }
};

}  // namespace sslart
