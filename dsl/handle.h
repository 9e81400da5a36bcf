#pragma once

#include "dsl/operators.h"

namespace nereid {

namespace detail {
/// Makes a handle of a value.
struct FromId {
  ir::ValueId id;
};
} // namespace detail

/// A tile of elements of one type; its shape is known while tracing. A value: it cannot be assigned (use
/// Var), has no truth value (use when or where), and may be used only inside the loop or branch that defines
/// it.
template <ElementType T> class Tile : public Value, public detail::Operators<T> {
public:
  using element_type = T;

  Tile(const Tile &) = default;
  /// A scalar constant.
  template <detail::ConstantFor<T> C>
  Tile(C value, std::source_location where = std::source_location::current())
      : Value(detail::constant_of(where, element_of<T>, value)) {}
  explicit Tile(detail::FromId value) : Value(value.id) {}
  /// An i32 extended: Long(n).
  template <std::same_as<i32> I>
    requires std::same_as<T, i64>
  explicit Tile(const Tile<I> &tile, std::source_location where = std::source_location::current())
      : Tile(tile.template to<i64>(where)) {}

  /// A Tile, Int or Long is a value: hold what changes in a Var.
  Use_Var_for_a_value_that_changes &operator=(const Tile &) = delete;

  /// The tile converted to another element type; see cast.
  template <ElementType U> Tile<U> to(std::source_location where = std::source_location::current()) const {
    return detail::make<U>(detail::at(where).cast(id(), element_of<U>));
  }
};

namespace detail {

template <ElementType T> Tile<T> make(ir::ValueId id) { return Tile<T>(FromId{id}); }

template <ElementType T> Tile<T> unary(ir::Opcode opcode, const Operand<T> &a) {
  return make<T>(at(a.where()).unary(opcode, a.id()));
}
template <ElementType T> Tile<T> binary(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b) {
  return make<T>(at(a.where()).binary(opcode, a.id(), b.id()));
}
template <ElementType T> Tile<i1> compare(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b) {
  return make<i1>(at(a.where()).binary(opcode, a.id(), b.id()));
}

} // namespace detail

/// A global pointer to elements, or a tile of such pointers. Ptr<const T> can be loaded from only.
template <class T> class Ptr : public Value {
public:
  using element_type = std::remove_const_t<T>;
  static_assert(ElementType<element_type>,
                "Ptr wants an element type: i1, i8, ..., u64, f16, bf16, f32, fp8, bf8");

  Ptr(const Ptr &) = default;
  explicit Ptr(detail::FromId value) : Value(value.id) {}
  /// A pointer that may be written through also serves to read.
  Ptr(const Ptr<element_type> &other)
    requires std::is_const_v<T>
      : Value(other.id()) {}

  /// A Ptr is a value: hold what changes in a Var.
  Use_Var_for_a_value_that_changes &operator=(const Ptr &) = delete;

  /// The offset counts elements; shapes broadcast.
  friend Ptr operator+(const detail::PtrOperand<T> &pointer, const detail::Offset &offset) {
    return Ptr(detail::FromId{detail::at(pointer.where()).ptr_add(pointer.id(), offset.id())});
  }
  friend Ptr operator+(const detail::Offset &offset, const detail::PtrOperand<T> &pointer) {
    return Ptr(detail::FromId{detail::at(pointer.where()).ptr_add(pointer.id(), offset.id())});
  }
};

} // namespace nereid

#include "dsl/var.h"
