// Utilities of the bindings: borrowed arrays, shape checks, and work that Ctrl-C or another thread can stop.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "art/model.hpp"
#include "runtime/interrupt.hpp"

namespace sslart {

template <class T, int N>
using Array = nanobind::ndarray<T, nanobind::ndim<N>, nanobind::c_contig, nanobind::device::cpu>;
using StopFlag = Array<const std::uint8_t, 1>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// Runs work without the interpreter lock. It stops where another thread has set the flag, or where this is the main
// thread and a signal handler has raised an exception, which then continues into Python.
template <class Work>
void run_interruptible(const StopFlag& stop, Work work) {
    require(stop.shape(0) == 1, "stop must have length 1");
    bool raised = false;
    const volatile std::uint8_t* flag = stop.data();
    Interrupt interrupt([&raised, flag] {
        if (raised || *flag) return true;
        nanobind::gil_scoped_acquire lock;
        raised = PyErr_CheckSignals() != 0;
        return raised;
    });
    {
        nanobind::gil_scoped_release unlocked;
        work(interrupt);
    }
    if (raised) throw nanobind::python_error();
}

// Checks the arrays of trees, and returns how many features samples must have.
Index check_forest(const Array<const Index, 1>& roots, const Array<const Index, 1>& features,
                   const Array<const double, 1>& thresholds, const Array<const Index, 1>& left,
                   const Array<const double, 1>& shares, const Array<const double, 2>& values);

void bind_boxes(nanobind::module_& module);
void bind_evidence(nanobind::module_& module);
void bind_algebra(nanobind::module_& module);
void bind_trees(nanobind::module_& module);
void bind_joining(nanobind::module_& module);
void bind_drift(nanobind::module_& module);

}  // namespace sslart
