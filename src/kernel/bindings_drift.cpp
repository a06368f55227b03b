// Python bindings of drift detection: sums over blocks, and windows.
#include <nanobind/stl/optional.h>

#include <algorithm>

#include "bindings.hpp"
#include "drift/features.hpp"
#include "drift/sums.hpp"
#include "drift/window.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sslart {

namespace {

bool drift_sums(Array<const double, 2> values, std::optional<Array<const Index, 2>> places,
                Array<const double, 1> first, Array<const double, 1> gaps, double room,
                std::optional<Array<const Index, 1>> codes, std::optional<Array<const Index, 1>> predicted,
                std::optional<Array<const double, 1>> wrong, Index n_categories, Index n_filled,
                Array<const double, 2> before, Array<double, 2> after) {
    const Index n_samples = static_cast<Index>(values.shape(0)), n_columns = static_cast<Index>(values.shape(1));
    const Index width = static_cast<Index>(after.shape(1));
    const StreamPart part{values.data(),
                          places ? places->data() : nullptr,
                          first.data(),
                          gaps.data(),
                          room,
                          codes ? codes->data() : nullptr,
                          predicted ? predicted->data() : nullptr,
                          wrong ? wrong->data() : nullptr,
                          n_samples,
                          n_columns,
                          n_categories,
                          width - kFirstFeature - 3 * n_columns - n_categories};
    require((!places || (places->shape(0) == values.shape(0) && places->shape(1) == values.shape(1))) &&
                first.shape(0) == values.shape(1) && gaps.shape(0) == values.shape(0) &&
                (!codes || codes->shape(0) == values.shape(0)) &&
                (!predicted || predicted->shape(0) == values.shape(0)) &&
                (!wrong || wrong->shape(0) == values.shape(0)) && before.shape(1) == after.shape(1) &&
                before.shape(0) <= after.shape(0) && part.n_classes >= 0 && n_categories >= 0,
            "arrays of unlike lengths");
    require(n_filled >= 0 && n_filled + n_samples <= kDriftBlock * static_cast<Index>(after.shape(0)),
            "more samples than rows of sums have room for");
    if (places)
        for (Index i = 0; i < n_samples * n_columns; ++i)
            require(part.places[i] < n_categories, "a place that is no category");
    if (codes)
        for (Index i = 0; i < n_samples; ++i) require(part.codes[i] >= kNone, "a code that is no class");
    nb::gil_scoped_release unlocked;
    std::fill(std::copy_n(before.data(), before.size(), after.data()), after.data() + after.size(), 0.0);
    return add_to_sums(part, n_filled, after.data());
}

Buckets buckets_of(const Array<double, 2>& rows, const Array<Index, 1>& sizes, const Array<const double, 2>& added) {
    require(sizes.shape(0) == static_cast<std::size_t>(kBucketLevels), "sizes must have a number for every level");
    const Index capacity = static_cast<Index>(rows.shape(0));
    Index n_rows = 0;
    for (Index level = 0; level < kBucketLevels; ++level) {
        const Index size = sizes.data()[level];
        require(size >= 0 && size <= kBucketsOfLevel && n_rows + size <= capacity, "sizes out of range");
        n_rows += size;
    }
    require(rows.shape(1) == added.shape(1) && rows.shape(1) >= 2, "arrays of unlike lengths");
    return Buckets(rows.data(), capacity, static_cast<Index>(rows.shape(1)), sizes.data());
}

void push(Buckets& buckets, const double* row) {
    require(buckets.has_room(), "more rows than there is room for");
    buckets.push(row);
}

void drift_push(Array<double, 2> rows, Array<Index, 1> sizes, Array<const double, 2> added) {
    Buckets buckets = buckets_of(rows, sizes, added);
    for (Index i = 0; i < static_cast<Index>(added.shape(0)); ++i) push(buckets, added.data() + i * buckets.width());
}

Index drift_window(Array<double, 2> rows, Array<Index, 1> sizes, Array<const double, 2> added,
                   Array<const Index, 1> stops, Index next, Array<Index, 1> start, Array<Index, 1> cut,
                   Array<double, 2> parts) {
    Buckets buckets = buckets_of(rows, sizes, added);
    const Index n_added = static_cast<Index>(added.shape(0)), n_stops = static_cast<Index>(stops.shape(0));
    const Index n_sums = buckets.width() - 1;
    require(start.shape(0) == 1 && cut.shape(0) == 4 && parts.shape(0) == 2 &&
                parts.shape(1) == static_cast<std::size_t>(n_sums) && next >= 0,
            "arrays of unlike lengths");
    Window window(buckets);
    cut.data()[0] = kNone;
    Index at = next > 0 && next <= n_stops ? stops.data()[next - 1] : 0;
    while (next < n_stops && cut.data()[0] == kNone) {
        const Index stop = stops.data()[next++];
        require(at >= 0 && at <= stop && stop <= n_added, "stops out of range");
        bool is_new = false;
        for (; at < stop; ++at) {
            const double* const row = added.data() + at * buckets.width();
            if (!(row[1] > 0.0)) continue;
            push(buckets, row);
            is_new = true;
        }
        if (!is_new) continue;
        for (WindowCut found = window.cut(); found.place != kNone; found = window.cut()) {
            if (cut.data()[0] == kNone) {
                const double* const before = window.sum(found.place);
                const double* const total = window.sum(buckets.n_rows() - 1);
                const Index ends[3] = {start.data()[0], static_cast<Index>(buckets.row(found.place)[0]),
                                       static_cast<Index>(buckets.row(buckets.n_rows() - 1)[0])};
                cut.data()[0] = found.series;
                std::copy_n(ends, 3, cut.data() + 1);
                std::copy_n(before, n_sums, parts.data());
                for (Index j = 0; j < n_sums; ++j) parts.data()[n_sums + j] = total[j] - before[j];
            }
            start.data()[0] = static_cast<Index>(buckets.row(0)[0]);
            buckets.drop_oldest();
        }
    }
    return next;
}

Index drift_features(Array<double, 2> rows, Array<Index, 1> sizes, Array<const double, 2> added,
                     Array<const Index, 1> columns, Array<Index, 1> starts, Array<Index, 1> changes,
                     Array<double, 1> excess) {
    Buckets buckets = buckets_of(rows, sizes, added);
    const Index n_categories = static_cast<Index>(columns.shape(0)), n_added = static_cast<Index>(added.shape(0));
    const Index n_columns = static_cast<Index>(starts.shape(0)) - n_categories;
    require(n_columns >= 0 && buckets.width() == 2 + 3 * n_columns + n_categories &&
                changes.shape(0) == starts.shape(0) && excess.shape(0) == starts.shape(0),
            "arrays of unlike lengths");
    for (Index i = 0; i < n_categories; ++i)
        require(columns.data()[i] >= 0 && columns.data()[i] < n_columns, "a category of no column");
    for (Index next = 0; next < n_added; ++next) {
        const double* const row = added.data() + next * buckets.width();
        push(buckets, row);
        if (!features_are_checked(static_cast<Index>(row[0]))) continue;
        FeatureWindows windows(buckets, n_columns, columns.data(), n_categories, starts.data());
        if (windows.cut({changes.data(), excess.data()})) return next + 1;
    }
    std::fill_n(changes.data(), changes.size(), kNone);
    return n_added;
}

}  // namespace

void bind_drift(nb::module_& module) {
    module.def("drift_sums", &drift_sums, "values"_a.noconvert(), "places"_a.noconvert().none(), "first"_a.noconvert(),
               "gaps"_a.noconvert(), "room"_a, "codes"_a.noconvert().none(), "predicted"_a.noconvert().none(),
               "wrong"_a.noconvert().none(), "n_categories"_a, "n_filled"_a, "before"_a.noconvert(),
               "after"_a.noconvert());
    module.def("drift_push", &drift_push, "rows"_a.noconvert(), "sizes"_a.noconvert(), "added"_a.noconvert());
    module.def("drift_window", &drift_window, "rows"_a.noconvert(), "sizes"_a.noconvert(), "added"_a.noconvert(),
               "stops"_a.noconvert(), "next"_a, "start"_a.noconvert(), "cut"_a.noconvert(), "parts"_a.noconvert());
    module.def("drift_features", &drift_features, "rows"_a.noconvert(), "sizes"_a.noconvert(), "added"_a.noconvert(),
               "columns"_a.noconvert(), "starts"_a.noconvert(), "changes"_a.noconvert(), "excess"_a.noconvert());
}

}  // namespace sslart
