#pragma once

#include "dsl/dsl.h"

/// Parts of kernels: tiles of MX operands from the memory orders of kernels/host/shuffle.h. Tiles are loaded
/// in the order of memory and then permuted, so that contiguity stays visible to the compiler.
namespace nereid::kernels {

/// Where a tile stands in its matrix and how much of the matrix there is.
struct TilePlace {
  Int first_row;   ///< a multiple of the tile's rows
  Int row_count;   ///< of the matrix
  bool whole_rows; ///< the tile's rows all exist
  Int first_k;     ///< a multiple of the tile's k
  Int k_count;     ///< of the matrix
  bool whole_k;    ///< the tile's columns all exist
};

/// What check_shape (choices.h) promises of sizes, for the compiler: offsets within tiles fit 31 bits.
void assume_rows(const Int &rows);
void assume_columns(const Int &columns);

/// bf16 [rows, columns] of a row-major matrix; what does not exist is 0.
Tile<bf16> load_rows(Ptr<const bf16> matrix, const TilePlace &place, int64_t rows, int64_t columns);

/// Codes u8 [rows, columns/2] of a row-major e2m1 matrix [.., k/2]; what does not exist is 0.
Tile<u8> load_codes(Ptr<const u8> matrix, const TilePlace &place, int64_t rows, int64_t columns);

/// Codes u8 [columns/2, rows] of a (16,16)-shuffled B: dot_scaled's right operand. rows is a multiple of 16.
Tile<u8> load_shuffled_b(Ptr<const u8> b, const TilePlace &place, int64_t rows, int64_t columns);

/// Scales u8 [rows, columns/32] from shuffled order. Columns beyond K are 127, whatever memory holds there;
/// no byte beyond the padded rows and columns is read, rows beyond the padded ones have any scale but NaN.
Tile<u8> load_shuffled_scales(Ptr<const u8> scales, const TilePlace &place, int64_t rows, int64_t columns);

/// Stores bytes u8 [rows, columns] into a row-major matrix of which a byte holds 2^log2_values values of k:
/// codes (1) or scales (5). Bytes that do not exist are left out.
void store_bytes(Ptr<u8> matrix, const TilePlace &place, const Tile<u8> &tile, int log2_values);

/// Stores scales u8 [rows, columns/32] at their shuffled offsets; rows and columns that do not exist are left
/// out.
void store_shuffled_scales(Ptr<u8> scales, const TilePlace &place, const Tile<u8> &tile);

} // namespace nereid::kernels
