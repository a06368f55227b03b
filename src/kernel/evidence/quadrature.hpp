// Nodes and weights of quadrature on [0, 1], for products Π (1 + t c_j) with −1 ≤ c_j ≤ 0.
#pragma once

#include <cmath>
#include <limits>
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
        add_largest_sums();
    }

    // With K nodes the error for n factors is at most s^2K Π_{i<2K} (1 − i/n) (K!)^4 / ((2K+1) ((2K)!)^3), where s is
    // the sum of the |c_j|: none where 2K > n.
    Quadrature rule(Index n_columns, double sum) const {
        const double* largest = largest_sums_.data() + (n_columns <= kColumns ? n_columns : 0) * (kLargest + 1);
        for (Index size = 1; size <= kLargest; ++size)
            if (sum <= largest[size]) return {size, nodes_.data() + starts_[size], weights_.data() + starts_[size]};
        return {kLargest, nodes_.data() + graded_, weights_.data() + graded_};
    }

private:
    static constexpr Index kColumns = 2 * kLargest;
    static constexpr double kError = 5e-10;

    // by number of columns, 0 for more than kColumns, and by number of nodes: the largest sum for which they are enough
    void add_largest_sums() {
        const double unlimited = std::numeric_limits<double>::infinity();
        for (Index n_columns = 0; n_columns <= kColumns; ++n_columns) {
            largest_sums_.push_back(0.0);
            double log_error = 0.0;  // for a sum of 1
            for (Index size = 1; size <= kLargest; ++size) {
                const double k = static_cast<double>(size), n = static_cast<double>(n_columns - 1);
                log_error += 4.0 * std::log(k) - 3.0 * std::log(2.0 * k * (2.0 * k - 1.0)) +
                             std::log((2.0 * k - 1.0) / (2.0 * k + 1.0));
                if (n_columns > 0 && 2 * size >= n_columns) {
                    largest_sums_.push_back(unlimited);
                    continue;
                }
                if (n_columns > 0) log_error += std::log((1.0 - (2.0 * k - 2.0) / n) * (1.0 - (2.0 * k - 1.0) / n));
                largest_sums_.push_back(std::exp((std::log(kError) - log_error) / (2.0 * k)));
            }
        }
    }

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

    std::vector<double> nodes_, weights_, largest_sums_;
    Index starts_[kLargest + 1] = {};
    Index graded_ = 0;
};

// A rule for products over so many columns whose |c_j| add up to `sum`, with an error below 5e-10.
inline Quadrature quadrature(Index n_columns, double sum) {
    static const QuadratureTable table;
    return table.rule(n_columns, sum);
}

}  // namespace sslart
