// The functions of the Python module for linear algebra: stacks of matrices, one after another.
#include "algebra/cholesky.hpp"
#include "algebra/updates.hpp"
#include "bindings.hpp"
#include "runtime/dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sslart {

namespace {

Index size(std::size_t n) { return static_cast<Index>(n); }

template <class Work>
void with_products(const StopFlag& stop, Work work) {
    const AlgebraLoops& loops = chosen_instructions().load()->algebra;
    run_interruptible(stop, [&](Interrupt& interrupt) {
        Products products(loops, interrupt);
        work(products);
    });
}

void multiply(Array<const double, 3> a, Array<const double, 3> b, Array<double, 3> out, bool a_transposed,
              bool b_transposed, StopFlag stop) {
    const Index n_matrices = size(out.shape(0)), m = size(out.shape(1)), n = size(out.shape(2));
    const Index a_rows = size(a.shape(1)), a_columns = size(a.shape(2));
    const Index b_rows = size(b.shape(1)), b_columns = size(b.shape(2));
    const Index depth = a_transposed ? a_rows : a_columns;
    require(size(a.shape(0)) == n_matrices && size(b.shape(0)) == n_matrices &&
                (a_transposed ? a_columns : a_rows) == m && (b_transposed ? b_columns : b_rows) == depth &&
                (b_transposed ? b_rows : b_columns) == n,
            "matrices whose shapes do not fit");
    with_products(stop, [&](Products& products) {
        std::fill_n(out.data(), n_matrices * m * n, 0.0);
        for (Index i = 0; i < n_matrices; ++i) {
            const View left = rows_of(a.data() + i * a_rows * a_columns, a_columns);
            const View right = rows_of(b.data() + i * b_rows * b_columns, b_columns);
            products.add(out.data() + i * m * n, n, m, n, depth, a_transposed ? left.transposed() : left,
                         b_transposed ? right.transposed() : right, 1.0);
        }
    });
}

void gram(Array<const double, 2> a, Array<double, 2> out, bool a_transposed, StopFlag stop) {
    const Index n = size(a.shape(a_transposed ? 1 : 0)), depth = size(a.shape(a_transposed ? 0 : 1));
    require(size(out.shape(0)) == n && size(out.shape(1)) == n, "out must have the shape (n, n)");
    with_products(stop, [&](Products& products) {
        std::fill_n(out.data(), n * n, 0.0);
        const View given = rows_of(a.data(), size(a.shape(1)));
        const View rows = a_transposed ? given.transposed() : given;
        products.add(out.data(), n, n, n, depth, rows, rows.transposed(), 1.0, Part::lower);
        Cholesky::mirror(out.data(), n);
    });
}

void require_factors(const Array<const double, 3>& factors) {
    require(factors.shape(1) == factors.shape(2), "factors must have the shape (n_matrices, n, n)");
}

void factorise(Array<double, 3> matrices, Array<const double, 2> floors, StopFlag stop) {
    const Index n_matrices = size(matrices.shape(0)), n = size(matrices.shape(1));
    require(size(matrices.shape(2)) == n && size(floors.shape(0)) == n_matrices && size(floors.shape(1)) == n,
            "matrices must have the shape (n_matrices, n, n), floors the shape (n_matrices, n)");
    with_products(stop, [&](Products& products) {
        Cholesky cholesky(products);
        for (Index i = 0; i < n_matrices; ++i) {
            double* own = matrices.data() + i * n * n;
            cholesky.factorise(own, n, n, floors.data() + i * n);
            for (Index row = 0; row < n; ++row) std::fill(own + row * n + row + 1, own + (row + 1) * n, 0.0);
        }
    });
}

void solve(Array<const double, 3> factors, Array<double, 3> right_sides, StopFlag stop) {
    require_factors(factors);
    const Index n_matrices = size(factors.shape(0)), n = size(factors.shape(1));
    const Index n_columns = size(right_sides.shape(2));
    require(size(right_sides.shape(0)) == n_matrices && size(right_sides.shape(1)) == n,
            "right_sides must have the shape (n_matrices, n, n_columns)");
    with_products(stop, [&](Products& products) {
        Cholesky cholesky(products);
        for (Index i = 0; i < n_matrices; ++i)
            cholesky.solve(factors.data() + i * n * n, n, n, right_sides.data() + i * n * n_columns, n_columns,
                           n_columns);
    });
}

void invert(Array<const double, 3> factors, Array<double, 3> out, StopFlag stop) {
    require_factors(factors);
    const Index n_matrices = size(factors.shape(0)), n = size(factors.shape(1));
    require(size(out.shape(0)) == n_matrices && size(out.shape(1)) == n && size(out.shape(2)) == n,
            "out must have the shape (n_matrices, n, n)");
    with_products(stop, [&](Products& products) {
        Cholesky cholesky(products);
        for (Index i = 0; i < n_matrices; ++i)
            cholesky.invert(factors.data() + i * n * n, n, n, out.data() + i * n * n);
    });
}

void inverse_diagonals(Array<const double, 3> factors, Array<double, 2> out, StopFlag stop) {
    require_factors(factors);
    const Index n_matrices = size(factors.shape(0)), n = size(factors.shape(1));
    require(size(out.shape(0)) == n_matrices && size(out.shape(1)) == n, "out must have the shape (n_matrices, n)");
    with_products(stop, [&](Products& products) {
        Cholesky cholesky(products);
        for (Index i = 0; i < n_matrices; ++i)
            cholesky.inverse_diagonal(factors.data() + i * n * n, n, n, out.data() + i * n);
    });
}

// All labels, one after another, in all regressions. The first one reads the inverses given and writes the next ones.
void update_regressions(Array<const double, 3> inverses, Array<double, 3> next, Array<double, 3> weights,
                        Array<const double, 2> values, Array<const Index, 1> targets,
                        Array<const double, 1> importances, Array<const double, 2> kept,
                        Array<const double, 1> ridges, Array<const double, 2> first, Index turns,
                        Array<double, 3> scores, StopFlag stop) {
    const Index n_regressions = size(inverses.shape(0)), n = size(inverses.shape(1));
    const Index n_labels = size(values.shape(0)), n_classes = size(weights.shape(2));
    require(size(inverses.shape(2)) == n && size(next.shape(0)) == n_regressions && size(next.shape(1)) == n &&
                size(next.shape(2)) == n && size(weights.shape(0)) == n_regressions && size(weights.shape(1)) == n,
            "inverses must have the shape (n_regressions, n, n), weights the shape (n_regressions, n, n_classes)");
    require(size(values.shape(1)) == n && size(targets.shape(0)) == n_labels &&
                size(importances.shape(0)) == n_labels && size(kept.shape(0)) == n_labels &&
                size(kept.shape(1)) == n_regressions && size(ridges.shape(0)) == n && size(first.shape(0)) == n &&
                size(first.shape(1)) == n_classes && size(scores.shape(0)) == n_labels &&
                size(scores.shape(1)) == n_regressions && size(scores.shape(2)) == n_classes && turns >= 0,
            "arrays of labels whose shapes do not fit");
    run_interruptible(stop, [&](Interrupt& interrupt) {
        if (n_labels == 0) std::copy_n(inverses.data(), n_regressions * n * n, next.data());
        RankOneUpdate update(chosen_instructions().load()->algebra);
        for (Index label = 0; label < n_labels && interrupt.may_continue(3 * n_regressions * n * n); ++label) {
            const Index place = (turns + label) % n;
            for (Index r = 0; r < n_regressions; ++r) {
                double* own_next = next.data() + r * n * n;
                const Regression own{label == 0 ? inverses.data() + r * n * n : own_next, own_next,
                                     weights.data() + r * n * n_classes, n, n_classes};
                const double share = kept.data()[label * n_regressions + r];
                update.learn(own, values.data() + label * n, targets.data()[label], importances.data()[label], share,
                             scores.data() + (label * n_regressions + r) * n_classes);
                if (share == 1.0) {
                    update.shrink(own);
                } else {
                    const double amount = ridges.data()[place] * (1.0 - share) * static_cast<double>(n);
                    update.shrink_and_forget(own, 1.0 / share, place, amount, first.data() + place * n_classes);
                }
            }
        }
    });
}

}  // namespace

void bind_algebra(nb::module_& module) {
    module.def("multiply", &multiply, "a"_a.noconvert(), "b"_a.noconvert(), "out"_a.noconvert(), "a_transposed"_a,
               "b_transposed"_a, "stop"_a.noconvert());
    module.def("gram", &gram, "a"_a.noconvert(), "out"_a.noconvert(), "a_transposed"_a,
               "stop"_a.noconvert());
    module.def("factorise", &factorise, "matrices"_a.noconvert(), "floors"_a.noconvert(), "stop"_a.noconvert());
    module.def("solve", &solve, "factors"_a.noconvert(), "right_sides"_a.noconvert(), "stop"_a.noconvert());
    module.def("invert", &invert, "factors"_a.noconvert(), "out"_a.noconvert(), "stop"_a.noconvert());
    module.def("inverse_diagonals", &inverse_diagonals, "factors"_a.noconvert(), "out"_a.noconvert(),
               "stop"_a.noconvert());
    module.def("update_regressions", &update_regressions, "inverses"_a.noconvert(), "next"_a.noconvert(),
               "weights"_a.noconvert(),
               "values"_a.noconvert(), "targets"_a.noconvert(), "importances"_a.noconvert(), "kept"_a.noconvert(),
               "ridges"_a.noconvert(), "first"_a.noconvert(), "turns"_a, "scores"_a.noconvert(),
               "stop"_a.noconvert());
}

}  // namespace sslart
