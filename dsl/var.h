#pragma once

#include "dsl/handle.h"

namespace nereid {

namespace detail {

/// A slot of the tracer that holds a value and may be assigned: the state of a Var.
class VarState {
public:
  explicit VarState(ir::ValueId value);
  VarState(const VarState &other) : VarState(other.value()) {}
  VarState &operator=(const VarState &) = delete;
  ~VarState();

  ir::ValueId value() const;
  /// The value is broadcast to the Var's shape; the shape never changes.
  void assign(ir::ValueId value);
  ir::Type type() const;

private:
  Tracer &owner() const;
  uint64_t trace_;
  unsigned slot_;
};

} // namespace detail

/// The one mutable thing: holds a tile, an integer or a pointer. A Var that is assigned inside a range loop
/// is carried through the loop, one assigned inside when is a result of it. The shape is that of the first
/// value.
///
///     Var acc = zeros<f32>({c.block_m, c.block_n});
///     for (Int k : range(0, n)) acc += ...;
template <ElementType T> class Var<Tile<T>> : public detail::Operators<T> {
public:
  Var(const Tile<T> &tile) : state_(tile.id()) {}
  template <detail::ConstantFor<T> C>
  Var(C value, std::source_location where = std::source_location::current())
      : state_(detail::constant_of(where, element_of<T>, value)) {}
  Var(const Var &) = default;

  /// The value that it holds now.
  Tile<T> get() const { return detail::make<T>(state_.value()); }
  operator Tile<T>() const { return get(); }
  ir::Type type() const { return state_.type(); }
  Shape shape() const { return type().shape; }
  unsigned rank() const { return type().rank(); }
  int64_t size(int axis, std::source_location where = std::source_location::current()) const {
    return detail::at(where).size(state_.value(), axis);
  }
  template <ElementType U> Tile<U> to(std::source_location where = std::source_location::current()) const {
    return get().template to<U>(where);
  }

  using Arg = const detail::Operand<T> &;
  // By non-const reference, so that nothing but a Var converts to it: all else is an operand with its
  // location.
  Var &operator=(Var &other) {
    state_.assign(other.state_.value());
    return *this;
  }
  Var &operator=(Arg value) {
    detail::at(value.where());
    state_.assign(value.id());
    return *this;
  }
#define NEREID_UPDATE(symbol, allowed, opcode)                                                               \
  Var &operator symbol(Arg value)                                                                            \
    requires allowed<T>                                                                                      \
  {                                                                                                          \
    return update(ir::Opcode::opcode, value);                                                                \
  }
  NEREID_UPDATE(+=, NumericElement, Add)
  NEREID_UPDATE(-=, NumericElement, Sub)
  NEREID_UPDATE(*=, NumericElement, Mul)
  NEREID_UPDATE(/=, NumericElement, Div)
  NEREID_UPDATE(%=, IntegerElement, Rem)
  NEREID_UPDATE(&=, BitElement, And)
  NEREID_UPDATE(|=, BitElement, Or)
  NEREID_UPDATE(^=, BitElement, Xor)
  NEREID_UPDATE(<<=, IntegerElement, Shl)
  NEREID_UPDATE(>>=, IntegerElement, Shr)
#undef NEREID_UPDATE

private:
  Var &update(ir::Opcode opcode, Arg value) {
    state_.assign(detail::at(value.where()).binary(opcode, state_.value(), value.id()));
    return *this;
  }
  detail::VarState state_;
};

/// A Var that holds a pointer or a tile of pointers.
template <class T> class Var<Ptr<T>> {
public:
  Var(const Ptr<T> &pointer) : state_(pointer.id()) {}
  Var(const Var &) = default;
  /// A pointer that may be written through also serves to read.
  Var(const Ptr<std::remove_const_t<T>> &pointer)
    requires std::is_const_v<T>
      : state_(pointer.id()) {}
  Var(const Var<Ptr<std::remove_const_t<T>>> &other)
    requires std::is_const_v<T>
      : state_(other.get().id()) {}

  Ptr<T> get() const { return Ptr<T>(detail::FromId{state_.value()}); }
  operator Ptr<T>() const { return get(); }
  operator Ptr<const T>() const
    requires(!std::is_const_v<T>)
  {
    return get();
  }
  ir::Type type() const { return state_.type(); }
  Shape shape() const { return type().shape; }
  unsigned rank() const { return type().rank(); }
  int64_t size(int axis, std::source_location where = std::source_location::current()) const {
    return detail::at(where).size(state_.value(), axis);
  }

  // By non-const reference, so that nothing but a Var converts to it: all else is an operand with its
  // location.
  Var &operator=(Var &other) {
    state_.assign(other.state_.value());
    return *this;
  }
  Var &operator=(const detail::PtrOperand<T> &pointer) {
    detail::at(pointer.where());
    state_.assign(pointer.id());
    return *this;
  }
  Var &operator+=(const detail::Offset &offset) {
    state_.assign(detail::at(offset.where()).ptr_add(state_.value(), offset.id()));
    return *this;
  }

private:
  detail::VarState state_;
};

/// Var<f32> is another spelling of Var<Tile<f32>>.
template <ElementType T> class Var<T> : public Var<Tile<T>> {
public:
  using Var<Tile<T>>::Var;
  using Var<Tile<T>>::operator=;
  Var(const Var &) = default;
  Var &operator=(Var &other) {
    Var<Tile<T>>::operator=(other);
    return *this;
  }
  Var(const Var<Tile<T>> &other) : Var<Tile<T>>(other) {}
};

template <ElementType T> Var(const Tile<T> &) -> Var<Tile<T>>;
template <class T> Var(const Ptr<T> &) -> Var<Ptr<T>>;
template <ElementType T> Var(const Var<Tile<T>> &) -> Var<Tile<T>>;
template <detail::Number C> Var(C) -> Var<Tile<typename detail::ElementFor<C>::type>>;

} // namespace nereid
