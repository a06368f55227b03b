// Python bindings of evidence: distances to boxes, nearest centres, and the scorer.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <vector>

#include "bindings.hpp"
#include "evidence/centres.hpp"
#include "evidence/functions.hpp"
#include "evidence/rbf.hpp"
#include "evidence/scorer.hpp"
#include "runtime/dispatch.hpp"
#include "trees/tree_term.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sslart {

namespace {

template <class ConstArray>
auto copy_of(const ConstArray& array) {
    return std::vector<std::remove_const_t<typename ConstArray::Scalar>>(array.data(), array.data() + array.size());
}

PackedBoxes packed_boxes(const Array<const float, 3>& lower, const Array<const float, 3>& upper,
                         std::size_t n_features) {
    require(lower.shape(0) == upper.shape(0) && lower.shape(1) == n_features && upper.shape(1) == n_features &&
                lower.shape(2) == kWidth && upper.shape(2) == kWidth,
            "lower and upper must have the shape (n_blocks, n_features, 16)");
    return {lower.data(), upper.data(), static_cast<Index>(lower.shape(0)), static_cast<Index>(n_features)};
}

void measure_batch(Array<const float, 2> samples, Array<const float, 3> lower, Array<const float, 3> upper,
                   Array<float, 2> distances, StopFlag stop) {
    const PackedBoxes boxes = packed_boxes(lower, upper, samples.shape(1));
    require(distances.shape(0) == samples.shape(0) && distances.shape(1) == lower.shape(0) * kWidth,
            "distances must have the shape (n_samples, n_blocks * 16)");
    const EvidenceLoops& loops = chosen_instructions().load()->loops;
    const Index n_samples = static_cast<Index>(samples.shape(0));
    const Index n_features = boxes.n_features, n_boxes = boxes.n_boxes();
    run_interruptible(stop, [&](Interrupt& interrupt) {
        for (Index first = 0; first < n_samples; first += 2) {
            const Index n = std::min<Index>(2, n_samples - first);
            if (!interrupt.may_continue(n * n_boxes * n_features)) return;
            measure(loops, boxes, samples.data() + first * n_features, n, distances.data() + first * n_boxes);
        }
    });
}

void nearest_centres(Array<const double, 2> samples, Array<const double, 2> centres, Array<const double, 1> missing,
                     Array<Index, 1> nearest, StopFlag stop) {
    const Index n_samples = static_cast<Index>(samples.shape(0));
    const Index n_features = static_cast<Index>(samples.shape(1));
    require(centres.shape(0) > 0 && centres.shape(1) == samples.shape(1) && missing.shape(0) == samples.shape(1),
            "centres must have the shape (n_centres, n_features), missing the length n_features");
    require(nearest.shape(0) == samples.shape(0), "nearest must have the length n_samples");
    const EvidenceLoops& loops = chosen_instructions().load()->loops;
    run_interruptible(stop, [&](Interrupt& interrupt) {
        constexpr Index kTile = 32;
        const Centres packed(centres.data(), static_cast<Index>(centres.shape(0)), missing.data(), n_features);
        Centres::Scratch scratch;
        for (Index first = 0; first < n_samples; first += kTile) {
            const Index n = std::min(kTile, n_samples - first);
            if (!interrupt.may_continue(n * packed.size())) return;
            packed.nearest(loops, samples.data() + first * n_features, n, nearest.data() + first, scratch);
        }
    });
}

RankTables rank_tables(const Array<const Index, 1>& offsets, const Array<const double, 1>& values,
                       const Array<const double, 1>& shares) {
    require(offsets.shape(0) > 0, "offsets must have the length n_features + 1");
    const Index n_features = static_cast<Index>(offsets.shape(0)) - 1;
    const Index* at = offsets.data();
    require(at[0] == 0 && at[n_features] == static_cast<Index>(values.shape(0)) && values.shape(0) == shares.shape(0),
            "offsets must start at 0 and end at the length of values and shares");
    for (Index f = 0; f < n_features; ++f) require(at[f] <= at[f + 1], "offsets must not decrease");
    for (Index f = 0; f < n_features; ++f)
        for (Index j = at[f]; j + 1 < at[f + 1]; ++j)
            require(values.data()[j] < values.data()[j + 1], "values must increase within each feature");
    return RankTables(at, n_features, values.data(), shares.data());
}

// The functions of a stream with arguments that are checked.
class CheckedFunctions {
public:
    CheckedFunctions(Array<const Index, 1> offsets, Array<const double, 1> values, Array<const double, 1> shares,
                     double rank_weight, Array<const float, 3> lower, Array<const float, 3> upper, Index n_boxes,
                     double width, double middle, Index n_trends) {
        const PackedBoxes boxes = packed_boxes(lower, upper, lower.shape(1));
        RankTables ranks = rank_tables(offsets, values, shares);
        require(ranks.n_features() == boxes.n_features && n_boxes >= 0 && n_boxes <= boxes.n_boxes() &&
                    n_trends >= 0 && n_trends <= boxes.n_features && width > 0.0,
                "rank tables and boxes whose shapes do not fit");
        functions_ = {std::move(ranks), rank_weight, copy_of(lower), copy_of(upper), boxes.n_blocks,
                      boxes.n_features, n_boxes,     width,          middle,         n_trends};
    }

    void values(Array<const double, 2> coded, Array<const double, 2> scores, Array<double, 2> out,
                StopFlag stop) const {
        const Index n_samples = static_cast<Index>(coded.shape(0)), n_classes = static_cast<Index>(scores.shape(1));
        require(static_cast<Index>(coded.shape(1)) == functions_.n_features && scores.shape(0) == coded.shape(0) &&
                    out.shape(0) == coded.shape(0) && static_cast<Index>(out.shape(1)) == functions_.size(n_classes),
                "samples, scores and out whose shapes do not fit");
        run_interruptible(stop, [&](Interrupt& interrupt) {
            functions_.values(coded.data(), n_samples, scores.data(), n_classes, out.data(), interrupt);
        });
    }

    void weigh(Array<const double, 2> coded, Array<double, 2> scores, Array<const double, 2> weights,
               StopFlag stop) const {
        const Index n_samples = static_cast<Index>(coded.shape(0)), n_classes = static_cast<Index>(scores.shape(1));
        require(static_cast<Index>(coded.shape(1)) == functions_.n_features && scores.shape(0) == coded.shape(0) &&
                    static_cast<Index>(weights.shape(0)) == functions_.size(n_classes) &&
                    static_cast<Index>(weights.shape(1)) == n_classes,
                "samples, scores and weights whose shapes do not fit");
        run_interruptible(stop, [&](Interrupt& interrupt) {
            functions_.weigh(coded.data(), n_samples, scores.data(), weights.data(), n_classes, interrupt);
        });
    }

private:
    StreamFunctions functions_;
};

template <class Weights>
void require_part(const Weights& weights, const Array<const Index, 1>& columns, std::size_t n_half_lives,
                  std::size_t n_functions, std::size_t n_classes) {
    require(weights.shape(0) == n_half_lives && weights.shape(1) == columns.shape(0) && weights.shape(2) == n_classes,
            "weights must have the shape (n_half_lives, n, n_classes)");
    for (std::size_t k = 0; k < columns.shape(0); ++k)
        require(columns.data()[k] >= 0 && columns.data()[k] < static_cast<Index>(n_functions),
                "columns must be from 0 to n_functions - 1");
}

// Labels, one after another, in the regressions of both parts. The first one reads the inverses given.
void learn_labels(Array<const double, 3> inverses, Array<double, 3> next, Array<double, 3> weights,
                  Array<const Index, 1> columns, Array<const double, 3> other_inverses, Array<double, 3> other_next,
                  Array<double, 3> other_weights, Array<const Index, 1> other_columns, Array<const double, 2> values,
                  Array<const Index, 1> targets, Array<const double, 1> importances, Array<const Index, 1> times,
                  Index time, Index turns, Array<const double, 1> half_lives, double max_forgotten,
                  Array<const double, 1> ridges, Array<const double, 2> first, double sharpness, double kept,
                  Array<double, 1> losses, Array<double, 1> errors, Array<Index, 1> predicted, StopFlag stop) {
    const std::size_t n_labels = values.shape(0), n_functions = values.shape(1), n_classes = first.shape(1);
    const std::size_t n_half_lives = half_lives.shape(0);
    const auto part_of = [&](const Array<const double, 3>& from, Array<double, 3>& to, Array<double, 3>& own,
                             const Array<const Index, 1>& some) {
        const std::size_t n = some.shape(0);
        require_part(own, some, n_half_lives, n_functions, n_classes);
        for (std::size_t axis = 0; axis < 3; ++axis)
            require(from.shape(axis) == (axis ? n : n_half_lives) && to.shape(axis) == from.shape(axis),
                    "inverses must have the shape (n_half_lives, n, n)");
        if (n_labels == 0) std::copy_n(from.data(), from.size(), to.data());
        return Regressions{from.data(), to.data(), own.data(), some.data(), static_cast<Index>(n)};
    };
    const std::vector<Regressions> parts{part_of(inverses, next, weights, columns),
                                         part_of(other_inverses, other_next, other_weights, other_columns)};
    const std::size_t n_candidates = parts.size() * n_half_lives;
    require(targets.shape(0) == n_labels && importances.shape(0) == n_labels && times.shape(0) == n_labels &&
                predicted.shape(0) == n_labels && ridges.shape(0) == n_functions && first.shape(0) == n_functions &&
                losses.shape(0) == n_candidates && errors.shape(0) == n_candidates && n_candidates > 0 &&
                n_classes > 0 && columns.shape(0) > 0 && other_columns.shape(0) > 0 && turns >= 0,
            "arrays of labels whose shapes do not fit");
    const Competition competition{sharpness, kept, static_cast<Index>(n_candidates), static_cast<Index>(n_classes)};
    run_interruptible(stop, [&](Interrupt& interrupt) {
        LabelLearner learner({half_lives.data(), static_cast<Index>(n_half_lives), max_forgotten, ridges.data(),
                              first.data(), competition},
                             chosen_instructions().load()->algebra);
        const Index cost = static_cast<Index>(3 * n_candidates * n_functions * n_functions);
        for (std::size_t i = 0; i < n_labels && interrupt.may_continue(cost); ++i) {
            const Index before = i ? times.data()[i - 1] : time;
            predicted.data()[i] = learner.learn(parts, i == 0, values.data() + i * n_functions, targets.data()[i],
                                                importances.data()[i], static_cast<double>(times.data()[i] - before),
                                                turns + static_cast<Index>(i), losses.data(), errors.data());
        }
    });
}

// The weight of each function of all candidates together: of both parts, by what each counts.
void shared_weights(Array<const double, 3> weights, Array<const Index, 1> columns, Array<const double, 3> other_weights,
                    Array<const Index, 1> other_columns, Array<const double, 1> losses, double sharpness,
                    Array<double, 2> out) {
    const std::size_t n_half_lives = weights.shape(0), n_classes = out.shape(1), n_candidates = losses.shape(0);
    require_part(weights, columns, n_half_lives, out.shape(0), n_classes);
    require_part(other_weights, other_columns, n_half_lives, out.shape(0), n_classes);
    require(n_candidates == 2 * n_half_lives && n_candidates > 0, "losses must have the length n_candidates");
    const Competition competition{sharpness, 1.0, static_cast<Index>(n_candidates), static_cast<Index>(n_classes)};
    const double least = *std::min_element(losses.data(), losses.data() + n_candidates);
    double total = 0.0;
    for (std::size_t r = 0; r < n_candidates; ++r) total += competition.share_of(losses.data()[r], least);
    std::fill_n(out.data(), out.size(), 0.0);
    for (std::size_t r = 0; r < n_candidates; ++r) {
        const auto& own = r < n_half_lives ? weights : other_weights;
        const auto& some = r < n_half_lives ? columns : other_columns;
        const double share = competition.share_of(losses.data()[r], least) / total;
        const double* from = own.data() + r % n_half_lives * some.shape(0) * n_classes;
        for (std::size_t k = 0; k < some.shape(0); ++k)
            for (std::size_t c = 0; c < n_classes; ++c)
                out.data()[static_cast<std::size_t>(some.data()[k]) * n_classes + c] += share * *from++;
    }
}

// A scorer whose arguments are checked. Terms can be added while other threads score: they wait for each other.
class CheckedScorer {
public:
    explicit CheckedScorer(Array<const double, 1> bias) : scorer_(copy_of(bias)) {
        require(bias.shape(0) > 0, "bias must have the length n_classes, at least 1");
    }

    void set_ranks(Array<const Index, 1> offsets, Array<const double, 1> values, Array<const double, 1> shares) {
        RankTables ranks = rank_tables(offsets, values, shares);
        const Index n_features = ranks.n_features();
        change(n_features, 0, [&] { scorer_.set_ranks(std::move(ranks)); });
    }

    void add_boxes(double rank_weight, Array<const Index, 1> features, Array<const double, 1> factors,
                   Array<const float, 3> lower, Array<const float, 3> upper, float rate,
                   Array<const float, 3> weights) {
        const PackedBoxes boxes = packed_boxes(lower, upper, features.shape(0));
        require(factors.shape(0) == features.shape(0), "factors must have the length of features");
        require(weights.shape(1) == n_classes() && weights.shape(2) == static_cast<std::size_t>(boxes.n_boxes()),
                "weights must have the shape (n_levels, n_classes, n_blocks * 16)");
        require(rate > 0.0f && std::isfinite(rate), "rate must be positive and finite");
        Index needed = 0;
        for (std::size_t f = 0; f < features.shape(0); ++f) {
            require(features.data()[f] >= 0, "features must not be negative");
            needed = std::max(needed, features.data()[f] + 1);
        }
        auto term = std::make_unique<BoxTerm>();
        term->features = copy_of(features);
        term->factors = copy_of(factors);
        term->lower = copy_of(lower);
        term->upper = copy_of(upper);
        term->weights = copy_of(weights);
        term->rate = rate;
        term->n_blocks = boxes.n_blocks;
        term->n_levels = static_cast<Index>(weights.shape(0));
        term->n_classes = scorer_.n_classes();
        add(rank_weight, kUnknown, needed, std::move(term));
    }

    void add_graph(double rank_weight, Array<const double, 2> centres, Array<const double, 1> missing,
                   Array<const double, 2> outputs) {
        require(centres.shape(0) > 0 && missing.shape(0) == centres.shape(1),
                "centres must have the shape (n_centres, n_features), missing the length n_features");
        require(outputs.shape(0) == centres.shape(0) && outputs.shape(1) == n_classes(),
                "outputs must have the shape (n_centres, n_classes)");
        const Index n_features = static_cast<Index>(centres.shape(1));
        Centres packed(centres.data(), static_cast<Index>(centres.shape(0)), missing.data(), n_features);
        add(rank_weight, n_features, 0,
            std::make_unique<GraphTerm>(std::move(packed), copy_of(outputs), scorer_.n_classes()));
    }

    void add_linear(double rank_weight, Array<const double, 1> centre, Array<const double, 2> slopes) {
        require(slopes.shape(0) == centre.shape(0) && slopes.shape(1) == n_classes(),
                "centre must have the length n_features, slopes the shape (n_features, n_classes)");
        auto term = std::make_unique<LinearTerm>();
        term->centre = copy_of(centre);
        term->slopes = copy_of(slopes);
        term->n_classes = scorer_.n_classes();
        add(rank_weight, static_cast<Index>(centre.shape(0)), 0, std::move(term));
    }

    void add_splines(double rank_weight, Array<const double, 3> heights) {
        require(heights.shape(1) >= 2 && heights.shape(2) == n_classes(),
                "heights must have the shape (n_features, n_knots, n_classes) with at least 2 knots");
        auto term = std::make_unique<SplineTerm>();
        term->heights = copy_of(heights);
        term->n_knots = static_cast<Index>(heights.shape(1));
        term->n_classes = scorer_.n_classes();
        add(rank_weight, static_cast<Index>(heights.shape(0)), 0, std::move(term));
    }

    void add_trees(double rank_weight, Array<const Index, 1> roots, Array<const Index, 1> features,
                   Array<const double, 1> thresholds, Array<const Index, 1> left, Array<const double, 1> shares,
                   Array<const double, 2> values) {
        require(values.shape(1) == n_classes(), "values must have the shape (n_leaves, n_classes)");
        const Index needed = check_forest(roots, features, thresholds, left, shares, values);
        ForestArrays arrays{copy_of(roots),      copy_of(features), copy_of(left),
                            copy_of(thresholds), copy_of(shares),   copy_of(values)};
        auto term = std::make_unique<TreeTerm>(std::move(arrays), scorer_.n_classes());
        add(rank_weight, kUnknown, needed, std::move(term));
    }

    void scores(Array<const double, 2> coded, Array<double, 2> scores, Index n_threads, StopFlag stop) const {
        require(scores.shape(0) == coded.shape(0) && scores.shape(1) == n_classes(),
                "scores must have the shape (n_samples, n_classes)");
        const Index n_features = static_cast<Index>(coded.shape(1));
        run_interruptible(stop, [&](Interrupt& interrupt) {
            const std::shared_lock<std::shared_mutex> reading(changing_);
            require_features(n_features);
            scorer_.scores(coded.data(), static_cast<Index>(coded.shape(0)), n_features, scores.data(), n_threads,
                           interrupt);
        });
    }

    void contributions(Array<const double, 2> coded, Array<const Index, 1> columns, Array<double, 3> by_column,
                       Array<double, 2> of_graph, Index n_threads, StopFlag stop) const {
        const std::size_t n_samples = coded.shape(0), n_columns = by_column.shape(1);
        require(by_column.shape(0) == n_samples && by_column.shape(2) == n_classes(),
                "by_column must have the shape (n_samples, n_columns, n_classes)");
        require(of_graph.shape(0) == n_samples && of_graph.shape(1) == n_classes(),
                "of_graph must have the shape (n_samples, n_classes)");
        require(columns.shape(0) == coded.shape(1), "columns must have the length n_features");
        for (std::size_t f = 0; f < columns.shape(0); ++f)
            require(columns.data()[f] >= 0 && columns.data()[f] < static_cast<Index>(n_columns),
                    "columns must be from 0 to n_columns - 1");
        const Index n_features = static_cast<Index>(coded.shape(1));
        run_interruptible(stop, [&](Interrupt& interrupt) {
            const std::shared_lock<std::shared_mutex> reading(changing_);
            require_features(n_features);
            scorer_.contributions(coded.data(), static_cast<Index>(n_samples), n_features, columns.data(),
                                  static_cast<Index>(n_columns), by_column.data(), of_graph.data(), n_threads,
                                  interrupt);
        });
    }

private:
    static constexpr Index kUnknown = -1;

    void require_features(Index n_features) const {
        require((n_features_ == kUnknown || n_features == n_features_) && n_features >= n_features_needed_,
                "coded must have the shape (n_samples, n_features) with the features of the terms");
    }

    std::size_t n_classes() const { return static_cast<std::size_t>(scorer_.n_classes()); }

    void add(double rank_weight, Index n_features, Index n_features_needed, std::unique_ptr<const Term> term) {
        require(rank_weight >= 0.0 && rank_weight <= 1.0, "rank_weight must lie in [0, 1]");
        change(n_features, n_features_needed, [&] { scorer_.add_term(rank_weight, std::move(term)); });
    }

    // scoring may wait for the interpreter lock, so this must not hold it while it waits for scoring to end
    template <class Change>
    void change(Index n_features, Index n_features_needed, Change apply) {
        nb::gil_scoped_release unlocked;
        const std::unique_lock<std::shared_mutex> alone(changing_);
        const Index known = n_features_ == kUnknown ? n_features : n_features_;
        const Index needed = std::max(n_features_needed_, n_features_needed);
        require(n_features == kUnknown || n_features == known, "all terms must have the same number of features");
        require(known == kUnknown || needed <= known, "features must be less than the number of features");
        apply();
        n_features_ = known;
        n_features_needed_ = needed;
    }

    Scorer scorer_;
    Index n_features_ = kUnknown;
    Index n_features_needed_ = 0;
    mutable std::shared_mutex changing_;
};

}  // namespace

void bind_evidence(nb::module_& module) {
    module.def("measure", &measure_batch, "samples"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
               "distances"_a.noconvert(), "stop"_a.noconvert());
    module.def("nearest_centres", &nearest_centres, "samples"_a.noconvert(), "centres"_a.noconvert(),
               "missing"_a.noconvert(), "nearest"_a.noconvert(), "stop"_a.noconvert());
    module.def("learn_labels", &learn_labels, "inverses"_a.noconvert(), "next"_a.noconvert(), "weights"_a.noconvert(),
               "columns"_a.noconvert(), "other_inverses"_a.noconvert(), "other_next"_a.noconvert(),
               "other_weights"_a.noconvert(), "other_columns"_a.noconvert(), "values"_a.noconvert(),
               "targets"_a.noconvert(), "importances"_a.noconvert(), "times"_a.noconvert(), "time"_a, "turns"_a,
               "half_lives"_a.noconvert(), "max_forgotten"_a, "ridges"_a.noconvert(), "first"_a.noconvert(),
               "sharpness"_a, "kept"_a, "losses"_a.noconvert(), "errors"_a.noconvert(), "predicted"_a.noconvert(),
               "stop"_a.noconvert());
    module.def("shared_weights", &shared_weights, "weights"_a.noconvert(), "columns"_a.noconvert(),
               "other_weights"_a.noconvert(), "other_columns"_a.noconvert(), "losses"_a.noconvert(), "sharpness"_a,
               "out"_a.noconvert());
    nb::class_<CheckedFunctions>(module, "StreamFunctions")
        .def(nb::init<Array<const Index, 1>, Array<const double, 1>, Array<const double, 1>, double,
                      Array<const float, 3>, Array<const float, 3>, Index, double, double, Index>(),
             "offsets"_a.noconvert(), "values"_a.noconvert(), "shares"_a.noconvert(), "rank_weight"_a,
             "lower"_a.noconvert(), "upper"_a.noconvert(), "n_boxes"_a, "width"_a, "middle"_a, "n_trends"_a)
        .def("values", &CheckedFunctions::values, "coded"_a.noconvert(), "scores"_a.noconvert(), "out"_a.noconvert(),
             "stop"_a.noconvert())
        .def("weigh", &CheckedFunctions::weigh, "coded"_a.noconvert(), "scores"_a.noconvert(),
             "weights"_a.noconvert(), "stop"_a.noconvert());
    nb::class_<CheckedScorer>(module, "Scorer")
        .def(nb::init<Array<const double, 1>>(), "bias"_a.noconvert())
        .def("set_ranks", &CheckedScorer::set_ranks, "offsets"_a.noconvert(), "values"_a.noconvert(),
             "shares"_a.noconvert())
        .def("add_boxes", &CheckedScorer::add_boxes, "rank_weight"_a, "features"_a.noconvert(), "factors"_a.noconvert(),
             "lower"_a.noconvert(), "upper"_a.noconvert(), "rate"_a, "weights"_a.noconvert())
        .def("add_graph", &CheckedScorer::add_graph, "rank_weight"_a, "centres"_a.noconvert(), "missing"_a.noconvert(),
             "outputs"_a.noconvert())
        .def("add_linear", &CheckedScorer::add_linear, "rank_weight"_a, "centre"_a.noconvert(), "slopes"_a.noconvert())
        .def("add_splines", &CheckedScorer::add_splines, "rank_weight"_a, "heights"_a.noconvert())
        .def("add_trees", &CheckedScorer::add_trees, "rank_weight"_a, "roots"_a.noconvert(), "features"_a.noconvert(),
             "thresholds"_a.noconvert(), "left"_a.noconvert(), "shares"_a.noconvert(), "values"_a.noconvert())
        .def("scores", &CheckedScorer::scores, "coded"_a.noconvert(), "scores"_a.noconvert(), "n_threads"_a,
             "stop"_a.noconvert())
        .def("contributions", &CheckedScorer::contributions, "coded"_a.noconvert(), "columns"_a.noconvert(),
             "by_column"_a.noconvert(), "of_graph"_a.noconvert(), "n_threads"_a, "stop"_a.noconvert());
}

}  // namespace sslart
