#pragma once

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "dsl/control.h"
#include "dsl/ops/common.h"
#include "dsl/ops/reduce.h"
#include "dsl/ops/shape.h"

/// Reductions and scans with a combining function of the author's.
///
/// The function is traced once, on scalars: `combine(a, b)` gives what two elements a and b are together, a
/// the earlier one along the axis. It must be associative, which is the author's promise; it need not be
/// commutative, and needs no neutral element. The order is fixed, on every device and for every number of
/// waves: neighbours 2i and 2i + 1 are combined first, then pairs of neighbours, as far as the power of two
/// in the size goes; the blocks that an odd factor makes then follow from first to last.
namespace nereid {

namespace detail {

/// A reduction or scan whose combining function is being traced.
class FoldTrace {
public:
  FoldTrace(Where where, ir::Opcode opcode, std::span<const ir::ValueId> values, int axis);
  ~FoldTrace();
  FoldTrace(const FoldTrace &) = delete;
  FoldTrace &operator=(const FoldTrace &) = delete;
  /// Number `i` of the function's scalars: the tiles' elements of the earlier side, then those of the later.
  ir::ValueId argument(size_t i) const { return arguments_[i]; }
  std::vector<ir::ValueId> end(std::span<const ir::ValueId> combined);

private:
  std::vector<ir::ValueId> held() const;
  Where where_;
  uint64_t trace_;
  bool ended_ = false;
  BodyTrace body_{std::nullopt};
  std::vector<unsigned> vars_;
  std::vector<ir::ValueId> before_;
  std::vector<ir::ValueId> arguments_;
};

/// Which axes a reduction removes.
struct FoldAxis {
  FoldAxis(int index) : along(axis(index)) {}
  FoldAxis(Axis axis) : along(axis) {}
  FoldAxis(AllAxes) : all(true) {}
  Axis along = axis(-1);
  bool all = false;
};

/// `combine` takes and gives tuples of scalars.
template <class... T, class F>
std::tuple<Tile<T>...> fold(Where where, ir::Opcode opcode, const std::tuple<Tile<T>...> &tiles, int axis,
                            F &&combine) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    const std::array<ir::ValueId, sizeof...(T)> values{std::get<I>(tiles).id(where)...};
    FoldTrace trace(where, opcode, values, axis);
    const auto combined = combine(std::tuple<Tile<T>...>(make<T>(trace.argument(I))...),
                                  std::tuple<Tile<T>...>(make<T>(trace.argument(sizeof...(T) + I))...));
    const std::array<ir::ValueId, sizeof...(T)> results{Operand<T>(std::get<I>(combined), where).id()...};
    const std::vector<ir::ValueId> folded = trace.end(results);
    return std::tuple<Tile<T>...>(make<T>(folded[I])...);
  }(std::index_sequence_for<T...>());
}

template <class... T, class F>
std::tuple<Tile<T>...> reduce(Where where, const std::tuple<Tile<T>...> &tiles, FoldAxis axis, F &&combine) {
  if (!axis.all) {
    std::tuple<Tile<T>...> result = fold(where, ir::Opcode::Reduce, tiles, axis.along.index, combine);
    if (!axis.along.keep)
      return result;
    const int rank = static_cast<int>(std::get<0>(tiles).rank());
    const int kept = axis.along.index < 0 ? axis.along.index + rank : axis.along.index;
    return std::apply(
        [&](const auto &...tile) { return std::tuple<Tile<T>...>(expand_dims(tile, kept, where)...); },
        result);
  }
  if (std::get<0>(tiles).rank() == 0)
    return tiles;
  return reduce(where, fold(where, ir::Opcode::Reduce, tiles, -1, combine), axis, combine);
}

template <class... X> auto tiles_of(const std::tuple<X...> &values) {
  return std::apply(
      [](const X &...x) { return std::tuple<Tile<ElementOf<X>>...>(make<ElementOf<X>>(id_of(x))...); },
      values);
}

template <TileLike X> std::tuple<Tile<ElementOf<X>>> tiles_of(const X &x) {
  return std::tuple<Tile<ElementOf<X>>>(make<ElementOf<X>>(id_of(x)));
}

/// The combining function of one tile as that of a tuple of one.
template <class F> auto of_tuples(F &combine) {
  return [&combine](const auto &a, const auto &b) {
    return std::tuple(combine(std::get<0>(a), std::get<0>(b)));
  };
}

} // namespace detail

/// The elements along an axis (an index, axis(n), keep_axis(n), or all_axes: all in row-major order) as one:
/// combine(Tile<T> a, Tile<T> b) of scalars gives a scalar.
///
///     Tile<f32> product = reduce(x, 1, [](auto a, auto b) { return a * b; });
template <detail::TileLike X, class F>
auto reduce(const X &x, detail::FoldAxis along, F &&combine, Where where = Where::current()) {
  return std::get<0>(detail::reduce(where, detail::tiles_of(x), along, detail::of_tuples(combine)));
}
/// The same of several tiles of one shape, whose elements are combined together: combine takes and gives
/// tuples.
///
///     auto [largest, where_it_is] = reduce(std::tuple(x, index), 0, [](auto a, auto b) {
///       auto [x, i] = a;
///       auto [y, j] = b;
///       return std::tuple(where(y > x, y, x), where(y > x, j, i));
///     });
template <detail::TileLike... X, class F>
auto reduce(const std::tuple<X...> &values, detail::FoldAxis along, F &&combine,
            Where where = Where::current()) {
  return detail::reduce(where, detail::tiles_of(values), along, combine);
}

/// Each element combined with all before it along an axis, itself included; the shape stays.
template <detail::TileLike X, class F>
auto scan(const X &x, int along, F &&combine, Where where = Where::current()) {
  return std::get<0>(
      detail::fold(where, ir::Opcode::Scan, detail::tiles_of(x), along, detail::of_tuples(combine)));
}
template <detail::TileLike... X, class F>
auto scan(const std::tuple<X...> &values, int along, F &&combine, Where where = Where::current()) {
  return detail::fold(where, ir::Opcode::Scan, detail::tiles_of(values), along, combine);
}

/// Running product along an axis, the element itself included; each product is rounded to the element.
template <detail::NumericTile X>
Tile<detail::ElementOf<X>> cumprod(const X &x, int along, Where where = Where::current()) {
  return scan(
      x, along,
      [&](const auto &a, const auto &b) {
        return detail::binary<detail::ElementOf<X>>(ir::Opcode::Mul, {a, where}, {b, where});
      },
      where);
}

} // namespace nereid
