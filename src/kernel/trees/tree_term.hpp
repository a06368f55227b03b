// Decision trees as a term of an evidence score, and the Shapley values of columns.
//
// A leaf is a box: a product over columns of whether the sample lies within its sides. Where a value is missing, both
// children count, each by its share of the samples learnt. So a column that is not known has the product of those
// shares, p_j, in the place of 0 or 1, z_j, and the Shapley value of column j in a leaf of value v is
// v (z_j − p_j) ∫₀¹ Π_{g≠j} (p_g + t (z_g − p_g)) dt: a polynomial that quadrature integrates exactly.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "art/model.hpp"
#include "evidence/quadrature.hpp"
#include "evidence/terms.hpp"
#include "trees/forest.hpp"

namespace sslart {

// The arrays of a forest that a term owns.
struct ForestArrays {
    std::vector<Index> roots, features, left;
    std::vector<double> thresholds, shares, values;

    Forest forest(Index n_classes) const {
        return {roots.data(),  static_cast<Index>(roots.size()), features.data(), thresholds.data(), left.data(),
                shares.data(), values.data(),                    n_classes};
    }
};

class TreeTerm final : public Term {
public:
    TreeTerm(ForestArrays arrays, Index n_classes) : arrays_(std::move(arrays)), forest_(arrays_.forest(n_classes)) {
        nodes_.reserve(arrays_.features.size());
        for (const Index root : arrays_.roots) {
            roots_.push_back(static_cast<std::int32_t>(nodes_.size()));
            nodes_.emplace_back();
            pack(root, nodes_.size() - 1);
        }
    }

    // tree by tree, so that the nodes of a tree stay in the cache
    void add(const BlendedSamples& samples, const Instructions&, double* scores, TermScratch&) const override {
        for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
            Index i = 0;
            for (; i + kAtOnce <= samples.n_samples; i += kAtOnce) add_tree<kAtOnce>(tree, samples, i, scores);
            for (; i < samples.n_samples; ++i) add_tree<1>(tree, samples, i, scores);
        }
    }

    void contribute(const BlendedSamples& samples, const Instructions&, const ContributionSums& sums,
                    TermScratch&) const override {
        for (Index i = 0; i < samples.n_samples; ++i) {
            Path path(sums.n_columns);
            for (const Index root : arrays_.roots) descend(root, samples.sample(i), sums, i, path);
        }
    }

    Index cost() const override { return 16 * forest_.n_trees; }

private:
    // all that a step needs, side by side; the nodes of a tree follow one another
    struct Node {
        double threshold;
        std::int32_t feature, left;
    };

    static constexpr Index kAtOnce = 8;  // samples that go down a tree together: a step of one waits for the last

    template <Index n>
    void add_tree(std::size_t tree, const BlendedSamples& samples, Index first, double* scores) const {
        const Node* nodes[n];
        bool is_missing[n] = {}, goes_on = true;
        for (const Node*& node : nodes) node = nodes_.data() + roots_[tree];
        while (goes_on) {
            goes_on = false;
            for (Index k = 0; k < n; ++k) {
                const Node& node = *nodes[k];
                if (node.feature == kLeaf) continue;
                const double value = samples.sample(first + k)[node.feature];
                is_missing[k] |= std::isnan(value);
                nodes[k] = nodes_.data() + node.left + !(value <= node.threshold);
                goes_on = true;
            }
        }
        for (Index k = 0; k < n; ++k) {
            double* own = scores + (first + k) * forest_.n_classes;
            if (is_missing[k]) {
                forest_.add_leaves(arrays_.roots[tree], samples.sample(first + k), 1.0, own);
                continue;
            }
            const double* values = forest_.values + nodes[k]->left * forest_.n_classes;
            for (Index c = 0; c < forest_.n_classes; ++c) own[c] += values[c];
        }
    }

    void pack(Index from, std::size_t to) {
        const std::int32_t feature = static_cast<std::int32_t>(forest_.features[from]);
        if (feature == kLeaf) {
            nodes_[to] = {0.0, feature, static_cast<std::int32_t>(forest_.left[from])};
            return;
        }
        const std::size_t left = nodes_.size();
        nodes_[to] = {forest_.thresholds[from], feature, static_cast<std::int32_t>(left)};
        nodes_.resize(left + 2);
        pack(forest_.left[from], left);
        pack(forest_.left[from] + 1, left + 1);
    }

    // The columns on the way to a node: the product of shares, and whether the sample lies on the side of the node.
    struct Path {
        explicit Path(Index n_columns)
            : uses(static_cast<std::size_t>(n_columns), 0), share(uses.size(), 1.0), inside(uses.size(), 1.0) {}

        std::vector<Index> columns, uses;
        std::vector<double> share, inside;
        std::vector<double> before, integrals;  // by place in `columns`

        double factor(std::size_t place, double t) const {
            const Index column = columns[place];
            return share[column] + t * (inside[column] - share[column]);
        }
    };

    void descend(Index node, const double* sample, const ContributionSums& sums, Index i, Path& path) const {
        const Index feature = forest_.features[node];
        if (feature == kLeaf) return add_leaf(node, sums, i, path);
        const Index column = sums.columns[feature], left = forest_.left[node];
        const double value = sample[feature], share_left = forest_.shares[node];
        const double share = path.share[column], inside = path.inside[column];
        if (path.uses[column]++ == 0) path.columns.push_back(column);
        for (Index side = 0; side < 2; ++side) {
            const double own = side == 0 ? share_left : 1.0 - share_left;
            const bool goes_here = (value <= forest_.thresholds[node]) == (side == 0);
            path.share[column] = share * own;
            path.inside[column] = inside * (std::isnan(value) ? own : goes_here ? 1.0 : 0.0);
            descend(left + side, sample, sums, i, path);
        }
        path.share[column] = share;
        path.inside[column] = inside;
        if (--path.uses[column] == 0) path.columns.pop_back();
    }

    void add_leaf(Index node, const ContributionSums& sums, Index i, Path& path) const {
        const std::size_t n = path.columns.size();
        const Quadrature rule = quadrature(static_cast<Index>(n), std::numeric_limits<double>::infinity());
        path.before.resize(n);
        path.integrals.assign(n, 0.0);
        for (Index k = 0; k < rule.size; ++k) {
            double product = rule.weights[k];
            for (std::size_t place = 0; place < n; ++place) {
                path.before[place] = product;
                product *= path.factor(place, rule.nodes[k]);
            }
            double after = 1.0;
            for (std::size_t place = n; place-- > 0;) {
                path.integrals[place] += path.before[place] * after;
                after *= path.factor(place, rule.nodes[k]);
            }
        }
        const double* own = forest_.values + forest_.left[node] * forest_.n_classes;
        for (std::size_t place = 0; place < n; ++place) {
            const Index column = path.columns[place];
            const double value = (path.inside[column] - path.share[column]) * path.integrals[place];
            double* to = sums.by_column + (i * sums.n_columns + column) * sums.n_classes;
            for (Index c = 0; c < sums.n_classes; ++c) to[c] += own[c] * value;
        }
    }

    ForestArrays arrays_;
    Forest forest_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> roots_;
};

}  // namespace sslart
