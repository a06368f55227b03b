// Boxes: versions that share what they have in common. A draft learns; once it is published, nothing changes it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "art/boxes.hpp"
#include "art/learn.hpp"
#include "art/rank.hpp"
#include "art/row_keys.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sslart {
namespace {

template <class T>
using Optional = std::optional<Array<T, 1>>;

class Store {
public:
    Store(Index n_features, Index n_classes, Index n_constant, Index filter_from, Index tree_from)
        : boxes(n_features, n_classes, n_constant), cache(filter_from, tree_from) {
        require(n_features >= 0 && n_classes >= 0 && n_constant >= 0, "negative sizes");
    }

    bool is_draft() const { return boxes.owner != kNobody; }
    void publish() {
        prepare_as(boxes.owner);
        boxes.owner = kNobody;
    }

    // another version to learn with; this one stays as it is
    Store* draft() {
        prepare();
        if (is_draft()) boxes.owner = new_owner();  // chunks of this draft are no longer its own
        return new Store(boxes, cache);
    }

    // the search cache must have all boxes before threads share it
    void prepare() {
        if (is_draft()) prepare_as(boxes.owner);
    }

    Boxes boxes;
    SearchCache cache;

private:
    Store(const Boxes& other, const SearchCache& its_cache) : boxes(other), cache(its_cache) {
        boxes.owner = new_owner();
    }

    void prepare_as(Owner owner) {
        if (!cache.is_prepared(boxes)) cache.add_new_nodes(boxes, chosen_instructions().load()->ops, owner);
    }

};

void require_draft(const Store& store) { require(store.is_draft(), "published boxes do not learn: make a draft"); }

Store* of_arrays(Array<const double, 2> weights, Array<const double, 1> support, Array<const double, 2> counts,
                 Array<const std::uint8_t, 2> met, Index filter_from, Index tree_from) {
    const Index n = static_cast<Index>(weights.shape(0)), width = static_cast<Index>(weights.shape(1));
    require(width % 2 == 0 && support.shape(0) == weights.shape(0) && counts.shape(0) == weights.shape(0) &&
                met.shape(0) == weights.shape(0),
            "arrays of unlike lengths");
    auto store = std::make_unique<Store>(width / 2, static_cast<Index>(counts.shape(1)),
                                         static_cast<Index>(met.shape(1)), filter_from, tree_from);
    nb::gil_scoped_release unlocked;
    Boxes& boxes = store->boxes;
    for (Index i = 0; i < n; ++i) {
        const Index box = boxes.add();
        double* w = boxes.weights.change(box, boxes.owner);
        double norm = 0.0;
        for (Index k = 0; k < width; ++k) norm += w[k] = weights.data()[i * width + k];
        std::copy_n(counts.data() + i * boxes.n_classes, boxes.n_classes, boxes.counts.change(box, boxes.owner));
        std::copy_n(met.data() + i * boxes.n_constant, boxes.n_constant, boxes.met.change(box, boxes.owner));
        *boxes.summaries.change(box, boxes.owner) = {norm, support.data()[i], boxes.label_by_counts(box)};
    }
    return store.release();
}

// Copies the requested attributes of some boxes, or of all of them.
void read(const Store& store, Optional<const Index> wanted, std::optional<Array<double, 2>> weights,
          Optional<double> norms, Optional<double> support, std::optional<Array<double, 2>> counts,
          Optional<Index> labels, std::optional<Array<std::uint8_t, 2>> met) {
    const Boxes& boxes = store.boxes;
    const Index n = wanted ? static_cast<Index>(wanted->shape(0)) : boxes.n_boxes, width = 2 * boxes.n_features;
    const auto has = [n](const auto& array, Index columns) {
        return !array || (static_cast<Index>(array->shape(0)) == n && static_cast<Index>(array->shape(1)) == columns);
    };
    const auto has_length = [n](const auto& array) { return !array || static_cast<Index>(array->shape(0)) == n; };
    require(has(weights, width) && has_length(norms) && has_length(support) && has(counts, boxes.n_classes) &&
                has_length(labels) && has(met, boxes.n_constant),
            "arrays of unlike lengths");
    for (Index i = 0; wanted && i < n; ++i)
        require(wanted->data()[i] >= 0 && wanted->data()[i] < boxes.n_boxes, "no such box");
    for (Index i = 0; i < n; ++i) {
        const Index box = wanted ? wanted->data()[i] : i;
        const Boxes::Summary& summary = *boxes.summaries[box];
        if (weights) std::copy_n(boxes.weights[box], width, weights->data() + i * width);
        if (norms) norms->data()[i] = summary.norm;
        if (support) support->data()[i] = summary.support;
        if (counts) std::copy_n(boxes.counts[box], boxes.n_classes, counts->data() + i * boxes.n_classes);
        if (labels) labels->data()[i] = summary.label;
        if (met) std::copy_n(boxes.met[box], boxes.n_constant, met->data() + i * boxes.n_constant);
    }
}

void add_classes(Store& store, Index n_classes) {
    require_draft(store);
    Boxes& boxes = store.boxes;
    if (n_classes <= boxes.n_classes) return;
    Rows<double> counts(n_classes);
    for (Index box = 0; box < boxes.n_boxes; ++box) {
        double* own = counts.append(boxes.owner);
        std::copy_n(boxes.counts[box], boxes.n_classes, own);
    }
    boxes.counts = std::move(counts);
    boxes.n_classes = n_classes;
}

// Multiplies supports and counts, and returns the least support.
double fade(Store& store, double factor) {
    require_draft(store);
    Boxes& boxes = store.boxes;
    double least = std::numeric_limits<double>::infinity();
    for (Index box = 0; box < boxes.n_boxes; ++box) {
        Boxes::Summary& summary = *boxes.summaries.change(box, boxes.owner);
        least = std::min(least, summary.support *= factor);
        double* counts = boxes.counts.change(box, boxes.owner);
        for (Index k = 0; k < boxes.n_classes; ++k) counts[k] *= factor;
        summary.label = boxes.label_by_counts(box);  // rounding may have made counts equal
    }
    return least;
}

// Takes down which constant features have a value in samples that boxes have learnt.
void meet(Store& store, Array<const Index, 1> winners, Array<const std::uint8_t, 2> values) {
    require_draft(store);
    Boxes& boxes = store.boxes;
    require(values.shape(0) == winners.shape(0) && static_cast<Index>(values.shape(1)) == boxes.n_constant,
            "arrays of unlike lengths");
    for (std::size_t i = 0; i < winners.shape(0); ++i) {
        const Index box = winners.data()[i];
        require(box >= 0 && box < boxes.n_boxes, "no such box");
        for (Index k = 0; k < boxes.n_constant; ++k)
            if (values.data()[static_cast<Index>(i) * boxes.n_constant + k]) boxes.meet(box, k);
    }
}

// A box that has learnt nothing but that it is there.
Index add(Store& store) {
    require_draft(store);
    return store.boxes.add();
}

// Counts a sample that leaves its box as it is.
void count(Store& store, Index box, Index target) {
    require_draft(store);
    Boxes& boxes = store.boxes;
    require(box >= 0 && box < boxes.n_boxes && target >= kNone && target < boxes.n_classes, "no such box or class");
    ++boxes.summaries.change(box, boxes.owner)->support;
    if (target != kNone) boxes.associate(box, target);
}

Index learn_batch(Store& store, Index next, double vigilance, double choice, double learning_rate,
                  double match_tracking, bool one_to_one, Array<const double, 2> samples,
                  Array<const Index, 1> targets, Array<Index, 1> winners, Optional<Index> predicted,
                  Index search_depth, bool predict_by_first, Array<double, 1> gaps,
                  Optional<const std::uint8_t> fit_wanted, Optional<Index> fit_nodes, Optional<double> fit_familiarity,
                  Optional<double> fit_extents, std::optional<Index> max_boxes, StopFlag stop) {
    require_draft(store);
    Boxes& boxes = store.boxes;
    const std::size_t n = samples.shape(0);
    const Index n_samples = static_cast<Index>(n);
    require(next >= 0 && next <= n_samples, "progress out of range");
    require(static_cast<Index>(samples.shape(1)) == boxes.n_features && targets.shape(0) == n &&
                winners.shape(0) == n && (!predicted || predicted->shape(0) == n) && gaps.shape(0) == n,
            "arrays of unlike lengths");
    require(!fit_wanted || (fit_nodes && fit_familiarity && fit_extents && fit_wanted->shape(0) == n &&
                            fit_nodes->shape(0) == n && fit_familiarity->shape(0) == n && fit_extents->shape(0) == n),
            "fits of the wrong size");
    for (Index i = next; i < n_samples; ++i)
        require(targets.data()[i] >= kNone && targets.data()[i] < boxes.n_classes, "a target that is no class");
    const LearningParams params{vigilance, choice, learning_rate, match_tracking, one_to_one};
    const Batch batch{samples.data(),
                      targets.data(),
                      winners.data(),
                      predicted ? predicted->data() : nullptr,
                      search_depth,
                      predict_by_first,
                      gaps.data(),
                      n_samples,
                      max_boxes.value_or(std::numeric_limits<Index>::max()),
                      {fit_wanted ? fit_wanted->data() : nullptr, fit_nodes ? fit_nodes->data() : nullptr,
                       fit_familiarity ? fit_familiarity->data() : nullptr, fit_extents ? fit_extents->data() : nullptr}};
    run_interruptible(stop,
                      [&](Interrupt& interrupt) { next = learn(boxes, store.cache, params, batch, next, interrupt); });
    return next;
}

// Learns one row, given in the user's units and on the scales of its features, of which the ends are given: checks,
// encodes, searches and learns. Constant features are given by their columns and values. Returns another version of the
// boxes, the box, the class predicted before, the gap, the key of the row, and its fit where its key is below
// `measure_below` (None: of every row). Returns None, and does nothing, where one row is not enough: it is beyond the
// range, or off a constant, or has an infinite value or none, or needs a box too many.
nb::object learn_row(Store& store, Array<const double, 2> values, Array<const double, 2> scaled,
                     Array<const double, 1> lower, Array<const double, 1> upper,
                     Array<const Index, 1> constant_columns, Array<const double, 1> constants, Index target,
                     double vigilance,
                     double choice, double learning_rate, double match_tracking, bool one_to_one, bool predicts, bool predict_by_first,
                     std::optional<Index> max_boxes, Array<const std::uint64_t, 1> factors,
                     std::optional<std::uint64_t> measure_below) {
    const Boxes& before = store.boxes;
    const Index D = before.n_features, n_columns = static_cast<Index>(values.shape(1));
    if (values.shape(0) != 1 || scaled.shape(0) != 1 || !before.n_boxes || target >= before.n_classes)
        return nb::none();
    require(static_cast<Index>(scaled.shape(1)) == D && static_cast<Index>(lower.shape(0)) == D &&
                static_cast<Index>(upper.shape(0)) == D && static_cast<Index>(factors.shape(0)) == n_columns &&
                static_cast<Index>(constant_columns.shape(0)) == before.n_constant &&
                static_cast<Index>(constants.shape(0)) == before.n_constant,
            "arrays of unlike lengths");
    thread_local std::vector<double> coded;
    coded.resize(static_cast<std::size_t>(D));
    bool has_value = false;
    for (Index i = 0; i < n_columns; ++i)
        if (std::isinf(values.data()[i])) return nb::none();
    for (Index i = 0; i < D; ++i) has_value |= !std::isnan(scaled.data()[i]);
    const auto value_of = [&](Index k) {
        const Index column = constant_columns.data()[k];
        require(column >= 0 && column < n_columns, "no such column");
        return values.data()[column];
    };
    for (Index k = 0; k < before.n_constant; ++k)
        if (!std::isnan(value_of(k)) && value_of(k) != constants.data()[k]) return nb::none();
    const VectorOps& ops = chosen_instructions().load()->ops;
    if (!has_value || encode(scaled.data(), 1, D, lower.data(), upper.data(), coded.data(), ops)) return nb::none();
    std::uint64_t key = 0;
    row_keys(values.data(), 1, n_columns, factors.data(), &key);
    const std::uint8_t measured = !measure_below || key < *measure_below;
    Index winner = kNone, predicted = kNone, fit_box = kNone;
    double gap = std::nan(""), fit_familiarity = 0.0, fit_extent = 0.0;
    const Batch batch{coded.data(),
                      &target,
                      &winner,
                      predicts ? &predicted : nullptr,
                      0,
                      predict_by_first,
                      &gap,
                      1,
                      max_boxes.value_or(std::numeric_limits<Index>::max()),
                      {measured ? &measured : nullptr, &fit_box, &fit_familiarity, &fit_extent}};
    const LearningParams params{vigilance, choice, learning_rate, match_tracking, one_to_one};
    std::unique_ptr<Store> draft(store.draft());
    Interrupt never([] { return false; });
    if (learn(draft->boxes, draft->cache, params, batch, 0, never) != 1) return nb::none();
    for (Index k = 0; k < before.n_constant; ++k)
        if (!std::isnan(value_of(k))) draft->boxes.meet(winner, k);
    draft->publish();
    nb::object fit = measured ? nb::object(nb::make_tuple(fit_box, fit_familiarity, fit_extent)) : nb::none();
    return nb::make_tuple(nb::cast(draft.release(), nb::rv_policy::take_ownership), winner, predicted, gap, key, fit);
}

void rank_batch(Store& store, double choice, bool labelled_only, Optional<const Index> labels,
                Array<const double, 2> samples, Array<Index, 2> nodes, Array<double, 2> matches, Index n_threads,
                StopFlag stop) {
    const Boxes& boxes = store.boxes;
    require(static_cast<Index>(samples.shape(1)) == boxes.n_features &&
                (!labels || static_cast<Index>(labels->shape(0)) == boxes.n_boxes) &&
                nodes.shape(0) == samples.shape(0) && matches.shape(0) == samples.shape(0) &&
                matches.shape(1) == nodes.shape(1) && nodes.shape(1) > 0,
            "arrays of unlike lengths");
    const RankRequest request{samples.data(),
                              Labels(boxes, labels ? labels->data() : nullptr),
                              labelled_only,
                              static_cast<Index>(samples.shape(0)),
                              static_cast<Index>(nodes.shape(1)),
                              nodes.data(),
                              matches.data()};
    run_interruptible(stop, [&](Interrupt& interrupt) {
        store.prepare();
        rank_nodes(boxes, store.cache, choice, request, n_threads, interrupt);
    });
}

}  // namespace

void bind_boxes(nb::module_& module) {
    nb::class_<Store>(module, "Boxes")
        .def(nb::init<Index, Index, Index, Index, Index>(), "n_features"_a, "n_classes"_a = 0, "n_constant"_a = 0,
             nb::kw_only(), "filter_from"_a = 96, "tree_from"_a = 4096)
        .def_static("of", &of_arrays, "weights"_a.noconvert(), "support"_a.noconvert(), "counts"_a.noconvert(),
                    "met"_a.noconvert(), nb::kw_only(), "filter_from"_a = 96, "tree_from"_a = 4096,
                    nb::rv_policy::take_ownership)
        .def_prop_ro("n_features", [](const Store& store) { return store.boxes.n_features; })
        .def_prop_ro("n_classes", [](const Store& store) { return store.boxes.n_classes; })
        .def_prop_ro("n_constant", [](const Store& store) { return store.boxes.n_constant; })
        .def_prop_ro("n_boxes", [](const Store& store) { return store.boxes.n_boxes; })
        .def("draft", &Store::draft, nb::rv_policy::take_ownership)
        .def("publish",
             [](Store& store) {
                 nb::gil_scoped_release unlocked;
                 store.publish();
             })
        .def("read", &read, "rows"_a.noconvert().none() = nb::none(), nb::kw_only(),
             "weights"_a.noconvert().none() = nb::none(), "norms"_a.noconvert().none() = nb::none(),
             "support"_a.noconvert().none() = nb::none(), "counts"_a.noconvert().none() = nb::none(),
             "labels"_a.noconvert().none() = nb::none(), "met"_a.noconvert().none() = nb::none())
        .def("add_classes", &add_classes, "n_classes"_a)
        .def("fade", &fade, "factor"_a)
        .def("meet", &meet, "winners"_a.noconvert(), "values"_a.noconvert())
        .def("add", &add)
        .def("count", &count, "box"_a, "target"_a)
        .def("learn", &learn_batch, "next"_a, nb::kw_only(), "vigilance"_a, "choice"_a, "learning_rate"_a,
             "match_tracking"_a, "one_to_one"_a, "samples"_a.noconvert(), "targets"_a.noconvert(),
             "winners"_a.noconvert(), "predicted"_a.noconvert().none(), "search_depth"_a, "predict_by_first"_a,
             "gaps"_a.noconvert(), "fit_wanted"_a.noconvert().none() = nb::none(),
             "fit_nodes"_a.noconvert().none() = nb::none(), "fit_familiarity"_a.noconvert().none() = nb::none(),
             "fit_extents"_a.noconvert().none() = nb::none(), "max_boxes"_a.none() = nb::none(),
             "stop"_a.noconvert())
        .def("learn_row", &learn_row, "values"_a.noconvert(), "scaled"_a.noconvert(), "lower"_a.noconvert(),
             "upper"_a.noconvert(),
             "constant_columns"_a.noconvert(), "constants"_a.noconvert(), "target"_a,
             "vigilance"_a, "choice"_a, "learning_rate"_a, "match_tracking"_a, "one_to_one"_a, "predicts"_a,
             "predict_by_first"_a, "max_boxes"_a.none(), "factors"_a.noconvert(), "measure_below"_a.none())
        .def("rank", &rank_batch, nb::kw_only(), "choice"_a, "labelled_only"_a,
             "labels"_a.noconvert().none() = nb::none(), "samples"_a.noconvert(), "nodes"_a.noconvert(),
             "matches"_a.noconvert(), "n_threads"_a, "stop"_a.noconvert());
}

}  // namespace sslart
