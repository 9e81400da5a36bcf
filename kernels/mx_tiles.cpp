// Tiles of MX operands from and to the memory orders of kernels/host/shuffle.h.
#include "kernels/mx_tiles.h"

#include <algorithm>
#include <optional>

namespace nereid::kernels {
namespace {

constexpr int64_t scale_tile_rows = 32; ///< rows and k whose scales are 256 bytes in a row
constexpr int64_t scale_tile_k = 256;
constexpr int64_t half_rows = 16;
constexpr int64_t half_k = 128;
constexpr int scale_of_one = 127;
constexpr int max_rows = 1 << 20;
constexpr int max_columns = 1 << 21;

/// A mask, or none where it is known to be true everywhere.
using Mask = std::optional<Tile<i1>>;

template <class Make> Mask unless(bool known, const Make &make) { return known ? Mask() : Mask(make()); }

Mask both(const Mask &a, const Mask &b) {
  if (a && b)
    return *a & *b;
  return a ? a : b;
}

Mask rows_in_bounds(const TileOrigin &origin, int64_t tile_rows) {
  return unless(origin.even_rows, [&] { return origin.first_row + rows(tile_rows) < origin.row_count; });
}
Mask k_in_bounds(const TileOrigin &origin, int64_t tile_k) {
  return unless(origin.even_k, [&] { return origin.first_k + cols(tile_k) < origin.k_count; });
}

template <class T> Tile<T> load_masked(Ptr<const T> pointers, const Mask &mask, int otherwise) {
  return mask ? load(pointers, *mask, otherwise) : load(pointers);
}

template <class T, class Value>
void store_masked(const Ptr<T> &pointers, const Value &value, const Mask &mask) {
  if (mask)
    store(pointers, value, *mask);
  else
    store(pointers, value);
}

/// Bytes of shuffled scales of 32 rows.
Int scale_block_bytes(const TileOrigin &origin) { return ((origin.k_count + (scale_tile_k - 1)) >> 8) << 8; }

template <class T> Ptr<T> scale_base(Ptr<T> scales, const TileOrigin &origin) {
  return scales + (origin.first_row >> 5).to<i64>() * scale_block_bytes(origin).to<i64>() +
         ((origin.first_k >> 8) << 8);
}

/// Offsets from scale_base of whole 32 x 256 tiles in the order of memory, i32 [tile_rows/32, tile_k].
Tile<i32> tile_offsets(const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  return rows(tile_rows / scale_tile_rows) * scale_block_bytes(origin) + cols(tile_k);
}

/// Which groups of `group` rows lie in the padded rows.
Mask groups_in_padded_rows(const TileOrigin &origin, int64_t groups, int64_t group) {
  const Int padded_rows = ((origin.row_count + 255) >> 8) << 8;
  return origin.first_row + rows(groups) * group < padded_rows;
}

/// Which of the tile's columns lie in the padded columns. Aligned tiles that divide the padding unit always
/// do.
Mask in_padded_columns(const TileOrigin &origin, int64_t tile_k) {
  return unless(origin.even_k || scale_tile_k % tile_k == 0,
                [&] { return origin.first_k + cols(tile_k) < scale_block_bytes(origin); });
}

/// Which of tile_offsets lie in the padded matrix.
Mask tile_offsets_in_bounds(const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  const bool even_rows = origin.even_rows || scale_tile_k % tile_rows == 0;
  const Mask row_mask =
      even_rows ? Mask() : groups_in_padded_rows(origin, tile_rows / scale_tile_rows, scale_tile_rows);
  return both(row_mask, in_padded_columns(origin, tile_k));
}

/// Offsets from scale_base of single scales, i32 [tile_rows, tile_k/32].
Tile<i32> single_offsets(const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  const Tile<i32> row = (origin.first_row & 31) + rows(tile_rows);
  const Tile<i32> column = ((origin.first_k >> 5) & 7) + cols(tile_k / 32);
  const Tile<i32> of_row = (row >> 5) * scale_block_bytes(origin) + ((row & 31) >> 4) + (row & 15) * 4;
  const Tile<i32> of_column = (column >> 3) * 256 + ((column & 7) >> 2) * 2 + (column & 3) * 64;
  return of_row + of_column;
}

/// Which scale columns of the tile are in bounds, i1 [1, tile_k/32].
Mask scale_columns_in_bounds(const TileOrigin &origin, int64_t tile_k) {
  return unless(origin.even_k,
                [&] { return (origin.first_k >> 5) + cols(tile_k / 32) < (origin.k_count >> 5); });
}

Mask single_scales_in_bounds(const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  return both(rows_in_bounds(origin, tile_rows), scale_columns_in_bounds(origin, tile_k));
}

/// Memory order: 32 rows, 8 columns, column % 4, row % 16, column half, row half.
Tile<u8> scale_tile_parts(const Tile<u8> &memory, int64_t row_blocks, int64_t column_blocks) {
  return reshape(memory, {row_blocks, column_blocks, 4, 16, 2, 2});
}

/// Scales of rows that are an odd multiple of 16: each 16 of them take their half of a 32 x 256 tile of their
/// own.
Tile<u8> halves_of_scale_tiles(const Ptr<const u8> &scales, const TileOrigin &origin, int64_t tile_rows,
                               int64_t tile_k) {
  const int64_t halves = tile_rows / half_rows;
  const int64_t column_blocks = tile_k / scale_tile_k;
  const Tile<i32> half = ((origin.first_row >> 4) & 1) + arange(0, halves);
  const Tile<i32> offsets = col(half >> 1) * scale_block_bytes(origin) + cols(tile_k);
  const Mask row_mask = unless(origin.even_rows || tile_rows == half_rows,
                               [&] { return *groups_in_padded_rows(origin, halves, half_rows); });
  const Mask mask = both(row_mask, in_padded_columns(origin, tile_k));
  const Tile<u8> memory = load_masked(scale_base(scales, origin) + offsets, mask, 0);
  const Tile<u8> parts = scale_tile_parts(memory, halves, column_blocks);
  const auto [lower, upper] = split(permute(parts, {0, 3, 1, 4, 2, 5}));
  const Tile<i1> is_upper = reshape((half & 1) != 0, {halves, 1, 1, 1, 1});
  return reshape(where(is_upper, upper, lower), {tile_rows, column_blocks * 8});
}

/// Scales of whole multiples of 16 rows and 256 k.
Tile<u8> load_scale_tiles(const Ptr<const u8> &scales, const TileOrigin &origin, int64_t tile_rows,
                          int64_t tile_k) {
  if (tile_rows % scale_tile_rows != 0)
    return halves_of_scale_tiles(scales, origin, tile_rows, tile_k);
  const int64_t column_blocks = tile_k / scale_tile_k;
  const Tile<u8> memory = load_masked(scale_base(scales, origin) + tile_offsets(origin, tile_rows, tile_k),
                                      tile_offsets_in_bounds(origin, tile_rows, tile_k), 0);
  const Tile<u8> parts = scale_tile_parts(memory, tile_rows / scale_tile_rows, column_blocks);
  return reshape(permute(parts, {0, 5, 3, 1, 4, 2}), {tile_rows, column_blocks * 8});
}

} // namespace

void assume_rows(const Int &rows) { assume((rows > 0) & (rows <= max_rows)); }
void assume_columns(const Int &columns) { assume((columns > 0) & (columns <= max_columns)); }

Tile<bf16> load_rows(Ptr<const bf16> matrix, const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  const Ptr<const bf16> first =
      matrix + origin.first_row.to<i64>() * origin.k_count.to<i64>() + origin.first_k;
  const Tile<i32> offsets = rows(tile_rows) * origin.k_count + cols(tile_k);
  return load_masked(first + offsets, both(rows_in_bounds(origin, tile_rows), k_in_bounds(origin, tile_k)),
                     0);
}

Tile<u8> load_codes(Ptr<const u8> matrix, const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  // k / 2 as what it is: a multiple of 16.
  const Int row_bytes = (origin.k_count >> 5) << 4;
  const Int first_byte = origin.first_k >> 1;
  const Ptr<const u8> first = matrix + origin.first_row.to<i64>() * row_bytes.to<i64>() + first_byte;
  const Tile<i32> offsets = rows(tile_rows) * row_bytes + cols(tile_k / 2);
  const Mask byte_mask = unless(origin.even_k, [&] { return first_byte + cols(tile_k / 2) < row_bytes; });
  return load_masked(first + offsets, both(rows_in_bounds(origin, tile_rows), byte_mask), 0);
}

Tile<u8> load_shuffled_b(Ptr<const u8> b, const TileOrigin &origin, int64_t tile_rows, int64_t tile_k) {
  const int64_t blocks = tile_rows / half_rows;
  const int64_t bytes = tile_k / 2 * half_rows;
  const Int block_bytes = origin.k_count * 8;
  const Int first_byte = origin.first_k * 8;
  const Ptr<const u8> first = b + (origin.first_row >> 4).to<i64>() * block_bytes.to<i64>() + first_byte;
  const Tile<i32> offsets = rows(blocks) * block_bytes + cols(bytes);
  const Mask block_mask = unless(
      origin.even_rows, [&] { return (origin.first_row >> 4) + rows(blocks) < (origin.row_count >> 4); });
  const Mask byte_mask = unless(origin.even_k, [&] { return first_byte + cols(bytes) < block_bytes; });
  const Tile<u8> memory = load_masked(first + offsets, both(block_mask, byte_mask), 0);
  // Memory order: block of 16 rows, 16 bytes of k, row, byte.
  const Tile<u8> parts = reshape(memory, {blocks, tile_k / 32, half_rows, 16});
  return reshape(permute(parts, {1, 3, 0, 2}), {tile_k / 2, tile_rows});
}

Tile<u8> load_shuffled_scales(Ptr<const u8> scales, const TileOrigin &origin, int64_t tile_rows,
                              int64_t tile_k) {
  const bool tiled_rows = tile_rows % half_rows == 0;
  const bool tiled_columns = tile_k % scale_tile_k == 0 || tile_k == half_k;
  if (!tiled_rows || !tiled_columns)
    return load_masked(scale_base(scales, origin) + single_offsets(origin, tile_rows, tile_k),
                       single_scales_in_bounds(origin, tile_rows, tile_k), scale_of_one);

  const auto all_columns = [&]() -> Tile<u8> {
    if (tile_k != half_k)
      return load_scale_tiles(scales, origin, tile_rows, tile_k);
    const Tile<u8> two_halves = load_scale_tiles(scales, origin, tile_rows, scale_tile_k);
    const auto [lower, upper] = split(permute(reshape(two_halves, {tile_rows, 2, 4}), {0, 2, 1}));
    return where((origin.first_k & 128) != 0, upper, lower);
  };
  const Tile<u8> tile = all_columns();
  const Mask mask = scale_columns_in_bounds(origin, tile_k);
  return mask ? where(*mask, tile, scale_of_one) : tile;
}

void store_bytes(Ptr<u8> matrix, const TileOrigin &origin, const Tile<u8> &tile, int log2_values) {
  const Int row_bytes = origin.k_count >> log2_values;
  const Int first_byte = origin.first_k >> log2_values;
  const Ptr<u8> first = matrix + origin.first_row.to<i64>() * row_bytes.to<i64>() + first_byte;
  const Mask byte_mask = unless(origin.even_k, [&] { return first_byte + cols(tile.size(1)) < row_bytes; });
  store_masked(first + (rows(tile.size(0)) * row_bytes + cols(tile.size(1))), tile,
               both(rows_in_bounds(origin, tile.size(0)), byte_mask));
}

void store_shuffled_scales(Ptr<u8> scales, const TileOrigin &origin, const Tile<u8> &tile) {
  const int64_t tile_rows = tile.size(0);
  const int64_t tile_k = tile.size(1) * 32;
  const Mask mask = single_scales_in_bounds(origin, tile_rows, tile_k);
  if (tile_rows % scale_tile_rows != 0 || tile_k % scale_tile_k != 0) {
    store_masked(scale_base(scales, origin) + single_offsets(origin, tile_rows, tile_k), tile, mask);
    return;
  }
  // Whole dwords are stored: padding inside the tile is written as padding.
  const Tile<u8> padded = mask ? where(*mask, tile, scale_of_one) : tile;
  const int64_t row_blocks = tile_rows / scale_tile_rows;
  const int64_t column_blocks = tile_k / scale_tile_k;
  const Tile<u8> parts = reshape(padded, {row_blocks, 2, 16, column_blocks, 2, 4});
  const Tile<u8> memory = reshape(permute(parts, {0, 3, 5, 2, 4, 1}), {row_blocks, tile_k});
  store_masked(scale_base(scales, origin) + tile_offsets(origin, tile_rows, tile_k), memory,
               tile_offsets_in_bounds(origin, tile_rows, tile_k));
}

} // namespace nereid::kernels
