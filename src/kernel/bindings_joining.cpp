// Python bindings of joining boxes.
#include <algorithm>

#include "art/join.hpp"
#include "bindings.hpp"
#include "runtime/dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sslart {

namespace {

Index join(Array<const double, 2> weights, Array<const Index, 1> keys, Array<Index, 1> into, Array<double, 2> joined,
           Array<double, 1> vigilance, Index max_boxes, Index cell_size, StopFlag stop) {
    require(keys.shape(0) == weights.shape(0) && into.shape(0) == weights.shape(0) &&
                joined.shape(0) == weights.shape(0) && joined.shape(1) == weights.shape(1) &&
                weights.shape(1) % 2 == 0 && vigilance.shape(0) == 1,
            "arrays of unlike lengths");
    require(max_boxes >= 0 && cell_size >= 2, "max_boxes must be at least 0, cell_size at least 2");
    std::copy_n(weights.data(), weights.size(), joined.data());
    JoinRequest request{static_cast<Index>(weights.shape(0)),
                        static_cast<Index>(weights.shape(1)) / 2,
                        max_boxes,
                        cell_size,
                        vigilance.data()[0],
                        into.data(),
                        joined.data()};
    const VectorOps& ops = chosen_instructions().load()->ops;
    Index n_joined = 0;
    run_interruptible(stop, [&](Interrupt& interrupt) { n_joined = Joiner(request, keys.data(), ops, interrupt).join(); });
    vigilance.data()[0] = request.vigilance;
    return n_joined;
}

}  // namespace

void bind_joining(nb::module_& module) {
    module.def("join", &join, "weights"_a.noconvert(), "keys"_a.noconvert(), "into"_a.noconvert(),
               "joined"_a.noconvert(), "vigilance"_a.noconvert(), nb::kw_only(), "max_boxes"_a, "cell_size"_a,
               "stop"_a.noconvert());
}

}  // namespace sslart
