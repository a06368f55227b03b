// The Python module, and its functions on rows: arrays are borrowed, the interpreter lock is released.
#include "bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "art/encode.hpp"
#include "art/row_keys.hpp"
#include "runtime/dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace sslart;

namespace {

bool encode_batch(Array<const double, 2> matrix, Array<const double, 1> lower, Array<const double, 1> upper,
                  Array<double, 2> coded) {
    require(lower.shape(0) == matrix.shape(1) && upper.shape(0) == matrix.shape(1) &&
                coded.shape(0) == matrix.shape(0) && coded.shape(1) == matrix.shape(1),
            "arrays of unlike lengths");
    nb::gil_scoped_release unlocked;
    return encode(matrix.data(), static_cast<Index>(matrix.shape(0)), static_cast<Index>(matrix.shape(1)), lower.data(),
                  upper.data(), coded.data(), chosen_instructions().load()->ops);
}

void row_keys_batch(Array<const double, 2> matrix, Array<const std::uint64_t, 1> factors, Array<std::uint64_t, 1> keys) {
    require(factors.shape(0) == matrix.shape(1) && keys.shape(0) == matrix.shape(0), "arrays of unlike lengths");
    nb::gil_scoped_release unlocked;
    row_keys(matrix.data(), static_cast<Index>(matrix.shape(0)), static_cast<Index>(matrix.shape(1)), factors.data(),
             keys.data());
}

}  // namespace

NB_MODULE(_kernel, module) {
#ifndef SSLART_SANITIZED
    // a thread that still runs when Python ends may hold a model: nothing that a user has to be warned of
    nb::set_leak_warnings(false);
#endif
    module.def("encode", &encode_batch, "matrix"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
               "coded"_a.noconvert());
    module.def("row_keys", &row_keys_batch, "matrix"_a.noconvert(), "factors"_a.noconvert(), "keys"_a.noconvert());
    bind_boxes(module);
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
