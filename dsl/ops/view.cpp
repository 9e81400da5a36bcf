// Checks of views, and what they promise of their sizes.
#include "dsl/ops/view.h"

#include <fmt/format.h>

#include "dsl/ops/statement.h"

namespace nereid::detail {
namespace {

std::optional<int64_t> constant_of(const Int &value) { return tracer().builder().constant_of(value.id()); }
std::optional<int64_t> constant_of(const Operand<i32> &value) {
  return tracer().builder().constant_of(value.id());
}

void check_scalar(std::string_view what, const Operand<i32> &value) {
  const ir::Type &type = tracer().builder().type(value.id());
  if (type.rank() != 0)
    at(value.where())
        .fail(fmt::format("view: the {} is a tile of shape {}", what, ir::text(type.shape)),
              "Give an Int or a number");
}

void check_position(std::string_view what, const Operand<i32> &position) {
  check_scalar(what, position);
  if (const std::optional<int64_t> known = constant_of(position); known && *known < 0)
    at(position.where())
        .fail(fmt::format("view: the {} is {}", what, *known), "Tiles begin inside the matrix, or beyond it");
}

/// A promise that no tile is cut off, against what is known.
void check_promise(std::string_view what, bool promised, const Operand<i32> &first, int64_t count,
                   const Int &size, Where where) {
  const std::optional<int64_t> begin = constant_of(first), end = constant_of(size);
  if (promised && begin && end && *begin + count > *end)
    at(where).fail(fmt::format("view: a tile has {0} {1} to {2} of {3}, against the promise of even_{0}",
                               what, *begin, *begin + count - 1, *end),
                   fmt::format("Leave even_{} out", what));
}

} // namespace

Int view_dimension(std::string_view what, const Operand<i32> &size, int64_t max) {
  const std::string number = what == "row stride" ? std::string(what) : fmt::format("number of {}", what);
  check_scalar(number, size);
  const Int value = make<i32>(size.id());
  const std::optional<int64_t> known = constant_of(size);
  if (!known)
    assume((value >= 0) & (value <= max));
  else if (*known < 0 || *known > max)
    at(size.where())
        .fail(fmt::format("view: the {} is {}", number, *known), fmt::format("It is from 0 to {}", max));
  return value;
}

void check_row_stride(const Int &columns, const Operand<i32> &stride) {
  const std::optional<int64_t> of_row = constant_of(columns), of_stride = constant_of(stride);
  if (of_row && of_stride && *of_stride < *of_row)
    at(stride.where())
        .fail(fmt::format("view: the row stride is {}, a row has {} columns", *of_stride, *of_row),
              "Give the distance between the first elements of two rows");
}

void check_view_tile(const Int &rows, const Int &columns, const ViewOptions &options,
                     const Position2D &position, const TileSize &tile, Where where) {
  if (tile.rows < 1 || tile.columns < 1)
    at(where).fail(fmt::format("view: a tile of {} rows and {} columns", tile.rows, tile.columns),
                   "Both are at least 1");
  check_position("row", position.row);
  check_position("column", position.column);
  check_promise("rows", options.even_rows, position.row, tile.rows, rows, where);
  check_promise("columns", options.even_columns, position.column, tile.columns, columns, where);
}

Tile<i32> checked_rows(const Operand<i32> &row, const Int &columns, bool even_columns,
                       const Operand<i32> &first_column, int64_t count, Where where) {
  ir::Builder &builder = at(where);
  const Shape shape = builder.type(row.id()).shape;
  const bool is_column = shape.size() == 2 && shape[1] == 1;
  if (shape.size() != 1 && !is_column)
    builder.fail(fmt::format("view: the numbers of rows are a tile of shape {}", ir::text(shape)),
                 "Give [n] or [n, 1]");
  if (count < 1)
    builder.fail(fmt::format("view: {} columns of each row", count), "At least 1");
  check_position("column", first_column);
  check_promise("columns", even_columns, first_column, count, columns, where);
  return make<i32>(is_column ? row.id() : builder.expand_dims(row.id(), 1));
}

Tile<i1> rows_exist(const Tile<i32> &row, bool even_rows, const Int &rows) {
  const Tile<i1> is_row = row >= 0;
  return even_rows ? is_row : is_row & (row < rows);
}

bool is_within(bool promised, const Operand<i32> &first, int64_t count, const Int &size) {
  const std::optional<int64_t> begin = constant_of(first), end = constant_of(size);
  return promised || (begin && end && *begin + count <= *end);
}

TileSize view_tile_size(const Shape &shape, Where where) {
  if (shape.size() != 2)
    at(where).fail(fmt::format("view: a tile of shape {} is stored", ir::text(shape)),
                   "It has rows and columns: use row(x), col(x) or reshape");
  return {shape[0], shape[1]};
}

std::optional<Tile<i1>> both(const std::optional<Tile<i1>> &a, const std::optional<Tile<i1>> &b) {
  if (a && b)
    return *a & *b;
  return a ? a : b;
}

} // namespace nereid::detail
