// Products of matrices: tiles of the result in registers, both factors packed so that tiles read them in order.
#pragma once

#include <algorithm>
#include <vector>

#include "algebra/loops.hpp"
#include "art/model.hpp"
#include "runtime/interrupt.hpp"

namespace sslart {

// A strided view of a matrix, which may be transposed or reversed.
struct View {
    const double* values;
    Index row_stride;
    Index column_stride;

    View from(Index row, Index column) const {
        return {values + row * row_stride + column * column_stride, row_stride, column_stride};
    }
    View transposed() const { return {values, column_stride, row_stride}; }
    double at(Index row, Index column) const { return values[row * row_stride + column * column_stride]; }
};

inline View rows_of(const double* values, Index stride) { return {values, stride, 1}; }

enum class Part { whole, lower };

class Products {
public:
    Products(const AlgebraLoops& loops, Interrupt& interrupt) : loops_(loops), interrupt_(interrupt) {}

    const AlgebraLoops& loops() const { return loops_; }
    bool stopped() const { return stopped_; }

    // c (m × n, columns side by side) += sign · a (m × depth) b (depth × n), one product after another.
    // Of a lower part, entries above the diagonal are left without meaning.
    void add(double* c, Index c_stride, Index m, Index n, Index depth, View a, View b, double sign,
             Part part = Part::whole) {
        for (Index column = 0; column < n; column += kColumns) {
            const Index n_columns = std::min(kColumns, n - column);
            for (Index k = 0; k < depth; k += kDepth) {
                const Index some = std::min(kDepth, depth - k);
                pack(packed_b_, b.from(k, column).transposed(), n_columns, some, loops_.tile_columns, 1.0);
                const Index first_row = part == Part::lower ? column / kRows * kRows : 0;
                for (Index row = first_row; row < m; row += kRows) {
                    const Index n_rows = std::min(kRows, m - row);
                    if (stopped_ || !interrupt_.may_continue(n_rows * n_columns * some / 8)) {
                        stopped_ = true;
                        return;
                    }
                    pack(packed_a_, a.from(row, k), n_rows, some, loops_.tile_rows, sign);
                    add_tiles({c, c_stride, row, column, n_rows, n_columns, some}, part);
                }
            }
        }
    }

private:
    static constexpr Index kRows = 192, kColumns = 256, kDepth = 192;  // of blocks that stay in the cache

    struct Block {
        double* c;
        Index c_stride, row, column, n_rows, n_columns, depth;
    };

    void add_tiles(const Block& block, Part part) {
        const Index height = loops_.tile_rows, width = loops_.tile_columns;
        for (Index i = 0; i < block.n_rows; i += height) {
            const Index rows = std::min(height, block.n_rows - i);
            const double* a = packed_a_.data() + i * block.depth;
            for (Index j = 0; j < block.n_columns; j += width) {
                if (part == Part::lower && block.column + j > block.row + i + rows - 1) break;
                const Index columns = std::min(width, block.n_columns - j);
                const double* b = packed_b_.data() + j * block.depth;
                double* c = block.c + (block.row + i) * block.c_stride + block.column + j;
                if (rows == height && columns == width) {
                    loops_.add_tile(a, b, block.depth, c, block.c_stride);
                } else {
                    add_edge(a, b, block.depth, c, block.c_stride, rows, columns);
                }
            }
        }
    }

    // a tile with some rows or columns outside the block
    void add_edge(const double* a, const double* b, Index depth, double* c, Index c_stride, Index rows, Index columns) {
        const Index width = loops_.tile_columns;
        edge_.assign(static_cast<std::size_t>(loops_.tile_rows * width), 0.0);
        for (Index r = 0; r < rows; ++r) std::copy_n(c + r * c_stride, columns, edge_.data() + r * width);
        loops_.add_tile(a, b, depth, edge_.data(), width);
        for (Index r = 0; r < rows; ++r) std::copy_n(edge_.data() + r * width, columns, c + r * c_stride);
    }

    // rows × depth, in panels of so many rows; in each panel row beside row, filled up with zeros
    static void pack(std::vector<double>& to, View from, Index n_rows, Index depth, Index height, double sign) {
        const Index n_panels = (n_rows + height - 1) / height;
        to.resize(static_cast<std::size_t>(n_panels * height * depth));
        double* out = to.data();
        for (Index first = 0; first < n_rows; first += height, out += height * depth) {
            const Index rows = std::min(height, n_rows - first);
            if (rows < height) std::fill_n(out, height * depth, 0.0);
            const View own = from.from(first, 0);
            if (own.row_stride == 1) {
                for (Index k = 0; k < depth; ++k)
                    for (Index r = 0; r < rows; ++r)
                        out[k * height + r] = sign * own.values[k * own.column_stride + r];
            } else {
                for (Index r = 0; r < rows; ++r)
                    for (Index k = 0; k < depth; ++k) out[k * height + r] = sign * own.at(r, k);
            }
        }
    }

    const AlgebraLoops& loops_;
    Interrupt& interrupt_;
    bool stopped_ = false;
    std::vector<double> packed_a_, packed_b_, edge_;
};

}  // namespace sslart
