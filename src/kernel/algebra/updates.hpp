// Ridge regressions that learn one label after another, each by an update of rank one. Matrices lie row by row.
//
// Every sum adds its products in the order of the textbook's loops, so that one way of cutting labels into calls gives
// the same bits as another. An inverse stays symmetric to the bit: what is not symmetric in it would grow with all that
// is forgotten.
#pragma once

#include <algorithm>
#include <vector>

#include "algebra/loops.hpp"
#include "art/model.hpp"

namespace sslart {

// One regression: the inverse P = (Φ'WΦ + Λ)⁻¹ (n × n), which is read in one place and written in another or the same,
// and the weights W (n × n_classes), which are changed.
struct Regression {
    const double* inverse;
    double* next;
    double* weights;
    Index n, n_classes;
};

class RankOneUpdate {
public:
    explicit RankOneUpdate(const AlgebraLoops& loops) : loops_(loops) {}

    // Updates one regression by a label. `values`: the functions at its sample; `kept`: the share that remains of
    // what was learnt before. Its scores before the label go to `scores`.
    void learn(const Regression& own, const double* values, Index target, double importance, double kept,
               double* scores) {
        const Index n = own.n, n_classes = own.n_classes;
        turned_.resize(static_cast<std::size_t>(n));
        loops_.add_rows(own.inverse, values, n, turned_.data());
        std::fill_n(scores, n_classes, 0.0);
        double spread = 0.0;
        for (Index k = 0; k < n; ++k)
            for (Index c = 0; c < n_classes; ++c) scores[c] += values[k] * own.weights[k * n_classes + c];
        for (Index k = 0; k < n; ++k) spread += turned_[k] * values[k];
        gain_ = 1.0 / (kept / importance + spread);
        for (Index i = 0; i < n; ++i)
            for (Index c = 0; c < n_classes; ++c)
                own.weights[i * n_classes + c] += (turned_[i] * gain_) * ((c == target ? 1.0 : 0.0) - scores[c]);
    }

    // P without the part that the label has explained, where nothing is forgotten.
    void shrink(const Regression& own) const {
        loops_.shrink(own.inverse, own.next, own.n, turned_.data(), gain_);
    }

    // The same where `1 / scale` remains of what was learnt before: function `place` gets back `amount` of its λ, and
    // its weights move towards `first`.
    void shrink_and_forget(const Regression& own, double scale, Index place, double amount, const double* first) {
        const Index n = own.n, n_classes = own.n_classes;
        column_.resize(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i)
            column_[i] = (own.inverse[i * n + place] - (turned_[i] * turned_[place]) * gain_) * scale;
        const double back = amount / (1.0 + amount * column_[place]);
        missing_.resize(static_cast<std::size_t>(n_classes));
        for (Index c = 0; c < n_classes; ++c) missing_[c] = first[c] - own.weights[place * n_classes + c];
        for (Index i = 0; i < n; ++i)
            for (Index c = 0; c < n_classes; ++c) own.weights[i * n_classes + c] += (column_[i] * back) * missing_[c];
        loops_.shrink_and_forget(own.inverse, own.next, n, turned_.data(), gain_, scale, column_.data(), back);
    }

private:
    const AlgebraLoops& loops_;
    std::vector<double> turned_, column_, missing_;
    double gain_ = 0.0;
};

}  // namespace sslart
