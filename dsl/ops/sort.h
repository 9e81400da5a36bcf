#pragma once

#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dsl/ops/elementwise.h"
#include "dsl/ops/fold.h"

/// Sorting along the last axis, whose size is a power of two, by bitonic networks of butterflies; and
/// counting. Floats are in the order of their values, -0 before +0; a NaN is greater than all numbers, and
/// comes out as a NaN without its payload.
namespace nereid {

/// Which end of the values comes first.
enum class SortOrder { Ascending, Descending };

namespace detail {

/// An integer type with an order for the elements of T.
template <class T> struct SortKey {
  using type = T;
};
template <RealElement T> struct SortKey<T> {
  using type = std::conditional_t<sizeof(T) == 8, i64, std::conditional_t<sizeof(T) == 4, i32, i16>>;
};
template <class T> using SortKeyOf = typename SortKey<T>::type;

/// Bits of floats as integers of the same order, and back: those of negative ones but for the sign are
/// inverted.
template <class K> Tile<K> ordered_bits(const Tile<K> &bits, Where where) {
  const Operand<K> sign_bit(static_cast<K>(8 * sizeof(K) - 1), where);
  const Operand<K> other_bits(std::numeric_limits<K>::max(), where);
  const Tile<K> signs = binary<K>(ir::Opcode::Shr, {bits, where}, sign_bit);
  return binary<K>(ir::Opcode::Xor, {bits, where},
                   {binary<K>(ir::Opcode::And, {signs, where}, other_bits), where});
}

template <class T> Tile<SortKeyOf<T>> sort_key(const Tile<T> &x, Where location) {
  if constexpr (RealElement<T>) {
    using K = SortKeyOf<T>;
    const Tile<i1> is_nan = compare<T>(ir::Opcode::Ne, {x, location}, {x, location});
    const Tile<K> key = ordered_bits(bitcast<K>(x, location), location);
    return nereid::where({is_nan, location}, std::numeric_limits<K>::max(), key, location);
  } else {
    return x;
  }
}
template <class T> Tile<T> from_sort_key(const Tile<SortKeyOf<T>> &key, Where location) {
  if constexpr (RealElement<T>)
    return bitcast<T>(ordered_bits(key, location), location);
  else
    return key;
}

/// The steps of a bitonic network along the last axis of a tile.
class SortNetwork {
public:
  /// Refuses a last axis whose size is no power of two; `what` names the operation.
  SortNetwork(Where where, std::string_view what, ir::ValueId tile);
  int64_t size() const { return size_; }
  /// Positions along the axis, i32 [1, ..., size].
  Tile<i32> positions() const { return make<i32>(positions_); }
  /// Calls `exchange(distance, first)` for each step that puts blocks of `block` elements in order: partners
  /// are `distance` apart, and `first` says who takes the element that comes first. Every second block gets
  /// the opposite order, unless there is but one.
  template <class F> void sort(int64_t block, F &&exchange) const {
    for (int64_t size = 2; size <= block; size *= 2)
      merge(size, size, exchange);
  }
  /// The same of bitonic blocks. Those whose positions have a 1 where `direction`, a power of two, has it get
  /// the opposite order.
  template <class F> void merge(int64_t block, int64_t direction, F &&exchange) const {
    for (int64_t distance = block / 2; distance >= 1; distance /= 2)
      exchange(distance, make<i1>(takes_first(distance, direction)));
  }

private:
  ir::ValueId bit_is_clear(int64_t bit) const;
  ir::ValueId takes_first(int64_t distance, int64_t direction) const;
  Where where_;
  int64_t size_;
  ir::ValueId positions_;
};

/// The number of results of topk, where it may be that.
int64_t topk_size(Where where, int64_t k, int64_t size);

} // namespace detail

/// The elements along the last axis in order.
template <detail::NumericTile X>
Tile<detail::ElementOf<X>> sort(const X &x, SortOrder order = SortOrder::Ascending,
                                Where where = Where::current()) {
  using T = detail::ElementOf<X>;
  using K = detail::SortKeyOf<T>;
  const detail::SortNetwork network(where, "sort", detail::id_of(x));
  Var<Tile<K>> keys = detail::sort_key<T>(detail::make<T>(detail::id_of(x)), where);
  const bool ascends = order == SortOrder::Ascending;
  network.sort(network.size(), [&](int64_t distance, const Tile<i1> &first) {
    const Tile<K> own = keys.get(), other = butterfly(own, distance, -1, where);
    const Tile<K> least = detail::binary<K>(ir::Opcode::Min, {own, where}, {other, where});
    const Tile<K> greatest = detail::binary<K>(ir::Opcode::Max, {own, where}, {other, where});
    keys = ascends ? nereid::where({first, where}, least, greatest, where)
                   : nereid::where({first, where}, greatest, least, where);
  });
  return detail::from_sort_key<T>(keys.get(), where);
}

/// Keys in order along the last axis, and their values with them; the tiles have one shape. Equal keys have
/// no stated order.
template <detail::NumericTile X, detail::TileLike Y>
std::pair<Tile<detail::ElementOf<X>>, Tile<detail::ElementOf<Y>>>
sort(const X &keys, const Y &values, SortOrder order = SortOrder::Ascending, Where where = Where::current()) {
  using T = detail::ElementOf<X>;
  using K = detail::SortKeyOf<T>;
  using V = detail::ElementOf<Y>;
  const detail::SortNetwork network(where, "sort", detail::id_of(keys));
  Var<Tile<K>> sorted = detail::sort_key<T>(detail::make<T>(detail::id_of(keys)), where);
  Var<Tile<V>> moved = broadcast(values, sorted.shape(), where);
  const bool ascends = order == SortOrder::Ascending;
  network.sort(network.size(), [&](int64_t distance, const Tile<i1> &first) {
    const Tile<K> own = sorted.get(), other = butterfly(own, distance, -1, where);
    const Tile<i1> less = detail::compare<K>(ir::Opcode::Lt, {other, where}, {own, where});
    const Tile<i1> greater = detail::compare<K>(ir::Opcode::Gt, {other, where}, {own, where});
    const Tile<i1> takes = ascends ? nereid::where({first, where}, less, greater, where)
                                   : nereid::where({first, where}, greater, less, where);
    const Tile<V> value = moved.get();
    moved = nereid::where({takes, where}, butterfly(value, distance, -1, where), value, where);
    sorted = nereid::where({takes, where}, other, own, where);
  });
  return {detail::from_sort_key<T>(sorted.get(), where), moved.get()};
}

/// The k greatest elements along the last axis in descending order, and their indices (i32): [..., k]. Of
/// equal elements the first come first. k is a power of two.
template <detail::NumericTile X>
std::pair<Tile<detail::ElementOf<X>>, Tile<i32>> topk(const X &x, int64_t k, Where where = Where::current()) {
  using T = detail::ElementOf<X>;
  using K = detail::SortKeyOf<T>;
  const detail::SortNetwork network(where, "topk", detail::id_of(x));
  const int64_t size = network.size(), block = detail::topk_size(where, k, size);
  Var<Tile<K>> keys = detail::sort_key<T>(detail::make<T>(detail::id_of(x)), where);
  Var<Tile<i32>> indices = broadcast(network.positions(), keys.shape(), where);
  const auto exchange = [&](int64_t distance, const Tile<i1> &first) {
    const Tile<K> own = keys.get(), other = butterfly(own, distance, -1, where);
    const Tile<i32> own_index = indices.get(), other_index = butterfly(own_index, distance, -1, where);
    const Tile<i1> greater = detail::compare<K>(ir::Opcode::Gt, {other, where}, {own, where});
    const Tile<i1> equal = detail::compare<K>(ir::Opcode::Eq, {other, where}, {own, where});
    const Tile<i1> earlier = detail::compare<i32>(ir::Opcode::Lt, {other_index, where}, {own_index, where});
    const Tile<i1> precedes =
        detail::binary<i1>(ir::Opcode::Or, {greater, where},
                           {detail::binary<i1>(ir::Opcode::And, {equal, where}, {earlier, where}), where});
    const Tile<i1> takes = detail::compare<i1>(ir::Opcode::Eq, {precedes, where}, {first, where});
    keys = nereid::where({takes, where}, other, own, where);
    indices = nereid::where({takes, where}, other_index, own_index, where);
  };
  // Blocks of k in order, every second one reversed: of two neighbours the better elements are a bitonic
  // block.
  network.sort(block, exchange);
  for (int64_t sorted = block; sorted < size; sorted *= 2) {
    exchange(sorted, Tile<i1>(true, where));
    network.merge(block, 2 * sorted, exchange);
  }
  // All blocks are the same now.
  Shape blocks = keys.shape();
  blocks.back() = size / block;
  blocks.push_back(block);
  const Tile<K> best = max(reshape(keys, blocks, where), axis(-2), where);
  return {detail::from_sort_key<T>(best, where), max(reshape(indices, blocks, where), axis(-2), where)};
}

/// How many elements of x are 0, 1, ..., bins - 1: i32 [bins]; others are not counted. The work is that of
/// one comparison and one sum of x for each bin.
template <detail::IntegerTile X>
Tile<i32> histogram(const X &x, int64_t bins, Where where = Where::current()) {
  using T = std::conditional_t<sizeof(detail::ElementOf<X>) < 4, i32, detail::ElementOf<X>>;
  const Tile<T> values = cast<T>(x, where);
  const Tile<i32> bin = arange(0, bins, where);
  Var<Tile<i32>> counts = zeros<i32>({bins}, where);
  for (Int i : range(Int(0, where), Int(bins, where), Int(1, where), {.stages = 1}, where)) {
    const Tile<i1> equal = detail::compare<T>(ir::Opcode::Eq, {values, where}, {cast<T>(i, where), where});
    const Tile<i32> count = sum(cast<i32>(equal, where), all_axes, where);
    const Tile<i1> is_bin = detail::compare<i32>(ir::Opcode::Eq, {bin, where}, {i, where});
    counts = nereid::where({is_bin, where}, count, counts.get(), where);
  }
  return counts.get();
}

} // namespace nereid
