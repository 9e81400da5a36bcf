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
/// f64 too.
template <class X>
concept RealTile = TileLike<X> && RealElement<ElementOf<X>>;
template <class X>
concept DoubleTile = TileLike<X> && std::same_as<ElementOf<X>, f64>;
/// Named in the error of a function that f64 does not have.
class No_function_of_f64_convert_with_to_f32;
template <class X>
concept IntegerTile = TileLike<X> && IntegerElement<ElementOf<X>>;

template <class T>
concept TruthElement = std::same_as<T, i1>;

/// An i32 becomes an i64 next to one; no other elements convert by themselves.
template <class T, class U>
concept Extends = std::same_as<T, i32> && std::same_as<U, i64>;

template <class X> struct OfLong : std::false_type {};
template <TileLike X> struct OfLong<X> : std::is_same<ElementOf<X>, i64> {};

template <class... X> struct Common {};
template <class X, class... More>
  requires TileLike<X>
struct Common<X, More...> {
  using type = ElementOf<X>;
};
template <class X, class... More>
  requires(!TileLike<X>)
struct Common<X, More...> : Common<More...> {};
/// The element type of the first tile among the arguments, i64 where that is i32 and another is i64.
template <class... X>
using CommonElement =
    std::conditional_t<std::same_as<typename Common<X...>::type, i32> && (OfLong<X>::value || ...), i64,
                       typename Common<X...>::type>;

/// At least one tile, and every argument converts to its element type.
template <class... X>
concept OneElement =
    (TileLike<X> || ...) && (std::convertible_to<const X &, Operand<CommonElement<X...>>> && ...);

/// Tiles of two elements, or a number of a kind that the tile's element cannot be: a float next to integers.
template <class A, class B>
concept MixedElements = (TileLike<A> && TileLike<B> && !std::same_as<ElementOf<A>, ElementOf<B>> &&
                         !Extends<ElementOf<A>, ElementOf<B>> && !Extends<ElementOf<B>, ElementOf<A>>) ||
                        (TileLike<A> && Number<B> && !ConstantFor<B, ElementOf<A>>) ||
                        (Number<A> && TileLike<B> && !ConstantFor<A, ElementOf<B>>);
/// Elements never convert by themselves. The name is what the compiler says of an operator between them.
class Elements_differ_convert_one_side_with_to;
#define NEREID_REFUSE_MIXED(symbol)                                                                          \
  template <class A, class B>                                                                                \
    requires MixedElements<A, B>                                                                             \
  Elements_differ_convert_one_side_with_to operator symbol(const A &, const B &) = delete;
NEREID_REFUSE_MIXED(+)
NEREID_REFUSE_MIXED(-)
NEREID_REFUSE_MIXED(*)
NEREID_REFUSE_MIXED(/)
NEREID_REFUSE_MIXED(%)
NEREID_REFUSE_MIXED(&)
NEREID_REFUSE_MIXED(|)
NEREID_REFUSE_MIXED(^)
NEREID_REFUSE_MIXED(<<)
NEREID_REFUSE_MIXED(>>)
NEREID_REFUSE_MIXED(==)
NEREID_REFUSE_MIXED(!=)
NEREID_REFUSE_MIXED(<)
NEREID_REFUSE_MIXED(<=)
NEREID_REFUSE_MIXED(>)
NEREID_REFUSE_MIXED(>=)
#undef NEREID_REFUSE_MIXED

/// The id of a tile, pointer or Var argument.
template <class X> ir::ValueId id_of(const X &x) {
  if constexpr (requires { x.get(); })
    return x.get().id();
  else
    return x.id();
}

/// What may stand for a tile of T: a tile, a Var or a number.
template <class X, class T>
concept ArgumentFor = std::convertible_to<const X &, Operand<T>>;

/// The element type that two numbers have together, as C++ has it for their sum; two bools have i1.
template <class A, class B>
using NumberElement =
    typename ElementFor<std::conditional_t<std::same_as<A, B>, A, std::common_type_t<A, B>>>::type;
template <class A, class B>
concept OneNumber = requires {
  typename NumberElement<A, B>;
  requires ArgumentFor<A, NumberElement<A, B>> && ArgumentFor<B, NumberElement<A, B>>;
};

/// The element type of an argument that stands alone: a tile's, or that of a number.
template <class X> struct Argument : ElementFor<X> {};
template <TileLike X> struct Argument<X> {
  using type = ElementOf<X>;
};
template <class X> using ArgumentElement = typename Argument<X>::type;

/// The id of a tile, Var, pointer or number that stands alone.
template <class X> ir::ValueId argument_id(const X &x, Where where) {
  if constexpr (Number<X>)
    return constant_of(where, element_of<ArgumentElement<X>>, x);
  else
    return id_of(x);
}

/// An operand whose location is that of the call.
template <ElementType T, class X> Operand<T> operand(const X &x, Where where) { return Operand<T>(x, where); }
/// A tile of T from what may stand for one.
template <ElementType T, class X> Tile<T> as_tile(const X &x, Where where) {
  return make<T>(operand<T>(x, where).id());
}

} // namespace nereid::detail
