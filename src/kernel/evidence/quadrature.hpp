// Nodes and weights of quadrature on [0, 1], for products Π (1 + t c_j) with −1 ≤ c_j ≤ 0.
#pragma once

#include <cmath>
#include <vector>

#include "art/model.hpp"

namespace sslart {

struct Quadrature {
    Index size;
    const double* nodes;
    const double* weights;
};

class QuadratureTable {
public:
    static constexpr Index kLargest = 40;

    QuadratureTable() {
        for (Index size = 0; size <= kLargest; ++size) {
            starts_[size] = static_cast<Index>(nodes_.size());
            for (Index i = 0; i < size; ++i) add_node(size, i);
        }
        // many columns: the product falls off near 0, where t = u³ has more nodes
        graded_ = static_cast<Index>(nodes_.size());
        for (Index i = 0; i < kLargest; ++i) {
            const double u = nodes_[starts_[kLargest] + i], weight = weights_[starts_[kLargest] + i];
            nodes_.push_back(u * u * u);
            weights_.push_back(3.0 * u * u * weight);
        }
    }

    Quadrature gauss(Index size) const {
        return {size, nodes_.data() + starts_[size], weights_.data() + starts_[size]};
    }
    Quadrature graded() const { return {kLargest, nodes_.data() + graded_, weights_.data() + graded_}; }

private:
    // root i of the Legendre polynomial of a degree, by Newton's method
    void add_node(Index degree, Index i) {
        const double pi = 3.14159265358979323846, n = static_cast<double>(degree);
        double x = std::cos(pi * (static_cast<double>(i) + 0.75) / (n + 0.5)), slope = 1.0;
        for (int step = 0; step < 100; ++step) {
            double before = 1.0, value = x;
            for (Index k = 2; k <= degree; ++k) {
                const double next = (static_cast<double>(2 * k - 1) * x * value - static_cast<double>(k - 1) * before) /
                                    static_cast<double>(k);
                before = value;
                value = next;
            }
            if (degree == 1) before = 1.0;
            slope = n * (x * value - before) / (x * x - 1.0);
            const double change = value / slope;
            x -= change;
            if (std::fabs(change) < 1e-16) break;
        }
        nodes_.push_back(0.5 * (1.0 - x));
        weights_.push_back(1.0 / ((1.0 - x * x) * slope * slope));
    }

    std::vector<double> nodes_, weights_;
    Index starts_[kLargest + 1] = {};
    Index graded_ = 0;
};

// A rule that integrates products over so many columns: exactly, or with an error below 1e-10 where `sum`, the sum of
// the |c_j|, is small (the product then resembles exp(−sum · t)).
inline Quadrature quadrature(Index n_columns, double sum) {
    static const QuadratureTable table;
    // largest sums for which 2, 4, 6, ... nodes have an error below 1e-10: s^2K (K!)^4 / ((2K+1) ((2K)!)^3)
    static constexpr double kSums[] = {0.025, 0.8, 2.98, 6.2, 10.2, 14.7, 19.5, 24.5, 29.7};
    const Index exact = (n_columns + 1) / 2;
    Index enough = QuadratureTable::kLargest + 1;
    for (Index i = 0; i < 9; ++i)
        if (sum <= kSums[i]) {
            enough = 2 + 2 * i;
            break;
        }
    const Index size = exact < enough ? exact : enough;
    return size <= QuadratureTable::kLargest ? table.gauss(size) : table.graded();
}

}  // namespace sslart
