// Python bindings of decision trees.
#include <algorithm>
#include <cstdint>

#include "bindings.hpp"
#include "trees/grow.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sslart {

Index check_forest(const Array<const Index, 1>& roots, const Array<const Index, 1>& features,
                   const Array<const double, 1>& thresholds, const Array<const Index, 1>& left,
                   const Array<const double, 1>& shares, const Array<const double, 2>& values) {
    const Index n_nodes = static_cast<Index>(features.shape(0)), n_leaves = static_cast<Index>(values.shape(0));
    require(thresholds.shape(0) == features.shape(0) && left.shape(0) == features.shape(0) &&
                shares.shape(0) == features.shape(0),
            "features, thresholds, left and shares must have the length n_nodes");
    for (std::size_t tree = 0; tree < roots.shape(0); ++tree)
        require(roots.data()[tree] >= 0 && roots.data()[tree] < n_nodes, "roots must be nodes");
    Index needed = 0;
    for (Index node = 0; node < n_nodes; ++node) {
        const Index feature = features.data()[node], next = left.data()[node];
        needed = std::max(needed, feature + 1);
        require(feature == kLeaf ? next >= 0 && next < n_leaves : feature >= 0 && next > node && next + 1 < n_nodes,
                "left must be a leaf, or a node that comes later");
    }
    return needed;
}

namespace {

// found: trees × samples × classes
void tree_scores(Array<const Index, 1> roots, Array<const Index, 1> features, Array<const double, 1> thresholds,
                 Array<const Index, 1> left, Array<const double, 1> shares, Array<const double, 2> values,
                 Array<const double, 2> samples, Array<double, 3> found, StopFlag stop) {
    const Index n_features = static_cast<Index>(samples.shape(1)), n_samples = static_cast<Index>(samples.shape(0));
    const Index n_classes = static_cast<Index>(values.shape(1)), n_trees = static_cast<Index>(roots.shape(0));
    require(check_forest(roots, features, thresholds, left, shares, values) <= n_features,
            "samples must have the features of the nodes");
    require(found.shape(0) == roots.shape(0) && found.shape(1) == samples.shape(0) &&
                found.shape(2) == values.shape(1),
            "found must have the shape (n_trees, n_samples, n_classes)");
    const Forest forest{roots.data(),  n_trees,       features.data(), thresholds.data(),
                        left.data(),   shares.data(), values.data(),   n_classes};
    std::fill_n(found.data(), found.size(), 0.0);
    run_interruptible(stop, [&](Interrupt& interrupt) {
        double* scores = found.data();
        for (Index tree = 0; tree < n_trees; ++tree) {
            if (!interrupt.may_continue(16 * n_samples)) return;
            for (Index i = 0; i < n_samples; ++i, scores += n_classes)
                forest.add_leaves(roots.data()[tree], samples.data() + i * n_features, 1.0, scores);
        }
    });
}

// Trees, one after another: the nodes and the leaves of each follow those of the tree before. Returns the number of nodes.
Index grow_trees(Array<const double, 2> columns, Array<const Index, 1> starts, Array<const Index, 1> members,
                 Array<const Index, 1> classes, Array<const double, 2> weights, Array<const std::uint64_t, 1> seeds,
                 Index n_tried, double min_weight, Array<Index, 1> roots, Array<Index, 1> features,
                 Array<double, 1> thresholds, Array<Index, 1> left, Array<double, 1> shares, Array<double, 2> values,
                 StopFlag stop) {
    const std::size_t n_samples = columns.shape(1), n_trees = weights.shape(0);
    const Index n_classes = static_cast<Index>(values.shape(1));
    require(classes.shape(0) == n_samples && weights.shape(1) == n_samples && seeds.shape(0) == n_trees &&
                roots.shape(0) == n_trees,
            "classes must have the length n_samples, weights the shape (n_trees, n_samples), seeds and roots the "
            "length n_trees");
    const Index n_features = static_cast<Index>(columns.shape(0));
    require(starts.shape(0) > 0 && starts.data()[0] == 0 && members.shape(0) == columns.shape(0) &&
                starts.data()[starts.shape(0) - 1] == n_features,
            "starts must begin at 0 and end at the number of features, members have that length");
    for (std::size_t c = 0; c + 1 < starts.shape(0); ++c)
        require(starts.data()[c] <= starts.data()[c + 1], "starts must not decrease");
    for (std::size_t f = 0; f < members.shape(0); ++f)
        require(members.data()[f] >= 0 && members.data()[f] < n_features, "members must be features");
    for (std::size_t i = 0; i < n_samples; ++i)
        require(classes.data()[i] >= 0 && classes.data()[i] < n_classes, "classes must be from 0 to n_classes - 1");
    std::size_t n_rows = 0;
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        const double* own = weights.data() + tree * n_samples;
        const auto n = std::count_if(own, own + n_samples, [](double weight) { return weight > 0.0; });
        require(n > 0, "a sample must have a weight above 0");
        n_rows += static_cast<std::size_t>(n);
    }
    require(values.shape(0) >= n_rows && features.shape(0) >= 2 * n_rows &&
                thresholds.shape(0) == features.shape(0) && left.shape(0) == features.shape(0) &&
                shares.shape(0) == features.shape(0),
            "the arrays of nodes must have twice as many entries as samples have a weight, those of leaves as many");
    require(n_tried > 0 && min_weight > 0.0, "n_tried and min_weight must be positive");
    Index n_nodes = 0, n_leaves = 0;
    run_interruptible(stop, [&](Interrupt& interrupt) {
        for (std::size_t tree = 0; tree < n_trees && interrupt.may_continue(1); ++tree) {
            const TreeData data{columns.data(),
                                classes.data(),
                                weights.data() + tree * n_samples,
                                static_cast<Index>(n_samples),
                                n_features,
                                n_classes,
                                starts.data(),
                                members.data(),
                                static_cast<Index>(starts.shape(0)) - 1};
            const TreeArrays out{features.data() + n_nodes, thresholds.data() + n_nodes, left.data() + n_nodes,
                                 shares.data() + n_nodes, values.data() + n_leaves * n_classes};
            const Index n = TreeGrower(data, {seeds.data()[tree], n_tried, min_weight}, out).grow(interrupt);
            const Index first = n_leaves;
            for (Index node = 0; node < n; ++node) {
                const bool is_leaf = out.features[node] == kLeaf;
                out.left[node] += is_leaf ? first : n_nodes;
                n_leaves += is_leaf;
            }
            roots.data()[tree] = n_nodes;
            n_nodes += n;
        }
    });
    return n_nodes;
}

}  // namespace

void bind_trees(nb::module_& module) {
    module.def("tree_scores", &tree_scores, "roots"_a.noconvert(), "features"_a.noconvert(),
               "thresholds"_a.noconvert(), "left"_a.noconvert(), "shares"_a.noconvert(), "values"_a.noconvert(),
               "samples"_a.noconvert(), "found"_a.noconvert(), "stop"_a.noconvert());
    module.def("grow_trees", &grow_trees, "columns"_a.noconvert(), "starts"_a.noconvert(), "members"_a.noconvert(),
               "classes"_a.noconvert(), "weights"_a.noconvert(), "seeds"_a.noconvert(), "n_tried"_a, "min_weight"_a,
               "roots"_a.noconvert(), "features"_a.noconvert(), "thresholds"_a.noconvert(), "left"_a.noconvert(),
               "shares"_a.noconvert(), "values"_a.noconvert(), "stop"_a.noconvert());
}

}  // namespace sslart
