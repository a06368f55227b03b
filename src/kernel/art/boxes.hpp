// The boxes of one model, as rows that versions share.
#pragma once

#include <algorithm>

#include "art/model.hpp"
#include "art/rows.hpp"

namespace sslart {

struct Boxes {
    // per box: |W|, the number of samples it has learnt, and the class of most labels
    struct Summary {
        double norm;
        double support;  // a fraction where samples count less as they age
        Index label;
    };

    Index n_features, n_classes, n_constant;
    Index n_boxes = 0;
    Rows<double> weights;          // 2·features: W = (u, 1−v), every value a multiple of 2⁻³²
    Rows<double> counts;           // classes: F of the one-to-many mapping
    Rows<std::uint8_t> met;        // constant features: whether the box has met a value of each
    Rows<Summary> summaries{1};
    Owner owner = new_owner();     // of the draft; kNobody once it is published

    Boxes(Index features, Index classes, Index constant)
        : n_features(features),
          n_classes(classes),
          n_constant(constant),
          weights(2 * features),
          counts(classes),
          met(constant) {}

    const double* weight(Index box) const { return weights[box]; }
    double norm(Index box) const { return summaries[box]->norm; }
    Index label(Index box) const { return summaries[box]->label; }

    // a box that no sample has reached: weights of 1
    Index add() {
        std::fill_n(weights.append(owner), 2 * n_features, 1.0);
        std::fill_n(counts.append(owner), n_classes, 0.0);
        std::fill_n(met.append(owner), n_constant, std::uint8_t{0});
        *summaries.append(owner) = {2.0 * static_cast<double>(n_features), 0.0, kNone};
        return n_boxes++;
    }

    // counts one label more
    void associate(Index box, Index target) {
        const double count = ++counts.change(box, owner)[target];
        Summary& own = *summaries.change(box, owner);
        const double leading = own.label == kNone ? 0.0 : counts[box][own.label];
        if (count > leading || (count == leading && target < own.label)) own.label = target;
    }

    // takes down that a sample of the box has a value of a constant feature
    void meet(Index box, Index constant) {
        if (!met[box][constant]) met.change(box, owner)[constant] = 1;
    }

    // the class with most counts, the one seen first on ties
    Index label_by_counts(Index box) const {
        const double* own = counts[box];
        const Index best = std::max_element(own, own + n_classes) - own;
        return n_classes && own[best] != 0.0 ? best : kNone;
    }
};

// The class of each box, kNone where it has none: that of its counts, or a given one.
class Labels {
public:
    explicit Labels(const Boxes& boxes, const Index* given = nullptr) : boxes_(&boxes), given_(given) {}
    Index operator[](Index box) const { return given_ ? given_[box] : boxes_->label(box); }

private:
    const Boxes* boxes_;
    const Index* given_;
};

}  // namespace sslart
