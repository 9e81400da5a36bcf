#pragma once

#include "dsl/dsl.h"

/// Parts of kernels: tiles of MX operands from the memory orders of kernels/host/shuffle.h. Tiles are loaded
/// in the order of memory and then permuted, so that contiguity stays visible to the compiler.
namespace nereid::kernels {

/// Where a tile begins in its matrix, and how large the matrix is.
struct TileOrigin {
  Int first_row;  ///< a multiple of the tile's rows
  Int row_count;  ///< of the matrix
  bool even_rows; ///< row_count is a multiple of the tile's rows
  Int first_k;    ///< a multiple of the tile's k
  Int k_count;    ///< of the matrix
  bool even_k;    ///< k_count is a multiple of the tile's k
};

/// What check_shape (problem_size.h) promises of sizes, for the compiler: offsets within tiles fit 31 bits.
void assume_rows(const Int &rows);
void assume_columns(const Int &columns);

/// bf16 [tile_rows, tile_k] of a row-major matrix; 0 where it is out of bounds.
Tile<bf16> load_rows(Ptr<const bf16> matrix, const TileOrigin &origin, int64_t tile_rows, int64_t tile_k);

/// Codes u8 [tile_rows, tile_k/2] of a row-major e2m1 matrix [.., k/2]; 0 where it is out of bounds.
Tile<u8> load_codes(Ptr<const u8> matrix, const TileOrigin &origin, int64_t tile_rows, int64_t tile_k);

/// Codes u8 [tile_k/2, tile_rows] of a (16,16)-shuffled B: dot_scaled's right operand. tile_rows is a
/// multiple of 16.
Tile<u8> load_shuffled_b(Ptr<const u8> b, const TileOrigin &origin, int64_t tile_rows, int64_t tile_k);

/// Scales u8 [tile_rows, tile_k/32] from shuffled order. Columns beyond K are 127, whatever memory holds
/// there; no byte beyond the padded rows and columns is read, rows beyond the padded ones have any scale but
/// NaN.
Tile<u8> load_shuffled_scales(Ptr<const u8> scales, const TileOrigin &origin, int64_t tile_rows,
                              int64_t tile_k);

/// Stores bytes u8 [rows, columns] into a row-major matrix of which a byte holds 2^log2_values values of k:
/// codes (1) or scales (5). Bytes out of bounds are left out.
void store_bytes(Ptr<u8> matrix, const TileOrigin &origin, const Tile<u8> &tile, int log2_values);

/// Stores scales u8 [rows, k/32] at their shuffled offsets; those out of bounds are left out.
void store_shuffled_scales(Ptr<u8> scales, const TileOrigin &origin, const Tile<u8> &tile);

} // namespace nereid::kernels
