// The inner loops of linear algebra in double precision, compiled for each instruction set.
//
// Lanes belong to different results, and each result adds its products one after another, in the order of the sum. So
// neither the instruction set nor the size of a block has any influence on the bits.
#pragma once

#include "evidence/loops.hpp"

namespace sslart {

constexpr Index kBase = 16;  // triangles up to this size are solved directly

// One instruction set's loops. loops.inc describes them.
struct AlgebraLoops {
    using AddTile = void (*)(const double* a, const double* b, Index depth, double* c, Index c_stride);
    using SolveRight = void (*)(const double* factor, Index factor_stride, Index n, double* b, Index b_stride,
                                Index n_rows);
    using SolveLeft = void (*)(const double* factor, Index factor_stride, Index n, double* b, Index b_stride,
                               Index n_columns);
    using AddRows = void (*)(const double* rows, const double* values, Index n, double* out);
    using Shrink = void (*)(const double* from, double* to, Index n, const double* u, double gain);
    using ShrinkAndForget = void (*)(const double* from, double* to, Index n, const double* u, double gain,
                                     double scale, const double* v, double back);

    Index tile_rows, tile_columns;
    AddTile add_tile;
    SolveRight solve_right;
    SolveLeft solve_lower, solve_upper;
    AddRows add_rows;
    Shrink shrink;
    ShrinkAndForget shrink_and_forget;
};

}  // namespace sslart

#define SSLART_SET portable
#define SSLART_SET_TARGET
#define SSLART_SET_LANES 2
#define SSLART_TILE_ROWS 12
#include "algebra/loops.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES
#undef SSLART_TILE_ROWS

#ifdef SSLART_X86

#define SSLART_SET avx2
#define SSLART_SET_TARGET SSLART_AVX2
#define SSLART_SET_LANES 4
#define SSLART_TILE_ROWS 12
#include "algebra/loops.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES
#undef SSLART_TILE_ROWS

#define SSLART_SET avx512
#define SSLART_SET_TARGET SSLART_AVX512
#define SSLART_SET_LANES 8
#define SSLART_TILE_ROWS 16
#include "algebra/loops.inc"
#undef SSLART_SET
#undef SSLART_SET_TARGET
#undef SSLART_SET_LANES
#undef SSLART_TILE_ROWS

#endif  // SSLART_X86
