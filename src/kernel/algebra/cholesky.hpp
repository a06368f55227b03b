// Cholesky decomposition, with solves and inverses. Matrices are stored row by row.
//
// All of it halves the matrix until what is left is small, so that nearly all work is products of matrices. The order in
// which an entry gets its products is that of the textbook's loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "algebra/products.hpp"

namespace sslart {

class Cholesky {
public:
    explicit Cholesky(Products& products) : products_(products) {}

    // The lower triangle of a ← L with LL' = a. The square of a diagonal entry of L is at least `floors`: where a is a
    // sum of a positive semidefinite matrix and these on the diagonal, it is so but for rounding. What lies above the
    // diagonal is left without meaning.
    void factorise(double* a, Index stride, Index n, const double* floors) {
        if (n <= kBase) return factorise_directly(a, stride, n, floors);
        const Index half = half_of(n), rest = n - half;
        double* below = a + half * stride;
        double* corner = below + half;
        factorise(a, stride, half, floors);
        solve_right(a, stride, half, below, stride, rest);
        const View rows = rows_of(below, stride);
        products_.add(corner, stride, rest, rest, half, rows, rows.transposed(), -1.0, Part::lower);
        factorise(corner, stride, rest, floors + half);
    }

    // b (n × n_columns) ← (LL')⁻¹ b
    void solve(const double* factor, Index stride, Index n, double* b, Index b_stride, Index n_columns) {
        solve_lower(factor, stride, n, b, b_stride, n_columns);
        solve_upper(factor, stride, n, b, b_stride, n_columns);
    }

    // out ← (LL')⁻¹
    void invert(const double* factor, Index stride, Index n, double* out) {
        inverse_.assign(static_cast<std::size_t>(n * n), 0.0);
        for (Index first = 0; first < n; first += kChunk)
            invert_columns(factor, stride, n, first, inverse_.data() + first * n + first, n);
        std::fill_n(out, n * n, 0.0);
        for (Index first = 0; first < n; first += kChunk) {
            const Index rows = std::min(kChunk, n - first);
            const View own = rows_of(inverse_.data() + first * n, n);
            products_.add(out + first * n, n, rows, first + rows, n - first, own.from(0, first).transposed(), own, 1.0);
        }
        mirror(out, n);
    }

    // out ← the diagonal of (LL')⁻¹
    void inverse_diagonal(const double* factor, Index stride, Index n, double* out) {
        for (Index first = 0; first < n; first += kChunk) {
            const Index columns = std::min(kChunk, n - first);
            inverse_.assign(static_cast<std::size_t>((n - first) * columns), 0.0);
            invert_columns(factor, stride, n, first, inverse_.data(), columns);
            std::fill_n(out + first, columns, 0.0);
            for (Index k = 0; k < n - first; ++k)
                for (Index i = 0; i < columns; ++i)
                    out[first + i] += inverse_[k * columns + i] * inverse_[k * columns + i];
        }
    }

    // fills what lies above the diagonal with what lies below
    static void mirror(double* a, Index n) {
        constexpr Index kTile = 32;
        for (Index row = 0; row < n; row += kTile)
            for (Index column = 0; column <= row; column += kTile)
                for (Index i = row; i < std::min(row + kTile, n); ++i)
                    for (Index j = column; j < std::min(column + kTile, i); ++j) a[j * n + i] = a[i * n + j];
    }

private:
    static constexpr Index kChunk = 48;  // columns of a triangle that are taken together

    static Index half_of(Index n) { return (n / 2 + kBase - 1) / kBase * kBase; }

    static void factorise_directly(double* a, Index stride, Index n, const double* floors) {
        for (Index k = 0; k < n; ++k) {
            const double square = a[k * stride + k];
            const double pivot = std::sqrt(square > floors[k] ? square : floors[k]);
            a[k * stride + k] = pivot;
            for (Index i = k + 1; i < n; ++i) a[i * stride + k] /= pivot;
            for (Index i = k + 1; i < n; ++i)
                for (Index j = k + 1; j <= i; ++j) a[i * stride + j] -= a[i * stride + k] * a[j * stride + k];
        }
    }

    // b (n_rows × n) ← b L'⁻¹
    void solve_right(const double* factor, Index stride, Index n, double* b, Index b_stride, Index n_rows) {
        if (n <= kBase) return products_.loops().solve_right(factor, stride, n, b, b_stride, n_rows);
        const Index half = half_of(n), rest = n - half;
        const double* below = factor + half * stride;
        solve_right(factor, stride, half, b, b_stride, n_rows);
        products_.add(b + half, b_stride, n_rows, rest, half, rows_of(b, b_stride), rows_of(below, stride).transposed(),
                      -1.0);
        solve_right(below + half, stride, rest, b + half, b_stride, n_rows);
    }

    // b (n × n_columns) ← L⁻¹ b
    void solve_lower(const double* factor, Index stride, Index n, double* b, Index b_stride, Index n_columns) {
        if (n <= kBase) return products_.loops().solve_lower(factor, stride, n, b, b_stride, n_columns);
        const Index half = half_of(n), rest = n - half;
        const double* below = factor + half * stride;
        double* later = b + half * b_stride;
        solve_lower(factor, stride, half, b, b_stride, n_columns);
        products_.add(later, b_stride, rest, n_columns, half, rows_of(below, stride), rows_of(b, b_stride), -1.0);
        solve_lower(below + half, stride, rest, later, b_stride, n_columns);
    }

    // b (n × n_columns) ← L'⁻¹ b, from the last row to the first
    void solve_upper(const double* factor, Index stride, Index n, double* b, Index b_stride, Index n_columns) {
        if (n <= kBase) return products_.loops().solve_upper(factor, stride, n, b, b_stride, n_columns);
        const Index half = half_of(n), rest = n - half;
        const double* below = factor + half * stride;
        double* later = b + half * b_stride;
        solve_upper(below + half, stride, rest, later, b_stride, n_columns);
        const View from_last{below + (rest - 1) * stride, 1, -stride};
        const View rows_from_last{later + (rest - 1) * b_stride, -b_stride, 1};
        products_.add(b, b_stride, half, n_columns, rest, from_last, rows_from_last, -1.0);
        solve_upper(factor, stride, half, b, b_stride, n_columns);
    }

    // kChunk columns of L⁻¹ from the first on, without the rows above, which are zero; out must be zero
    void invert_columns(const double* factor, Index stride, Index n, Index first, double* out, Index out_stride) {
        const Index columns = std::min(kChunk, n - first);
        for (Index k = 0; k < columns; ++k) out[k * out_stride + k] = 1.0;
        solve_lower(factor + first * stride + first, stride, n - first, out, out_stride, columns);
    }

    Products& products_;
    std::vector<double> inverse_;
};

}  // namespace sslart
