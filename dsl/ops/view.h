#pragma once

#include <optional>

#include "dsl/ops/memory.h"
#include "dsl/ops/shape.h"

/// Matrices in global memory that know their size: tiles are loaded and stored by where they begin, and what
/// lies beyond the matrix is 0 in a load and left out of a store.
namespace nereid {

/// Rows and columns of a matrix; scalars or numbers, from 0 to 2^20 rows and 2^21 columns.
struct Extent2D {
  detail::Operand<i32> rows;
  detail::Operand<i32> columns;
};

/// Where a tile begins in its matrix; scalars or numbers that are not negative.
struct Position2D {
  detail::Operand<i32> row;
  detail::Operand<i32> column;
};

/// Rows and columns of a tile.
struct TileSize {
  int64_t rows;
  int64_t columns;
};

/// What the author promises of the tiles of a view, whose bounds are then not checked.
struct ViewOptions {
  bool even_rows = false;    ///< no tile goes beyond the last row
  bool even_columns = false; ///< nor beyond the last column
  bool is_small = false;     ///< fewer than 2^31 elements: offsets of rows by number take 32 bits
};

namespace detail {

/// A dimension of a view; a tile or a negative constant is an error. Promises that it is from 0 to `max`.
Int view_dimension(std::string_view what, const Operand<i32> &size, int64_t max);
/// Refuses tiles without elements, positions that are tiles or negative, and what goes beyond a size that is
/// known, against the promise of the options.
void check_view_tile(const Int &rows, const Int &columns, const ViewOptions &options,
                     const Position2D &position, const TileSize &tile, Where where);
/// Whether a tile is known to end inside its matrix: by the promise, or by numbers.
bool is_within(bool promised, const Operand<i32> &first, int64_t count, const Int &size);
/// Refuses a stride that is shorter than a row.
void check_row_stride(const Int &columns, const Operand<i32> &stride);

/// Numbers of rows as i32 [n, 1], given as that or [n]; another shape is an error, as what check_view_tile
/// refuses of columns.
Tile<i32> checked_rows(const Operand<i32> &row, const Int &columns, bool even_columns,
                       const Operand<i32> &first_column, int64_t count, Where where);
/// Which of them are rows of the matrix.
Tile<i1> rows_exist(const Tile<i32> &row, bool even_rows, const Int &rows);

/// Rows and columns of a tile that is stored; one of another rank is an error.
TileSize view_tile_size(const Shape &shape, Where where);

/// Of a tile: its elements, and which exist; no mask where all do.
template <class T> struct ViewTile {
  Ptr<T> pointers;
  std::optional<Tile<i1>> mask;
};

/// Both masks, as far as there are any.
std::optional<Tile<i1>> both(const std::optional<Tile<i1>> &a, const std::optional<Tile<i1>> &b);

/// Named in the error of storing another element than the view's.
class Elements_differ_convert_the_tile_with_to;

} // namespace detail

inline constexpr int64_t max_view_rows = int64_t{1} << 20;
inline constexpr int64_t max_view_columns = int64_t{1} << 21;

/// A row-major matrix in global memory: View2D<const f16> to read, View2D<f16> to read and write.
///
///     View2D a(a_ptr, {m, k});
///     Tile<f16> x = a.load({first_row, first_k}, {64, 32});
///
/// Errors (user), with the line of the call: dimensions and positions that are no scalars or negative, sizes
/// of tiles that are not positive.
template <class T> class View2D {
public:
  using element_type = std::remove_const_t<T>;

  View2D(const View2D &) = default;

  /// A view to write through also serves to read.
  View2D(const View2D<element_type> &other)
    requires std::is_const_v<T>
      : pointer_(other.pointer_), rows_(other.rows_), columns_(other.columns_), stride_(other.stride_),
        options_(other.options_) {}
  /// Rows lie one after another.
  View2D(const Ptr<T> &pointer, const Extent2D &extent, const ViewOptions &options = {},
         Where where = Where::current())
      : View2D(pointer, extent, extent.columns, options, where) {}
  /// A row begins `row_stride` elements after the one before it, at most 2^21.
  View2D(const Ptr<T> &pointer, const Extent2D &extent, const detail::Operand<i32> &row_stride,
         const ViewOptions &options = {}, Where where = Where::current())
      : View2D(detail::CallSite(where), pointer, extent, row_stride, options) {}

  /// [rows, columns] of the tile; 0 beyond the matrix.
  Tile<element_type> load(const Position2D &position, const TileSize &tile, Cache cache = Cache::Default,
                          const detail::Read &read = detail::Read(Where::current())) const {
    const detail::CallSite site(read.where());
    const auto [pointers, mask] = at(position, tile, read.where());
    return mask ? nereid::load(pointers, *mask, cache, read) : nereid::load(pointers, cache, read);
  }
  /// The same with `other` beyond the matrix.
  Tile<element_type> load(const Position2D &position, const TileSize &tile,
                          const detail::Operand<element_type> &other, Cache cache = Cache::Default,
                          const detail::Read &read = detail::Read(Where::current())) const {
    const detail::CallSite site(read.where());
    const auto [pointers, mask] = at(position, tile, read.where());
    return mask ? nereid::load(pointers, *mask, other, cache, read) : nereid::load(pointers, cache, read);
  }

  /// The tile's elements that are in the matrix.
  void store(const Position2D &position, const Tile<element_type> &tile, Cache cache = Cache::Default,
             const detail::Effect &effect = detail::Effect(Where::current())) const
    requires(!std::is_const_v<T>)
  {
    const detail::CallSite site(effect.where());
    const auto [pointers, mask] =
        at(position, detail::view_tile_size(tile.shape(), effect.where()), effect.where());
    if (mask)
      nereid::store(pointers, tile, *mask, cache, effect);
    else
      nereid::store(pointers, tile, cache, effect);
  }
  template <ElementType U>
    requires(!std::same_as<U, element_type>)
  detail::Elements_differ_convert_the_tile_with_to store(const Position2D &, const Tile<U> &) const = delete;

  /// Adds the tile's elements that are in the matrix; gives what was there, 0 beyond it.
  Tile<element_type> atomic_add(const Position2D &position, const Tile<element_type> &tile,
                                Order order = Order::AcqRel, Scope scope = Scope::Device,
                                const detail::Effect &effect = detail::Effect(Where::current())) const
    requires(!std::is_const_v<T>)
  {
    const detail::CallSite site(effect.where());
    const auto [pointers, mask] =
        at(position, detail::view_tile_size(tile.shape(), effect.where()), effect.where());
    return mask ? nereid::atomic_add(pointers, tile, *mask, order, scope, effect)
                : nereid::atomic_add(pointers, tile, order, scope, effect);
  }

  /// [n, columns] of n rows by number, i32 [n] or [n, 1], in any order; 0 in a row below 0 or beyond the
  /// last, and beyond the last column.
  Tile<element_type> gather(const detail::Operand<i32> &row, const detail::Operand<i32> &first_column,
                            int64_t columns, Cache cache = Cache::Default,
                            const detail::Read &read = detail::Read(Where::current())) const {
    const detail::CallSite site(read.where());
    const auto [pointers, mask] = at_rows(row, first_column, columns, read.where());
    return nereid::load(pointers, *mask, cache, read);
  }
  /// Rows of the tile to rows by number, as far as these are in the matrix. Of a row that is given twice
  /// either may remain.
  void scatter(const detail::Operand<i32> &row, const detail::Operand<i32> &first_column,
               const Tile<element_type> &tile, Cache cache = Cache::Default,
               const detail::Effect &effect = detail::Effect(Where::current())) const
    requires(!std::is_const_v<T>)
  {
    const detail::CallSite site(effect.where());
    const int64_t columns = detail::view_tile_size(tile.shape(), effect.where()).columns;
    const auto [pointers, mask] = at_rows(row, first_column, columns, effect.where());
    nereid::store(pointers, tile, *mask, cache, effect);
  }
  /// The same, added to what is there.
  void scatter_add(const detail::Operand<i32> &row, const detail::Operand<i32> &first_column,
                   const Tile<element_type> &tile, Order order = Order::AcqRel, Scope scope = Scope::Device,
                   const detail::Effect &effect = detail::Effect(Where::current())) const
    requires(!std::is_const_v<T>)
  {
    const detail::CallSite site(effect.where());
    const int64_t columns = detail::view_tile_size(tile.shape(), effect.where()).columns;
    const auto [pointers, mask] = at_rows(row, first_column, columns, effect.where());
    nereid::atomic_add(pointers, tile, *mask, order, scope, effect);
  }

  /// Matrix number `number` of several of this size, one after another.
  View2D matrix(const detail::Operand<i32> &number) const {
    const detail::CallSite site(number.where());
    const Int index = detail::make<i32>(number.id());
    return View2D(pointer_ + Long(index) * (Long(rows_) * Long(stride_)), *this, columns_);
  }
  /// `count` columns from `first` on.
  View2D columns(const detail::Operand<i32> &first, const detail::Operand<i32> &count) const {
    const detail::CallSite site(first.where());
    const Int width = detail::view_dimension("columns", count, max_view_columns);
    return View2D(pointer_ + Long(detail::make<i32>(first.id())), *this, width);
  }

  const Int &rows() const { return rows_; }
  const Int &columns() const { return columns_; }

private:
  template <class> friend class View2D;
  View2D(const detail::CallSite &, const Ptr<T> &pointer, const Extent2D &extent,
         const detail::Operand<i32> &row_stride, const ViewOptions &options)
      : pointer_(pointer), rows_(detail::view_dimension("rows", extent.rows, max_view_rows)),
        columns_(detail::view_dimension("columns", extent.columns, max_view_columns)),
        stride_(row_stride.id() == extent.columns.id()
                    ? columns_
                    : detail::view_dimension("row stride", row_stride, max_view_columns)),
        options_(options) {
    detail::check_row_stride(columns_, row_stride);
  }
  View2D(const Ptr<T> &pointer, const View2D &like, const Int &columns)
      : pointer_(pointer), rows_(like.rows_), columns_(columns), stride_(like.stride_),
        options_(like.options_) {}

  detail::ViewTile<T> at(const Position2D &position, const TileSize &tile, Where where) const {
    detail::check_view_tile(rows_, columns_, options_, position, tile, where);
    const Int first_row = detail::make<i32>(position.row.id());
    const Int first_column = detail::make<i32>(position.column.id());
    const Ptr<T> first = pointer_ + Long(first_row) * Long(stride_) + first_column;
    const Tile<i32> row = nereid::rows(tile.rows), column = cols(tile.columns);
    const Tile<i32> offsets = row * stride_ + column;
    std::optional<Tile<i1>> row_mask, column_mask;
    if (!detail::is_within(options_.even_rows, position.row, tile.rows, rows_))
      row_mask.emplace(first_row + row < rows_);
    if (!detail::is_within(options_.even_columns, position.column, tile.columns, columns_))
      column_mask.emplace(first_column + column < columns_);
    return {first + offsets, detail::both(row_mask, column_mask)};
  }

  detail::ViewTile<T> at_rows(const detail::Operand<i32> &row, const detail::Operand<i32> &first_column,
                              int64_t count, Where where) const {
    const Tile<i32> number =
        detail::checked_rows(row, columns_, options_.even_columns, first_column, count, where);
    const Tile<i32> column = detail::make<i32>(first_column.id()) + cols(count);
    const Ptr<T> pointers = options_.is_small ? pointer_ + (number * stride_ + column)
                                              : pointer_ + (Tile<i64>(number) * Long(stride_) + column);
    std::optional<Tile<i1>> column_mask;
    if (!detail::is_within(options_.even_columns, first_column, count, columns_))
      column_mask.emplace(column < columns_);
    return {pointers, detail::both(detail::rows_exist(number, options_.even_rows, rows_), column_mask)};
  }

  Ptr<T> pointer_;
  Int rows_, columns_, stride_;
  ViewOptions options_;
};

} // namespace nereid
