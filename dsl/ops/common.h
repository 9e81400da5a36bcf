#pragma once

#include "dsl/handle.h"
#include "dsl/var.h"

namespace nereid::detail {

/// The handle type behind an argument: Tile<T> of Tile<T> and Var<Tile<T>>, Ptr<T> of Ptr<T> and Var<Ptr<T>>.
template <class X> struct Handle {};
template <class T> struct Handle<Tile<T>> {
  using element = T;
  static constexpr bool tile = true;
};
template <class T> struct Handle<Var<Tile<T>>> : Handle<Tile<T>> {};
template <ElementType T> struct Handle<Var<T>> : Handle<Tile<T>> {};
template <class T> struct Handle<Ptr<T>> {
  using pointee = T;
  using element = std::remove_const_t<T>;
  static constexpr bool tile = false;
};
template <class T> struct Handle<Var<Ptr<T>>> : Handle<Ptr<T>> {};

template <class X>
concept TileLike = requires { requires Handle<X>::tile; };
template <class X>
concept PtrLike = requires { requires !Handle<X>::tile; };
/// A pointer that may be written through: not a Ptr<const T>.
template <class X>
concept WritablePtr = PtrLike<X> && !std::is_const_v<typename Handle<X>::pointee>;

template <class X> using ElementOf = typename Handle<X>::element;

template <class X>
concept NumericTile = TileLike<X> && NumericElement<ElementOf<X>>;
template <class X>
concept FloatTile = TileLike<X> && FloatElement<ElementOf<X>>;
template <class X>
concept IntegerTile = TileLike<X> && IntegerElement<ElementOf<X>>;

template <class T>
concept TruthElement = std::same_as<T, i1>;

template <class... X> struct Common {};
template <class X, class... More>
  requires TileLike<X>
struct Common<X, More...> {
  using type = ElementOf<X>;
};
template <class X, class... More>
  requires(!TileLike<X>)
struct Common<X, More...> : Common<More...> {};
/// The element type of the first tile among the arguments.
template <class... X> using CommonElement = typename Common<X...>::type;

/// At least one tile, and every argument converts to its element type.
template <class... X>
concept OneElement =
    (TileLike<X> || ...) && (std::convertible_to<const X &, Operand<CommonElement<X...>>> && ...);

/// The id of a tile, pointer or Var argument.
template <class X> ir::ValueId id_of(const X &x) {
  if constexpr (requires { x.get(); })
    return x.get().id();
  else
    return x.id();
}

/// An operand whose place is that of the call.
template <ElementType T, class X> Operand<T> operand(const X &x, Where where) { return Operand<T>(x, where); }

} // namespace nereid::detail
