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
constexpr int most_rows = 1 << 20;
constexpr int most_columns = 1 << 21;

/// i32 [n, 1] and [1, n] that count from 0.
Tile<i32> down(int64_t n) { return col(arange(0, n)); }
Tile<i32> across(int64_t n) { return row(arange(0, n)); }

/// A condition that may be known to hold: then there is none.
using Condition = std::optional<Tile<i1>>;

template <class Make> Condition unless(bool known, const Make &make) {
  return known ? Condition() : Condition(make());
}

Condition both(const Condition &a, const Condition &b) {
  if (a && b)
    return *a & *b;
  return a ? a : b;
}

Condition rows_exist(const TilePlace &place, int64_t rows) {
  return unless(place.whole_rows, [&] { return place.first_row + down(rows) < place.row_count; });
}
Condition columns_exist(const TilePlace &place, int64_t columns) {
  return unless(place.whole_k, [&] { return place.first_k + across(columns) < place.k_count; });
}

template <class T> Tile<T> load_where(Ptr<const T> pointers, const Condition &exists, int otherwise) {
  return exists ? load(pointers, *exists, otherwise) : load(pointers);
}

/// Bytes of shuffled scales of 32 rows.
Int scale_block_bytes(const TilePlace &place) { return ((place.k_count + (scale_tile_k - 1)) >> 8) << 8; }

template <class T> Ptr<T> scale_base(Ptr<T> scales, const TilePlace &place) {
  return scales + (place.first_row >> 5).to<i64>() * scale_block_bytes(place).to<i64>() +
         ((place.first_k >> 8) << 8);
}

/// Offsets from scale_base of whole 32 x 256 tiles in the order of memory, i32 [rows/32, columns].
Tile<i32> tile_offsets(const TilePlace &place, int64_t rows, int64_t columns) {
  return down(rows / scale_tile_rows) * scale_block_bytes(place) + across(columns);
}

/// Which of tile_offsets lie in the padded matrix. Aligned tiles that divide the padding unit always do.
Condition tile_offsets_exist(const TilePlace &place, int64_t rows, int64_t columns) {
  const Condition rows_there = unless(place.whole_rows || scale_tile_k % rows == 0, [&] {
    const Int padded_rows = ((place.row_count + 255) >> 8) << 8;
    return place.first_row + down(rows / scale_tile_rows) * scale_tile_rows < padded_rows;
  });
  const Condition columns_there = unless(place.whole_k || scale_tile_k % columns == 0, [&] {
    return place.first_k + across(columns) < scale_block_bytes(place);
  });
  return both(rows_there, columns_there);
}

/// Offsets from scale_base of single scales, i32 [rows, columns/32].
Tile<i32> single_offsets(const TilePlace &place, int64_t rows, int64_t columns) {
  const Tile<i32> row = (place.first_row & 31) + down(rows);
  const Tile<i32> column = ((place.first_k >> 5) & 7) + across(columns / 32);
  const Tile<i32> of_row = (row >> 5) * scale_block_bytes(place) + ((row & 31) >> 4) + (row & 15) * 4;
  const Tile<i32> of_column = (column >> 3) * 256 + ((column & 7) >> 2) * 2 + (column & 3) * 64;
  return of_row + of_column;
}

/// Which scale columns of the tile exist, i1 [1, columns/32].
Condition scale_columns_exist(const TilePlace &place, int64_t columns) {
  return unless(place.whole_k,
                [&] { return (place.first_k >> 5) + across(columns / 32) < (place.k_count >> 5); });
}

Condition single_scales_exist(const TilePlace &place, int64_t rows, int64_t columns) {
  return both(rows_exist(place, rows), scale_columns_exist(place, columns));
}

/// Memory order: 32 rows, 8 columns, column % 4, row % 16, column half, row half.
Tile<u8> scale_tile_parts(const Tile<u8> &memory, int64_t row_blocks, int64_t column_blocks) {
  return reshape(memory, {row_blocks, column_blocks, 4, 16, 2, 2});
}

/// Scales of rows that are an odd multiple of 16: each 16 of them take their half of a 32 x 256 tile of their
/// own.
Tile<u8> halves_of_scale_tiles(const Ptr<const u8> &scales, const TilePlace &place, int64_t rows,
                               int64_t columns) {
  const int64_t halves = rows / half_rows;
  const int64_t column_blocks = columns / scale_tile_k;
  const Tile<i32> half = ((place.first_row >> 4) & 1) + arange(0, halves);
  const Tile<i32> offsets = col(half >> 1) * scale_block_bytes(place) + across(columns);
  const Condition rows_there = unless(place.whole_rows || rows == half_rows, [&] {
    const Int padded_rows = ((place.row_count + 255) >> 8) << 8;
    return place.first_row + down(halves) * half_rows < padded_rows;
  });
  const Condition columns_there = unless(place.whole_k || scale_tile_k % columns == 0, [&] {
    return place.first_k + across(columns) < scale_block_bytes(place);
  });
  const Tile<u8> memory = load_where(scale_base(scales, place) + offsets, both(rows_there, columns_there), 0);
  const Tile<u8> parts = scale_tile_parts(memory, halves, column_blocks);
  const auto [lower, upper] = split(permute(parts, {0, 3, 1, 4, 2, 5}));
  const Tile<i1> is_upper = reshape((half & 1) != 0, {halves, 1, 1, 1, 1});
  return reshape(where(is_upper, upper, lower), {rows, column_blocks * 8});
}

template <class T, class Value>
void store_where(const Ptr<T> &pointers, const Value &value, const Condition &exists) {
  if (exists)
    store(pointers, value, *exists);
  else
    store(pointers, value);
}

} // namespace

void assume_rows(const Int &rows) { assume((rows > 0) & (rows <= most_rows)); }
void assume_columns(const Int &columns) { assume((columns > 0) & (columns <= most_columns)); }

Tile<bf16> load_rows(Ptr<const bf16> matrix, const TilePlace &place, int64_t rows, int64_t columns) {
  const Ptr<const bf16> first = matrix + place.first_row.to<i64>() * place.k_count.to<i64>() + place.first_k;
  const Tile<i32> offsets = down(rows) * place.k_count + across(columns);
  return load_where(first + offsets, both(rows_exist(place, rows), columns_exist(place, columns)), 0);
}

Tile<u8> load_codes(Ptr<const u8> matrix, const TilePlace &place, int64_t rows, int64_t columns) {
  // k / 2 as what it is: a multiple of 16.
  const Int row_bytes = (place.k_count >> 5) << 4;
  const Int first_byte = place.first_k >> 1;
  const Ptr<const u8> first = matrix + place.first_row.to<i64>() * row_bytes.to<i64>() + first_byte;
  const Tile<i32> offsets = down(rows) * row_bytes + across(columns / 2);
  const Condition bytes_there =
      unless(place.whole_k, [&] { return first_byte + across(columns / 2) < row_bytes; });
  const Condition exists = both(rows_exist(place, rows), bytes_there);
  return load_where(first + offsets, exists, 0);
}

Tile<u8> load_shuffled_b(Ptr<const u8> b, const TilePlace &place, int64_t rows, int64_t columns) {
  const int64_t blocks = rows / half_rows;
  const int64_t bytes = columns / 2 * half_rows;
  const Int block_bytes = place.k_count * 8;
  const Int first_byte = place.first_k * 8;
  const Ptr<const u8> first = b + (place.first_row >> 4).to<i64>() * block_bytes.to<i64>() + first_byte;
  const Tile<i32> offsets = down(blocks) * block_bytes + across(bytes);
  const Condition blocks_there = unless(
      place.whole_rows, [&] { return (place.first_row >> 4) + down(blocks) < (place.row_count >> 4); });
  const Condition bytes_there =
      unless(place.whole_k, [&] { return first_byte + across(bytes) < block_bytes; });
  const Condition exists = both(blocks_there, bytes_there);
  const Tile<u8> memory = load_where(first + offsets, exists, 0);
  // Memory order: block of 16 rows, 16 bytes of k, row, byte.
  const Tile<u8> parts = reshape(memory, {blocks, columns / 32, half_rows, 16});
  return reshape(permute(parts, {1, 3, 0, 2}), {columns / 2, rows});
}

Tile<u8> load_shuffled_scales(Ptr<const u8> scales, const TilePlace &place, int64_t rows, int64_t columns) {
  const bool tiled_rows = rows % half_rows == 0;
  const bool tiled_columns = columns % scale_tile_k == 0 || columns == half_k;
  if (!tiled_rows || !tiled_columns)
    return load_where(scale_base(scales, place) + single_offsets(place, rows, columns),
                      single_scales_exist(place, rows, columns), scale_of_one);

  const int64_t loaded_columns = std::max(columns, scale_tile_k);
  const int64_t column_blocks = loaded_columns / scale_tile_k;
  const auto all_rows = [&]() -> Tile<u8> {
    if (rows % scale_tile_rows != 0)
      return halves_of_scale_tiles(scales, place, rows, loaded_columns);
    const Tile<u8> memory = load_where(scale_base(scales, place) + tile_offsets(place, rows, loaded_columns),
                                       tile_offsets_exist(place, rows, loaded_columns), 0);
    const Tile<u8> parts = scale_tile_parts(memory, rows / scale_tile_rows, column_blocks);
    return reshape(permute(parts, {0, 5, 3, 1, 4, 2}), {rows, column_blocks * 8});
  };
  const auto all_columns = [&]() -> Tile<u8> {
    if (columns != half_k)
      return all_rows();
    const auto [lower, upper] = split(permute(reshape(all_rows(), {rows, 2, 4}), {0, 2, 1}));
    return where((place.first_k & 128) != 0, upper, lower);
  };
  const Tile<u8> tile = all_columns();
  const Condition exists = scale_columns_exist(place, columns);
  return exists ? where(*exists, tile, scale_of_one) : tile;
}

void store_bytes(Ptr<u8> matrix, const TilePlace &place, const Tile<u8> &tile, int log2_values) {
  const Int row_bytes = place.k_count >> log2_values;
  const Int first_byte = place.first_k >> log2_values;
  const Ptr<u8> first = matrix + place.first_row.to<i64>() * row_bytes.to<i64>() + first_byte;
  const Condition bytes_there =
      unless(place.whole_k, [&] { return first_byte + across(tile.size(1)) < row_bytes; });
  store_where(first + (down(tile.size(0)) * row_bytes + across(tile.size(1))), tile,
              both(rows_exist(place, tile.size(0)), bytes_there));
}

void store_shuffled_scales(Ptr<u8> scales, const TilePlace &place, const Tile<u8> &tile) {
  const int64_t rows = tile.size(0);
  const int64_t columns = tile.size(1) * 32;
  const Condition exists = single_scales_exist(place, rows, columns);
  if (rows % scale_tile_rows != 0 || columns % scale_tile_k != 0) {
    store_where(scale_base(scales, place) + single_offsets(place, rows, columns), tile, exists);
    return;
  }
  // Whole dwords are stored: padding inside the tile is written as padding.
  const Tile<u8> padded = exists ? where(*exists, tile, scale_of_one) : tile;
  const int64_t row_blocks = rows / scale_tile_rows;
  const int64_t column_blocks = columns / scale_tile_k;
  const Tile<u8> parts = reshape(padded, {row_blocks, 2, 16, column_blocks, 2, 4});
  const Tile<u8> memory = reshape(permute(parts, {0, 3, 5, 2, 4, 1}), {row_blocks, columns});
  store_where(scale_base(scales, place) + tile_offsets(place, rows, columns), memory,
              tile_offsets_exist(place, rows, columns));
}

} // namespace nereid::kernels
