#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include "dsl/elements.h"
#include "dsl/tracer.h"

namespace nereid {

using Shape = ir::Shape;

/// Named in the error of an assignment: a Tile, Int or Ptr is a value; hold what changes in a Var.
struct Use_Var_for_a_value_that_changes;

template <ElementType T> class Tile;
template <class T> class Ptr;
template <class Handle> class Var;

/// A rank-0 tile is a scalar, uniform over the program.
using Int = Tile<i32>;
using Long = Tile<i64>;
using Float = Tile<f32>;

/// What all handles are: a value of the function that is being traced.
class Value {
public:
  ir::Type type() const;
  /// Sizes of the dimensions; empty for a scalar.
  Shape shape() const { return type().shape; }
  unsigned rank() const { return type().rank(); }
  /// The size of a dimension; a negative axis counts from the end, one that there is not is an error.
  int64_t size(int axis, std::source_location where = std::source_location::current()) const {
    return detail::at(where).size(id(), axis);
  }
  /// Its id for an operation to be made now; checks that it belongs to the current trace.
  ir::ValueId id() const;
  /// The same, with the place of an error.
  ir::ValueId id(std::source_location where) const {
    detail::at(where);
    return id();
  }

  // Named in the error of an update: it is Var that has these.
#define NEREID_UPDATE(symbol)                                                                                \
  template <class Operand> Use_Var_for_a_value_that_changes &operator symbol(const Operand &) = delete;
  NEREID_UPDATE(+=)
  NEREID_UPDATE(-=)
  NEREID_UPDATE(*=)
  NEREID_UPDATE(/=)
  NEREID_UPDATE(%=)
  NEREID_UPDATE(&=)
  NEREID_UPDATE(|=)
  NEREID_UPDATE(^=)
  NEREID_UPDATE(<<=)
  NEREID_UPDATE(>>=)
#undef NEREID_UPDATE
  Use_Var_for_a_value_that_changes &operator++() = delete;
  Use_Var_for_a_value_that_changes &operator--() = delete;
  Use_Var_for_a_value_that_changes &operator++(int) = delete;
  Use_Var_for_a_value_that_changes &operator--(int) = delete;

protected:
  explicit Value(ir::ValueId id) : trace_(detail::tracer().serial()), id_(id) {}
  Value(const Value &) = default;
  // Not trivial: compilers then let a loop leave its index unused without a warning.
  ~Value() {}

private:
  uint64_t trace_;
  ir::ValueId id_;
};

namespace detail {

template <class> inline constexpr bool never = false;

/// The result of an operation, to make a handle of.
struct Made {
  ir::ValueId id;
};

/// A C++ scalar that may stand for a tile of T: bool for i1, integers for integers, any number for floats.
template <class C, class T>
concept ConstantFor = (std::same_as<T, i1> && (std::same_as<C, bool> || std::same_as<C, i1>)) ||
                      (IntegerElement<T> && std::integral<C> && !std::same_as<C, bool>) ||
                      (FloatElement<T> && !std::same_as<C, bool> &&
                       (std::integral<C> || std::floating_point<C> || FloatElement<C>));

/// The constant as a rank-0 value. An integer that T cannot represent is an error at the place.
ir::ValueId constant(Where where, ir::Element element, bool value);
ir::ValueId constant(Where where, ir::Element element, int64_t value);
ir::ValueId constant(Where where, ir::Element element, uint64_t value);
ir::ValueId constant(Where where, ir::Element element, double value);

template <class C> ir::ValueId constant_of(Where where, ir::Element element, C value) {
  if constexpr (std::same_as<C, bool> || std::same_as<C, i1>)
    return constant(where, element, static_cast<bool>(value));
  else if constexpr (std::signed_integral<C>)
    return constant(where, element, static_cast<int64_t>(value));
  else if constexpr (std::unsigned_integral<C>)
    return constant(where, element, static_cast<uint64_t>(value));
  else
    return constant(where, element, static_cast<double>(value));
}

/// An operand of an operation on tiles of T: a tile, a Var of one, or a C++ constant, with the user's place.
template <ElementType T> class Operand {
public:
  Operand(const Tile<T> &tile, Where where = Where::current()) : id_(tile.id(where)), where_(where) {}
  Operand(const Var<Tile<T>> &var, Where where = Where::current())
      : id_(var.get().id(where)), where_(where) {}
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

template <ElementType T> Tile<T> make(ir::ValueId id);
template <ElementType T> Tile<T> unary(ir::Opcode opcode, const Operand<T> &a);
template <ElementType T> Tile<T> binary(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b);
template <ElementType T> Tile<i1> compare(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b);

} // namespace detail

/// A tile of elements of one type; its shape is known while tracing. A value: it cannot be assigned (use
/// Var), has no truth value (use when or where), and may be used only inside the loop or branch that made it.
template <ElementType T> class Tile : public Value {
public:
  using element_type = T;

  Tile(const Tile &) = default;
  /// A scalar constant.
  template <detail::ConstantFor<T> C>
  Tile(C value, std::source_location where = std::source_location::current())
      : Value(detail::constant_of(where, element_of<T>, value)) {}
  explicit Tile(detail::Made made) : Value(made.id) {}

  /// A Tile, Int or Long is a value: hold what changes in a Var.
  Use_Var_for_a_value_that_changes &operator=(const Tile &) = delete;

  template <class B>
    requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(detail::never<B>,
                  "a tile has no truth value while the kernel is traced: instead of if, use when(condition, "
                  "[&]{ ... }) for a uniform condition or where(condition, a, b) per element; instead of "
                  "&& and || use & and |");
    return false;
  }

  /// The tile converted to another element type; see cast.
  template <ElementType U> Tile<U> to(std::source_location where = std::source_location::current()) const {
    return detail::make<U>(detail::at(where).cast(id(), element_of<U>));
  }

  using Arg = const detail::Operand<T> &;
#define NEREID_OPERATOR(symbol, allowed, opcode)                                                             \
  friend Tile operator symbol(Arg a, Arg b)                                                                  \
    requires allowed<T>                                                                                      \
  {                                                                                                          \
    return detail::binary<T>(ir::Opcode::opcode, a, b);                                                      \
  }
  NEREID_OPERATOR(+, NumericElement, Add)
  NEREID_OPERATOR(-, NumericElement, Sub)
  NEREID_OPERATOR(*, NumericElement, Mul)
  NEREID_OPERATOR(/, NumericElement, Div)
  NEREID_OPERATOR(%, IntegerElement, Rem)
  NEREID_OPERATOR(&, BitElement, And)
  NEREID_OPERATOR(|, BitElement, Or)
  NEREID_OPERATOR(^, BitElement, Xor)
  NEREID_OPERATOR(<<, IntegerElement, Shl)
  NEREID_OPERATOR(>>, IntegerElement, Shr)
#undef NEREID_OPERATOR
#define NEREID_COMPARISON(symbol, allowed, opcode)                                                           \
  friend Tile<i1> operator symbol(Arg a, Arg b)                                                              \
    requires allowed<T>                                                                                      \
  {                                                                                                          \
    return detail::compare<T>(ir::Opcode::opcode, a, b);                                                     \
  }
  NEREID_COMPARISON(==, ElementType, Eq)
  NEREID_COMPARISON(!=, ElementType, Ne)
  NEREID_COMPARISON(<, NumericElement, Lt)
  NEREID_COMPARISON(<=, NumericElement, Le)
  NEREID_COMPARISON(>, NumericElement, Gt)
  NEREID_COMPARISON(>=, NumericElement, Ge)
#undef NEREID_COMPARISON
  friend Tile operator-(Arg a)
    requires NumericElement<T>
  {
    return detail::unary<T>(ir::Opcode::Neg, a);
  }
  friend Tile operator+(Arg a)
    requires NumericElement<T>
  {
    return detail::make<T>(a.id());
  }
  friend Tile operator~(Arg a)
    requires BitElement<T>
  {
    return detail::unary<T>(ir::Opcode::Not, a);
  }
  friend Tile operator!(Arg a)
    requires std::same_as<T, i1>
  {
    return detail::unary<T>(ir::Opcode::Not, a);
  }
};

namespace detail {

template <ElementType T> Tile<T> make(ir::ValueId id) { return Tile<T>(Made{id}); }

template <ElementType T> Tile<T> unary(ir::Opcode opcode, const Operand<T> &a) {
  return make<T>(at(a.where()).unary(opcode, a.id()));
}
template <ElementType T> Tile<T> binary(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b) {
  return make<T>(at(a.where()).binary(opcode, a.id(), b.id()));
}
template <ElementType T> Tile<i1> compare(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b) {
  return make<i1>(at(a.where()).binary(opcode, a.id(), b.id()));
}

/// A pointer operand with the user's place.
template <class T> class PtrOperand {
public:
  PtrOperand(const Ptr<T> &pointer, Where where = Where::current()) : id_(pointer.id(where)), where_(where) {}
  PtrOperand(const Ptr<std::remove_const_t<T>> &pointer, Where where = Where::current())
    requires std::is_const_v<T>
      : id_(pointer.id(where)), where_(where) {}
  PtrOperand(const Var<Ptr<T>> &var, Where where = Where::current())
      : id_(var.get().id(where)), where_(where) {}
  ir::ValueId id() const { return id_; }
  Where where() const { return where_; }

private:
  ir::ValueId id_;
  Where where_;
};
} // namespace detail

/// A global pointer to elements, or a tile of such pointers. Ptr<const T> can be loaded from only.
template <class T> class Ptr : public Value {
public:
  using element_type = std::remove_const_t<T>;
  static_assert(ElementType<element_type>, "Ptr wants an element type: i1, i8, ..., u64, f16, bf16, f32");

  Ptr(const Ptr &) = default;
  explicit Ptr(detail::Made made) : Value(made.id) {}
  /// A pointer that may be written through also serves to read.
  Ptr(const Ptr<element_type> &other)
    requires std::is_const_v<T>
      : Value(other.id()) {}

  /// A Ptr is a value: hold what changes in a Var.
  Use_Var_for_a_value_that_changes &operator=(const Ptr &) = delete;

  /// The offset counts elements; shapes broadcast.
  friend Ptr operator+(const detail::PtrOperand<T> &pointer, const detail::Offset &offset) {
    return Ptr(detail::Made{detail::at(pointer.where()).ptr_add(pointer.id(), offset.id())});
  }
  friend Ptr operator+(const detail::Offset &offset, const detail::PtrOperand<T> &pointer) {
    return Ptr(detail::Made{detail::at(pointer.where()).ptr_add(pointer.id(), offset.id())});
  }
};

} // namespace nereid

#include "dsl/var.h"
