// The terms of an evidence score: each adds to the scores of the classes, sample by sample.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "art/model.hpp"
#include "evidence/centres.hpp"
#include "evidence/rbf.hpp"
#include "runtime/dispatch.hpp"

namespace sslart {

// Working memory of one thread, shared by all terms.
struct TermScratch {
    std::vector<float> view;
    std::vector<float> activations;
    Centres::Scratch centres;
    std::vector<Index> nearest;
    std::vector<double> sums;
};

// Samples as a term gets them: samples × features, values blended with their ranks, NaN where missing.
struct BlendedSamples {
    const double* values;
    Index n_samples;
    Index n_features;

    const double* sample(Index i) const { return values + i * n_features; }
};

class Term {
public:
    virtual ~Term() = default;
    virtual void add(const BlendedSamples& samples, const Instructions& instructions, double* scores,
                     TermScratch& scratch) const = 0;
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
        const Index n = static_cast<Index>(features.size());
        scratch.view.resize(static_cast<std::size_t>(samples.n_samples * n));
        for (Index i = 0; i < samples.n_samples; ++i) {
            const double* sample = samples.sample(i);
            for (Index f = 0; f < n; ++f)
                scratch.view[i * n + f] = static_cast<float>(sample[features[f]] * factors[f]);
        }
        const PackedBoxes boxes{lower.data(), upper.data(), n_blocks, n};
        add_box_scores(instructions.loops, boxes, scratch.view.data(), samples.n_samples, rate,
                       {weights.data(), n_levels, n_classes}, scores, scratch.activations);
    }

    Index cost() const override {
        return n_blocks * kWidth * (static_cast<Index>(features.size()) + n_levels * n_classes);
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
            const double* sample = samples.sample(i);
            scratch.sums.assign(static_cast<std::size_t>(n_classes), 0.0);
            for (Index f = 0; f < samples.n_features; ++f) {
                if (std::isnan(sample[f])) continue;
                const double clipped = sample[f] < 0.0 ? 0.0 : sample[f] > 1.0 ? 1.0 : sample[f];
                const double position = clipped * static_cast<double>(n_knots - 1);
                const Index whole = static_cast<Index>(position);
                const Index below = whole < n_knots - 2 ? whole : n_knots - 2;
                const double part = position - static_cast<double>(below);
                const double* height = heights.data() + (f * n_knots + below) * n_classes;
                for (Index c = 0; c < n_classes; ++c)
                    scratch.sums[c] += (1.0 - part) * height[c] + part * height[n_classes + c];
            }
            for (Index c = 0; c < n_classes; ++c) scores[i * n_classes + c] += scratch.sums[c];
        }
    }

    Index cost() const override { return 2 * static_cast<Index>(heights.size()) / n_knots; }
};

}  // namespace sslart
