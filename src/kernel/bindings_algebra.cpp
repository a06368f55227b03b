// The functions of the Python module for linear algebra: stacks of matrices, one after another.
#include "algebra/cholesky.hpp"
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
}

}  // namespace sslart
