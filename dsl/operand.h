#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "dsl/value.h"

/// What operations take: a handle or a C++ number, with the location of the call.
namespace nereid::detail {

/// A float of the host: of any element, or C++'s.
template <class C>
concept HostFloat = std::floating_point<C> || RealElement<C> || SmallFloatElement<C>;

/// A C++ scalar that may stand for a tile of T: bool for i1, integers for integers, any number for floats.
template <class C, class T>
concept ConstantFor = (std::same_as<T, i1> && (std::same_as<C, bool> || std::same_as<C, i1>)) ||
                      (IntegerElement<T> && std::integral<C> && !std::same_as<C, bool>) ||
                      ((RealElement<T> || SmallFloatElement<T>) && !std::same_as<C, bool> &&
                       (std::integral<C> || HostFloat<C>));

/// The element type of a C++ number where no tile decides.
template <class C> struct ElementFor {};
template <class C>
  requires(FloatElement<C> || SmallFloatElement<C> || std::same_as<C, i1>)
struct ElementFor<C> {
  using type = C;
};
template <std::floating_point C>
  requires(!FloatElement<C>)
struct ElementFor<C> {
  using type = f32;
};
template <std::same_as<bool> C> struct ElementFor<C> {
  using type = i1;
};
template <std::signed_integral C> struct ElementFor<C> {
  using type = std::conditional_t<sizeof(C) == 8, i64, i32>;
};
template <std::unsigned_integral C>
  requires(!std::same_as<C, bool>)
struct ElementFor<C> {
  using type = std::conditional_t<sizeof(C) == 8, u64, u32>;
};
template <class C>
concept Number = requires { typename ElementFor<C>::type; };

/// The constant as a rank-0 value. An integer that T cannot represent is an error at the location.
ir::ValueId constant(Where where, ir::Element element, bool value);
ir::ValueId constant(Where where, ir::Element element, int64_t value);
ir::ValueId constant(Where where, ir::Element element, uint64_t value);
ir::ValueId constant(Where where, ir::Element element, long double value);

template <class C> ir::ValueId constant_of(Where where, ir::Element element, C value) {
  if constexpr (std::same_as<C, bool> || std::same_as<C, i1>)
    return constant(where, element, static_cast<bool>(value));
  else if constexpr (std::signed_integral<C>)
    return constant(where, element, static_cast<int64_t>(value));
  else if constexpr (std::unsigned_integral<C>)
    return constant(where, element, static_cast<uint64_t>(value));
  else
    return constant(where, element, static_cast<long double>(value));
}

/// An operand of an operation on tiles of T: a tile, a Var of one, or a C++ number.
template <ElementType T> class Operand {
public:
  Operand(const Tile<T> &tile, Where where = Where::current()) : id_(tile.id(where)), where_(where) {}
  Operand(const Var<Tile<T>> &var, Where where = Where::current())
      : id_(var.get().id(where)), where_(where) {}
  /// An i32 next to an i64 is extended.
  template <std::same_as<i32> I>
    requires std::same_as<T, i64>
  Operand(const Tile<I> &tile, Where where = Where::current())
      : id_(at(where).cast(tile.id(where), ir::Element::I64)), where_(where) {}
  template <std::same_as<i32> I>
    requires std::same_as<T, i64>
  Operand(const Var<Tile<I>> &var, Where where = Where::current()) : Operand(var.get(), where) {}
  template <ConstantFor<T> C>
  Operand(C value, Where where = Where::current())
      : id_(constant_of(where, element_of<T>, value)), where_(where) {}

  ir::ValueId id() const { return id_; }
  Where where() const { return where_; }

private:
  ir::ValueId id_;
  Where where_;
};

/// An offset in elements to add to a pointer: i32 or i64.
class Offset {
public:
  template <class T>
    requires(std::same_as<T, i32> || std::same_as<T, i64>)
  Offset(const Tile<T> &tile, Where where = Where::current()) : id_(tile.id(where)), where_(where) {}
  template <class T>
    requires(std::same_as<T, i32> || std::same_as<T, i64>)
  Offset(const Var<Tile<T>> &var, Where where = Where::current()) : id_(var.get().id(where)), where_(where) {}
  template <std::integral C>
    requires(!std::same_as<C, bool>)
  Offset(C value, Where where = Where::current())
      : id_(constant_of(where, element_for(value), value)), where_(where) {}

  ir::ValueId id() const { return id_; }
  Where where() const { return where_; }

private:
  template <class C> static ir::Element element_for(C value) {
    return std::in_range<i32>(value) ? ir::Element::I32 : ir::Element::I64;
  }
  ir::ValueId id_;
  Where where_;
};

/// A pointer, or a Var of one.
template <class T> class PtrOperand {
public:
  PtrOperand(const Ptr<T> &pointer, Where where = Where::current()) : id_(pointer.id(where)), where_(where) {}
  PtrOperand(const Ptr<std::remove_const_t<T>> &pointer, Where where = Where::current())
    requires std::is_const_v<T>
      : id_(pointer.id(where)), where_(where) {}
  PtrOperand(const Var<Ptr<T>> &var, Where where = Where::current())
      : id_(var.get().id(where)), where_(where) {}
  PtrOperand(const Var<Ptr<std::remove_const_t<T>>> &var, Where where = Where::current())
    requires std::is_const_v<T>
      : id_(var.get().id(where)), where_(where) {}
  ir::ValueId id() const { return id_; }
  Where where() const { return where_; }

private:
  ir::ValueId id_;
  Where where_;
};

} // namespace nereid::detail
