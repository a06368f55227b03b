// The Python module, and its functions that search: arrays are borrowed, the interpreter lock is released.
#include "bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <mutex>

#include "art/learn.hpp"
#include "art/rank.hpp"
#include "art/row_keys.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace sslart;

namespace {

template <class Count>
void learn_batch(SearchCache& cache, Array<double, 2> weights, Array<double, 1> norms, Array<Count, 1> support,
                 Array<Count, 2> counts, Array<Index, 1> labels, Array<Index, 1> progress, double vigilance,
                 double choice, double learning_rate, double match_tracking, bool one_to_one,
                 Array<const double, 2> samples, Array<const Index, 1> targets, Array<Index, 1> winners,
                 std::optional<Array<Index, 1>> predicted, Index search_depth,
                 bool predict_by_first, std::optional<Array<double, 1>> gaps,
                 std::optional<Array<double, 2>> journal_weights, std::optional<Array<Count, 1>> journal_support,
                 std::optional<Array<Count, 2>> journal_counts, std::optional<Array<const std::uint8_t, 1>> fit_wanted,
                 std::optional<Array<Index, 1>> fit_nodes, std::optional<Array<double, 1>> fit_matches,
                 std::optional<Array<double, 1>> fit_extents, StopFlag stop) {
    const Index capacity = static_cast<Index>(weights.shape(0));
    const Index n_features = static_cast<Index>(weights.shape(1)) / 2;
    const Index n_classes = static_cast<Index>(counts.shape(1));
    const Index n_samples = static_cast<Index>(samples.shape(0));
    Index* const next = progress.data();
    Index* const n_nodes = progress.data() + 1;
    require(progress.shape(0) == 2 && *next >= 0 && *next <= n_samples && *n_nodes >= 0 && *n_nodes <= capacity,
            "progress out of range");
    require(norms.shape(0) == weights.shape(0) && support.shape(0) == weights.shape(0) &&
                counts.shape(0) == weights.shape(0) && labels.shape(0) == weights.shape(0) &&
                weights.shape(1) == 2 * samples.shape(1) && targets.shape(0) == samples.shape(0) &&
                winners.shape(0) == samples.shape(0) && (!predicted || predicted->shape(0) == samples.shape(0)) &&
                (!gaps || gaps->shape(0) == samples.shape(0)),
            "arrays of unlike lengths");
    require(!journal_weights ||
                (journal_support && journal_counts && journal_weights->shape(0) == samples.shape(0) &&
                 journal_weights->shape(1) == weights.shape(1) && journal_support->shape(0) == samples.shape(0) &&
                 journal_counts->shape(0) == samples.shape(0) && journal_counts->shape(1) == counts.shape(1)),
            "a journal of the wrong size");
    require(!fit_wanted || (fit_nodes && fit_matches && fit_extents && fit_wanted->shape(0) == samples.shape(0) &&
                            fit_nodes->shape(0) == samples.shape(0) && fit_matches->shape(0) == samples.shape(0) &&
                            fit_extents->shape(0) == samples.shape(0)),
            "fits of the wrong size");
    for (Index i = *next; i < n_samples; ++i)
        require(targets.data()[i] >= kNone && targets.data()[i] < n_classes, "a target that is no class");

    Boxes boxes{weights.data(), norms.data(), *n_nodes, capacity, n_features};
    ClassMap<Count> map{support.data(), counts.data(), labels.data(), n_classes};
    const LearningParams params{vigilance, choice, learning_rate, match_tracking, one_to_one};
    const Batch<Count> batch{
        samples.data(),
        targets.data(),
        winners.data(),
        predicted ? predicted->data() : nullptr,
        search_depth,
        predict_by_first,
        gaps ? gaps->data() : nullptr,
        n_samples,
        {journal_weights ? journal_weights->data() : nullptr, journal_support ? journal_support->data() : nullptr,
         journal_counts ? journal_counts->data() : nullptr},
        {fit_wanted ? fit_wanted->data() : nullptr, fit_nodes ? fit_nodes->data() : nullptr,
         fit_matches ? fit_matches->data() : nullptr, fit_extents ? fit_extents->data() : nullptr}};
    run_interruptible(stop, [&](Interrupt& interrupt) {
        std::unique_lock alone(cache.in_use);
        *next = learn(boxes, map, cache, params, batch, *next, interrupt);
        *n_nodes = boxes.n_nodes;
    });
}

void rank_batch(SearchCache& cache, Array<const double, 2> weights, Array<const double, 1> norms,
                Array<const Index, 1> labels, Index n_nodes, double choice, bool labelled_only,
                Array<const double, 2> samples, Array<Index, 2> nodes, Array<double, 2> matches, Index n_threads,
                StopFlag stop) {
    require(n_nodes >= 0 && n_nodes <= static_cast<Index>(weights.shape(0)) && norms.shape(0) == weights.shape(0) &&
                labels.shape(0) == weights.shape(0) && weights.shape(1) == 2 * samples.shape(1) &&
                nodes.shape(0) == samples.shape(0) && matches.shape(0) == samples.shape(0) &&
                matches.shape(1) == nodes.shape(1) && nodes.shape(1) > 0,
            "arrays of unlike lengths");
    const Boxes boxes{const_cast<double*>(weights.data()), const_cast<double*>(norms.data()), n_nodes,
                      static_cast<Index>(weights.shape(0)), static_cast<Index>(samples.shape(1))};
    const RankRequest request{samples.data(),
                              labels.data(),
                              labelled_only,
                              static_cast<Index>(samples.shape(0)),
                              static_cast<Index>(nodes.shape(1)),
                              nodes.data(),
                              matches.data()};
    run_interruptible(stop, [&](Interrupt& interrupt) {
        std::shared_lock sharing(cache.in_use);
        if (!cache.is_prepared(boxes)) {
            sharing.unlock();
            {
                std::unique_lock alone(cache.in_use);
                Search(Purpose::kRank, choice, cache, boxes).prepare();
            }
            sharing.lock();
        }
        rank_nodes(boxes, cache, choice, request, n_threads, interrupt);
    });
}

bool encode_batch(Array<const double, 2> matrix, Array<const double, 1> lower, Array<const double, 1> upper,
                  Array<double, 2> coded) {
    require(lower.shape(0) == matrix.shape(1) && upper.shape(0) == matrix.shape(1) &&
                coded.shape(0) == matrix.shape(0) && coded.shape(1) == matrix.shape(1),
            "arrays of unlike lengths");
    nb::gil_scoped_release unlocked;
    return encode(matrix.data(), static_cast<Index>(matrix.shape(0)), static_cast<Index>(matrix.shape(1)), lower.data(),
                  upper.data(), coded.data());
}

void row_keys_batch(Array<const double, 2> matrix, Array<const std::uint64_t, 1> factors, Array<std::uint64_t, 1> keys) {
    require(factors.shape(0) == matrix.shape(1) && keys.shape(0) == matrix.shape(0), "arrays of unlike lengths");
    nb::gil_scoped_release unlocked;
    row_keys(matrix.data(), static_cast<Index>(matrix.shape(0)), static_cast<Index>(matrix.shape(1)), factors.data(),
             keys.data());
}

template <class Count>
void bind_learn(nb::module_& module) {
    module.def("learn", &learn_batch<Count>, "cache"_a, "weights"_a.noconvert(), "norms"_a.noconvert(),
               "support"_a.noconvert(), "counts"_a.noconvert(), "labels"_a.noconvert(), "progress"_a.noconvert(),
               nb::kw_only(), "vigilance"_a, "choice"_a, "learning_rate"_a, "match_tracking"_a, "one_to_one"_a,
               "samples"_a.noconvert(), "targets"_a.noconvert(), "winners"_a.noconvert(),
               "predicted"_a.noconvert().none(), "search_depth"_a, "predict_by_first"_a = false,
               "gaps"_a.noconvert().none() = nb::none(), "journal_weights"_a.noconvert().none(),
               "journal_support"_a.noconvert().none(), "journal_counts"_a.noconvert().none(),
               "fit_wanted"_a.noconvert().none() = nb::none(), "fit_nodes"_a.noconvert().none() = nb::none(),
               "fit_matches"_a.noconvert().none() = nb::none(), "fit_extents"_a.noconvert().none() = nb::none(),
               "stop"_a.noconvert());
}

}  // namespace

NB_MODULE(_kernel, module) {
#ifndef SSLART_SANITIZED
    // a thread that still runs when Python ends may hold a model: nothing that a user has to be warned of
    nb::set_leak_warnings(false);
#endif
    nb::class_<SearchCache>(module, "SearchCache")
        .def(nb::init<Index, Index>(), "filter_from"_a = 96, "tree_from"_a = 4096)
        .def("__copy__", [](const SearchCache& cache) {
            nb::gil_scoped_release unlocked;  // who holds the lock of the cache may wait for the interpreter
            return new SearchCache(cache);
        }, nb::rv_policy::take_ownership);
    module.def("new_cache", [] { return new SearchCache(); }, nb::rv_policy::take_ownership);
    module.def("encode", &encode_batch, "matrix"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
               "coded"_a.noconvert());
    module.def("row_keys", &row_keys_batch, "matrix"_a.noconvert(), "factors"_a.noconvert(), "keys"_a.noconvert());
    bind_learn<Index>(module);
    bind_learn<double>(module);
    module.def("rank", &rank_batch, "cache"_a, "weights"_a.noconvert(), "norms"_a.noconvert(), "labels"_a.noconvert(),
               "n_nodes"_a, nb::kw_only(), "choice"_a, "labelled_only"_a, "samples"_a.noconvert(),
               "nodes"_a.noconvert(), "matches"_a.noconvert(), "n_threads"_a, "stop"_a.noconvert());
    bind_evidence(module);
    bind_algebra(module);
    bind_trees(module);
    bind_joining(module);
    bind_drift(module);
    module.def("instruction_set", [] { return chosen_instructions().load()->name; });
    module.def("instruction_sets", [] {
        nb::list names;
        for (const Instructions* instructions : available_instructions()) names.append(instructions->name);
        return names;
    });
    module.def("use_instruction_set", [](const char* name) { choose_instructions(name); }, "name"_a);
}
