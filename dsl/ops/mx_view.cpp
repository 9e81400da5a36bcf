// Microscaled tiles from and to their orders in memory: loaded in the order of memory and then permuted, so
// that contiguity stays visible to the compiler.
#include "dsl/ops/mx_view.h"

#include <fmt/format.h>

#include "dsl/ops/elementwise.h"

namespace nereid {
namespace {

using detail::both;

/// A tile's place in its matrix.
struct TileRegion {
  Int first_row;  ///< a multiple of the tile's rows
  Int row_count;  ///< of the matrix
  bool even_rows; ///< row_count is a multiple of the tile's rows
  Int first_k;    ///< a multiple of the tile's k
  Int k_count;    ///< of the matrix
  bool even_k;    ///< k_count is a multiple of the tile's k
};

constexpr int64_t scale_tile_rows = 32; ///< rows and k whose scales are 256 bytes in a row
constexpr int64_t scale_tile_k = 256;
constexpr int64_t half_rows = 16;
constexpr int64_t half_k = 128;
constexpr int scale_of_one = 127;

/// A mask, or none where it is known to be true everywhere.
using Mask = std::optional<Tile<i1>>;

template <class Make> Mask unless(bool known, const Make &make) { return known ? Mask() : Mask(make()); }

Mask rows_in_bounds(const TileRegion &region, int64_t tile_rows) {
  return unless(region.even_rows, [&] { return region.first_row + rows(tile_rows) < region.row_count; });
}
Tile<u8> load_masked(const Ptr<const u8> &pointers, const Mask &mask, int otherwise,
                     const detail::Read &read) {
  return mask ? load(pointers, *mask, otherwise, Cache::Default, read) : load(pointers, Cache::Default, read);
}

void store_masked(const Ptr<u8> &pointers, const Tile<u8> &value, const Mask &mask,
                  const detail::Effect &effect) {
  if (mask)
    store(pointers, value, *mask, Cache::Default, effect);
  else
    store(pointers, value, Cache::Default, effect);
}

/// Bytes of shuffled scales of 32 rows.
Int scale_block_bytes(const TileRegion &region) { return ((region.k_count + (scale_tile_k - 1)) >> 8) << 8; }

template <class T> Ptr<T> scale_base(const Ptr<T> &scales, const TileRegion &region) {
  return scales + (region.first_row >> 5).to<i64>() * scale_block_bytes(region).to<i64>() +
         ((region.first_k >> 8) << 8);
}

/// Offsets from scale_base of whole 32 x 256 tiles in the order of memory, i32 [tile_rows/32, tile_k].
Tile<i32> tile_offsets(const TileRegion &region, int64_t tile_rows, int64_t tile_k) {
  return rows(tile_rows / scale_tile_rows) * scale_block_bytes(region) + cols(tile_k);
}

/// Which groups of `group` rows lie in the padded rows.
Mask groups_in_padded_rows(const TileRegion &region, int64_t groups, int64_t group) {
  const Int padded_rows = ((region.row_count + 255) >> 8) << 8;
  return region.first_row + rows(groups) * group < padded_rows;
}

/// Which of the tile's columns lie in the padded columns. Aligned tiles that divide the padding unit always
/// do.
Mask in_padded_columns(const TileRegion &region, int64_t tile_k) {
  return unless(region.even_k || scale_tile_k % tile_k == 0,
                [&] { return region.first_k + cols(tile_k) < scale_block_bytes(region); });
}

/// Which of tile_offsets lie in the padded matrix.
Mask tile_offsets_in_bounds(const TileRegion &region, int64_t tile_rows, int64_t tile_k) {
  const bool even_rows = region.even_rows || scale_tile_k % tile_rows == 0;
  const Mask row_mask =
      even_rows ? Mask() : groups_in_padded_rows(region, tile_rows / scale_tile_rows, scale_tile_rows);
  return both(row_mask, in_padded_columns(region, tile_k));
}

/// Offsets from scale_base of single scales, i32 [tile_rows, tile_k/32].
Tile<i32> single_offsets(const TileRegion &region, int64_t tile_rows, int64_t tile_k) {
  const Tile<i32> row = (region.first_row & 31) + rows(tile_rows);
  const Tile<i32> column = ((region.first_k >> 5) & 7) + cols(tile_k / 32);
  const Tile<i32> of_row = (row >> 5) * scale_block_bytes(region) + ((row & 31) >> 4) + (row & 15) * 4;
  const Tile<i32> of_column = (column >> 3) * 256 + ((column & 7) >> 2) * 2 + (column & 3) * 64;
  return of_row + of_column;
}

/// Which scale columns of the tile are in bounds, i1 [1, tile_k/32].
Mask scale_columns_in_bounds(const TileRegion &region, int64_t tile_k) {
  return unless(region.even_k,
                [&] { return (region.first_k >> 5) + cols(tile_k / 32) < (region.k_count >> 5); });
}

Mask single_scales_in_bounds(const TileRegion &region, int64_t tile_rows, int64_t tile_k) {
  return both(rows_in_bounds(region, tile_rows), scale_columns_in_bounds(region, tile_k));
}

/// Memory order: 32 rows, 8 columns, column % 4, row % 16, column half, row half.
Tile<u8> scale_tile_parts(const Tile<u8> &memory, int64_t row_blocks, int64_t column_blocks) {
  return reshape(memory, {row_blocks, column_blocks, 4, 16, 2, 2});
}

/// Scales of rows that are an odd multiple of 16: each 16 of them take their half of a 32 x 256 tile of their
/// own.
Tile<u8> halves_of_scale_tiles(const Ptr<const u8> &scales, const TileRegion &region, int64_t tile_rows,
                               int64_t tile_k, const detail::Read &read) {
  const int64_t halves = tile_rows / half_rows;
  const int64_t column_blocks = tile_k / scale_tile_k;
  const Tile<i32> half = ((region.first_row >> 4) & 1) + arange(0, halves);
  const Tile<i32> offsets = col(half >> 1) * scale_block_bytes(region) + cols(tile_k);
  const Mask row_mask = unless(region.even_rows || tile_rows == half_rows,
                               [&] { return *groups_in_padded_rows(region, halves, half_rows); });
  const Mask mask = both(row_mask, in_padded_columns(region, tile_k));
  const Tile<u8> memory = load_masked(scale_base(scales, region) + offsets, mask, 0, read);
  const Tile<u8> parts = scale_tile_parts(memory, halves, column_blocks);
  const auto [lower, upper] = split(permute(parts, {0, 3, 1, 4, 2, 5}));
  const Tile<i1> is_upper = reshape((half & 1) != 0, {halves, 1, 1, 1, 1});
  return reshape(where(is_upper, upper, lower), {tile_rows, column_blocks * 8});
}

/// Scales of whole multiples of 16 rows and 256 k.
Tile<u8> load_scale_tiles(const Ptr<const u8> &scales, const TileRegion &region, int64_t tile_rows,
                          int64_t tile_k, const detail::Read &read) {
  if (tile_rows % scale_tile_rows != 0)
    return halves_of_scale_tiles(scales, region, tile_rows, tile_k, read);
  const int64_t column_blocks = tile_k / scale_tile_k;
  const Tile<u8> memory = load_masked(scale_base(scales, region) + tile_offsets(region, tile_rows, tile_k),
                                      tile_offsets_in_bounds(region, tile_rows, tile_k), 0, read);
  const Tile<u8> parts = scale_tile_parts(memory, tile_rows / scale_tile_rows, column_blocks);
  return reshape(permute(parts, {0, 5, 3, 1, 4, 2}), {tile_rows, column_blocks * 8});
}

/// Codes u8 [tile_rows, tile_k/2].
Tile<u8> load_shuffled_codes(const Ptr<const u8> &b, const TileRegion &region, int64_t tile_rows,
                             int64_t tile_k, const detail::Read &read) {
  const int64_t blocks = tile_rows / half_rows;
  const int64_t bytes = tile_k / 2 * half_rows;
  const Int block_bytes = region.k_count * 8;
  const Int first_byte = region.first_k * 8;
  const Ptr<const u8> first = b + (region.first_row >> 4).to<i64>() * block_bytes.to<i64>() + first_byte;
  const Tile<i32> offsets = rows(blocks) * block_bytes + cols(bytes);
  const Mask block_mask = unless(
      region.even_rows, [&] { return (region.first_row >> 4) + rows(blocks) < (region.row_count >> 4); });
  const Mask byte_mask = unless(region.even_k, [&] { return first_byte + cols(bytes) < block_bytes; });
  const Tile<u8> memory = load_masked(first + offsets, both(block_mask, byte_mask), 0, read);
  // Memory order: block of 16 rows, 16 bytes of k, row, byte.
  const Tile<u8> parts = reshape(memory, {blocks, tile_k / 32, half_rows, 16});
  return reshape(permute(parts, {0, 2, 1, 3}), {tile_rows, tile_k / 2});
}

/// Scales u8 [tile_rows, tile_k/32]. Columns beyond K are 127, whatever memory holds there; no byte beyond
/// the padded rows and columns is read, rows beyond the padded ones have any scale but NaN.
Tile<u8> load_shuffled_scales(const Ptr<const u8> &scales, const TileRegion &region, int64_t tile_rows,
                              int64_t tile_k, const detail::Read &read) {
  const bool tiled_rows = tile_rows % half_rows == 0;
  const bool tiled_columns = tile_k % scale_tile_k == 0 || tile_k == half_k;
  if (!tiled_rows || !tiled_columns)
    return load_masked(scale_base(scales, region) + single_offsets(region, tile_rows, tile_k),
                       single_scales_in_bounds(region, tile_rows, tile_k), scale_of_one, read);

  const auto all_columns = [&]() -> Tile<u8> {
    if (tile_k != half_k)
      return load_scale_tiles(scales, region, tile_rows, tile_k, read);
    const Tile<u8> two_halves = load_scale_tiles(scales, region, tile_rows, scale_tile_k, read);
    const auto [lower, upper] = split(permute(reshape(two_halves, {tile_rows, 2, 4}), {0, 2, 1}));
    return where((region.first_k & 128) != 0, upper, lower);
  };
  const Tile<u8> tile = all_columns();
  const Mask mask = scale_columns_in_bounds(region, tile_k);
  return mask ? where(*mask, tile, scale_of_one) : tile;
}

/// Those out of bounds are left out.
void store_shuffled_scales(const Ptr<u8> &scales, const TileRegion &region, const Tile<u8> &tile,
                           const detail::Effect &effect) {
  const int64_t tile_rows = tile.size(0);
  const int64_t tile_k = tile.size(1) * 32;
  const Mask mask = single_scales_in_bounds(region, tile_rows, tile_k);
  if (tile_rows % scale_tile_rows != 0 || tile_k % scale_tile_k != 0) {
    store_masked(scale_base(scales, region) + single_offsets(region, tile_rows, tile_k), tile, mask, effect);
    return;
  }
  // Whole dwords are stored: padding inside the tile is written as padding.
  const Tile<u8> padded = mask ? where(*mask, tile, scale_of_one) : tile;
  const int64_t row_blocks = tile_rows / scale_tile_rows;
  const int64_t column_blocks = tile_k / scale_tile_k;
  const Tile<u8> parts = reshape(padded, {row_blocks, 2, 16, column_blocks, 2, 4});
  const Tile<u8> memory = reshape(permute(parts, {0, 3, 5, 2, 4, 1}), {row_blocks, tile_k});
  store_masked(scale_base(scales, region) + tile_offsets(region, tile_rows, tile_k), memory,
               tile_offsets_in_bounds(region, tile_rows, tile_k), effect);
}

/// Bytes of a row of codes, as what they are: a multiple of a group's.
Int row_bytes(const Int &k_count, Format format) {
  const int64_t group_bytes = ir::scale_group * ir::facts(format).bits / 8;
  return group_bytes == 16 ? (k_count >> 5) << 4 : (k_count >> 5) * group_bytes;
}

/// The first byte of codes from first_k on.
Int first_code_byte(const Int &first_k, Format format) {
  const int64_t bits = ir::facts(format).bits;
  return bits == 4 ? first_k >> 1 : bits == 8 ? first_k : (first_k >> 5) * (4 * bits);
}

/// Bytes of rows by number of a row-major matrix.
Tile<u8> gather_bytes(const Ptr<const u8> &matrix, const Tile<i32> &row, const Tile<i1> &is_row,
                      const Int &row_bytes, const Int &first_byte, int64_t count,
                      const MxViewOptions &options, bool even_k, const detail::Read &read) {
  const Tile<i32> byte = first_byte + cols(count);
  const Ptr<const u8> pointers = options.is_small ? matrix + (row * row_bytes + byte)
                                                  : matrix + (Tile<i64>(row) * Long(row_bytes) + byte);
  return load(pointers, even_k ? is_row : is_row & (byte < row_bytes), Cache::Default, read);
}

/// Pointers to a tile of bytes of a row-major matrix and which are in bounds.
template <class T>
detail::ViewTile<T> row_major(const Ptr<T> &matrix, const TileRegion &region, const Int &row_bytes,
                              const Int &first_byte, int64_t tile_rows, int64_t tile_bytes) {
  const Ptr<T> first = matrix + Long(region.first_row) * Long(row_bytes) + first_byte;
  const Tile<i32> offsets = rows(tile_rows) * row_bytes + cols(tile_bytes);
  const Mask byte_mask = unless(region.even_k, [&] { return first_byte + cols(tile_bytes) < row_bytes; });
  return {first + offsets, both(rows_in_bounds(region, tile_rows), byte_mask)};
}

template <class T>
detail::ViewTile<T> row_major_codes(const Ptr<T> &codes, const TileRegion &region, Format format,
                                    int64_t tile_rows, int64_t tile_k) {
  return row_major(codes, region, row_bytes(region.k_count, format), first_code_byte(region.first_k, format),
                   tile_rows, tile_k * ir::facts(format).bits / 8);
}

template <class T>
detail::ViewTile<T> row_major_scales(const Ptr<T> &scales, const TileRegion &region, int64_t tile_rows,
                                     int64_t tile_k) {
  return row_major(scales, region, region.k_count >> 5, region.first_k >> 5, tile_rows,
                   tile_k / ir::scale_group);
}

void check_multiple(Where where, std::string_view what, int64_t value, int64_t unit) {
  if (value % unit != 0)
    detail::at(where).fail(fmt::format("view: the {} is {}", what, value),
                           fmt::format("It is a multiple of {}", unit));
}
void check_multiple(std::string_view what, const detail::Operand<i32> &value, int64_t unit) {
  if (const std::optional<int64_t> known = detail::tracer().builder().constant_of(value.id()))
    check_multiple(value.where(), what, *known, unit);
}

/// Refuses what the orders of a view do not have.
TileRegion checked_region(const Int &row_count, const Int &k_count, const MxViewOptions &options,
                          const Position2D &position, const TileSize &tile, Where where) {
  detail::check_view_tile(row_count, k_count, {options.even_rows, options.even_k}, position, tile, where);
  check_multiple(where, "k of a tile", tile.columns, ir::scale_group);
  check_multiple("first k", position.column, ir::scale_group);
  if (options.codes == MxOrder::Shuffled) {
    check_multiple(where, "number of rows of a tile of shuffled codes", tile.rows, half_rows);
    check_multiple("first row of shuffled codes", position.row, half_rows);
  }
  const auto scalar = [](const detail::Operand<i32> &value) { return detail::make<i32>(value.id()); };
  return {.first_row = scalar(position.row),
          .row_count = row_count,
          .even_rows = detail::is_within(options.even_rows, position.row, tile.rows, row_count),
          .first_k = scalar(position.column),
          .k_count = k_count,
          .even_k = detail::is_within(options.even_k, position.column, tile.columns, k_count)};
}

void check_options(const MxViewOptions &options, Where where) {
  const ir::FormatFacts &format = ir::facts(options.format);
  if (!format.scaled)
    detail::at(where).fail(fmt::format("view: {} is not a microscaling format", format.name),
                           "Use e2m1, e2m3, e3m2, e4m3 or e5m2");
  if (options.codes == MxOrder::Shuffled && format.bits != 4)
    detail::at(where).fail(fmt::format("view: shuffled codes of {}", format.name),
                           "The shuffled order is one of 4 bits: e2m1");
}

} // namespace

template <class Byte>
MxView2D<Byte>::MxView2D(const Ptr<Byte> &codes, const Ptr<Byte> &scales, const Extent2D &extent,
                         const MxViewOptions &options, Where where)
    : MxView2D(detail::CallSite(where), codes, scales, extent, options) {
  check_options(options, where);
  check_multiple("k", extent.columns, ir::scale_group);
}

template <class Byte>
MxView2D<Byte>::MxView2D(const detail::CallSite &, const Ptr<Byte> &codes, const Ptr<Byte> &scales,
                         const Extent2D &extent, const MxViewOptions &options)
    : codes_(codes), scales_(scales), rows_(detail::view_dimension("rows", extent.rows, max_view_rows)),
      k_(detail::view_dimension("columns", extent.columns, max_view_columns)), options_(options) {}

template <class Byte>
MxTile MxView2D<Byte>::load(const Position2D &position, const TileSize &tile,
                            const detail::Read &read) const {
  const detail::CallSite site(read.where());
  const TileRegion region = checked_region(rows_, k_, options_, position, tile, read.where());
  const auto codes = [&]() -> Tile<u8> {
    if (options_.codes == MxOrder::Shuffled)
      return load_shuffled_codes(codes_, region, tile.rows, tile.columns, read);
    const auto [pointers, mask] =
        row_major_codes<const u8>(codes_, region, options_.format, tile.rows, tile.columns);
    return load_masked(pointers, mask, 0, read);
  };
  const auto scales = [&]() -> Tile<u8> {
    if (options_.scales == MxOrder::Shuffled)
      return load_shuffled_scales(scales_, region, tile.rows, tile.columns, read);
    const auto [pointers, mask] = row_major_scales<const u8>(scales_, region, tile.rows, tile.columns);
    return load_masked(pointers, mask, 0, read);
  };
  const Tile<u8> loaded_codes = codes();
  return {loaded_codes, scales(), options_.format};
}

template <class Byte>
MxTile MxView2D<Byte>::gather(const detail::Operand<i32> &row, const detail::Operand<i32> &first_k, int64_t k,
                              const detail::Read &read) const {
  const detail::CallSite site(read.where());
  if (options_.codes == MxOrder::Shuffled || options_.scales == MxOrder::Shuffled)
    detail::at(read.where())
        .fail("view: rows by number of a shuffled matrix", "Gather from codes and scales in row-major order");
  const Tile<i32> number = detail::checked_rows(row, k_, options_.even_k, first_k, k, read.where());
  check_multiple(read.where(), "k of a tile", k, ir::scale_group);
  check_multiple("first k", first_k, ir::scale_group);
  const Tile<i1> is_row = detail::rows_exist(number, options_.even_rows, rows_);
  const bool even_k = detail::is_within(options_.even_k, first_k, k, k_);
  const Int first = detail::make<i32>(first_k.id());
  const Format format = options_.format;
  const Tile<u8> codes =
      gather_bytes(codes_, number, is_row, row_bytes(k_, format), first_code_byte(first, format),
                   k * ir::facts(format).bits / 8, options_, even_k, read);
  const Tile<u8> scales =
      gather_bytes(scales_, number, is_row, k_ >> 5, first >> 5, k / ir::scale_group, options_, even_k, read);
  return {codes, scales, format};
}

template <class Byte>
void MxView2D<Byte>::store(const Position2D &position, const MxTile &tile, const detail::Effect &effect) const
  requires(!std::is_const_v<Byte>)
{
  const detail::CallSite site(effect.where());
  const auto [row_count, group_count] = detail::view_tile_size(tile.scales.shape(), effect.where());
  const TileSize size{row_count, group_count * ir::scale_group};
  const TileRegion region = checked_region(rows_, k_, options_, position, size, effect.where());
  if (options_.codes == MxOrder::Shuffled || tile.format != options_.format)
    detail::at(effect.where())
        .fail(fmt::format("view: a tile of {} is stored to {}codes of {}", ir::facts(tile.format).name,
                          options_.codes == MxOrder::Shuffled ? "shuffled " : "",
                          ir::facts(options_.format).name),
              "Codes are stored in row-major order, in the format of the view");
  const auto [codes, code_mask] = row_major_codes(codes_, region, options_.format, size.rows, size.columns);
  store_masked(codes, tile.codes, code_mask, effect);
  if (options_.scales == MxOrder::Shuffled)
    return store_shuffled_scales(scales_, region, tile.scales, effect);
  const auto [scales, scale_mask] = row_major_scales(scales_, region, size.rows, size.columns);
  store_masked(scales, tile.scales, scale_mask, effect);
}

template <class Byte> MxView2D<Byte> MxView2D<Byte>::matrix(const detail::Operand<i32> &number) const {
  const detail::CallSite site(number.where());
  const Long index(detail::make<i32>(number.id()));
  const int64_t bits = ir::facts(options_.format).bits;
  const Int row_codes = bits == 4 ? k_ >> 1 : bits == 8 ? k_ : (k_ >> 5) * (4 * bits);
  const bool padded = options_.scales == MxOrder::Shuffled;
  const Int scale_rows = padded ? ((rows_ + 255) >> 8) << 8 : rows_;
  const Int row_scales = padded ? ((k_ + 255) >> 8) << 3 : k_ >> 5;
  const Ptr<Byte> codes = codes_ + index * (Long(rows_) * Long(row_codes));
  const Ptr<Byte> scales = scales_ + index * (Long(scale_rows) * Long(row_scales));
  return MxView2D(codes, scales, *this);
}

template class MxView2D<u8>;
template class MxView2D<const u8>;

} // namespace nereid
