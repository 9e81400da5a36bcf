#pragma once

#include "dsl/ops/common.h"

/// Global memory. Loads and effects keep the order of the trace. A mask is broadcast to the shape of the
/// pointers; lanes that it removes touch no memory.
namespace nereid {

using detail::Where;

/// How a load or store uses the caches: Default; Stream: used once; Global: not kept in the compute unit's
/// own cache.
enum class Cache { Default, Stream, Global };
/// What an atomic orders in addition to itself.
enum class Order { Relaxed, Acquire, Release, AcqRel };
/// Who sees that order.
enum class Scope { Workgroup, Device };

namespace detail {
std::string name_of(Cache cache);
std::string name_of(Order order);
std::string name_of(Scope scope);
using Truth = Operand<i1>;

/// Memory of a pointer P never holds a value X: a tile or number of another element.
template <class P, class X>
concept OtherElement = PtrLike<P> && (TileLike<X> || Number<X>) && !ArgumentFor<X, ElementOf<P>>;
/// Elements never convert by themselves. The name is what the compiler says of a store of another element.
class Elements_differ_convert_the_value_with_to;
} // namespace detail

/// A global pointer to elements T from an address, i64 or u64; a tile of addresses gives a tile of pointers.
/// The launch sees no buffer behind it: its memory must stay alive, and device checks find it by its address
/// alone. That the address is a multiple of more bytes than the element's is promised with assume.
template <class T, detail::TileLike X>
  requires ElementType<std::remove_const_t<T>> &&
           (std::same_as<detail::ElementOf<X>, i64> || std::same_as<detail::ElementOf<X>, u64>)
Ptr<T> as_pointer(const X &address, Where where = Where::current()) {
  return Ptr<T>(detail::FromId{
      detail::at(where).int_to_ptr(detail::id_of(address), element_of<std::remove_const_t<T>>)});
}

template <detail::PtrLike P>
Tile<detail::ElementOf<P>> load(const P &pointer, Cache cache = Cache::Default,
                                const detail::Read &read = detail::Read(Where::current())) {
  return detail::make<detail::ElementOf<P>>(
      read.note(read.emit().load(detail::id_of(pointer), {}, {}, detail::name_of(cache))));
}
/// Elements that the mask removes are 0.
template <detail::PtrLike P>
Tile<detail::ElementOf<P>> load(const P &pointer, const detail::Truth &mask, Cache cache = Cache::Default,
                                const detail::Read &read = detail::Read(Where::current())) {
  return detail::make<detail::ElementOf<P>>(
      read.note(read.emit().load(detail::id_of(pointer), mask.id(), {}, detail::name_of(cache))));
}
/// Elements that the mask removes are those of `other`.
template <detail::PtrLike P>
Tile<detail::ElementOf<P>>
load(const P &pointer, const detail::Truth &mask, const detail::Operand<detail::ElementOf<P>> &other,
     Cache cache = Cache::Default, const detail::Read &read = detail::Read(Where::current())) {
  return detail::make<detail::ElementOf<P>>(
      read.note(read.emit().load(detail::id_of(pointer), mask.id(), other.id(), detail::name_of(cache))));
}

template <class P, class X, class... More>
  requires detail::OtherElement<P, X>
detail::Elements_differ_convert_the_value_with_to load(const P &, const detail::Truth &, const X &,
                                                       const More &...) = delete;

/// The value is broadcast to the shape of the pointers.
template <detail::WritablePtr P>
void store(const P &pointer, const detail::Operand<detail::ElementOf<P>> &value, Cache cache = Cache::Default,
           const detail::Effect &effect = detail::Effect(Where::current())) {
  effect.emit().store(detail::id_of(pointer), value.id(), {}, detail::name_of(cache));
}
template <detail::WritablePtr P>
void store(const P &pointer, const detail::Operand<detail::ElementOf<P>> &value, const detail::Truth &mask,
           Cache cache = Cache::Default, const detail::Effect &effect = detail::Effect(Where::current())) {
  effect.emit().store(detail::id_of(pointer), value.id(), mask.id(), detail::name_of(cache));
}
template <detail::WritablePtr P, class X, class... More>
  requires detail::OtherElement<P, X>
detail::Elements_differ_convert_the_value_with_to store(const P &, const X &, const More &...) = delete;

/// Atomics return the old values (0 where masked off). One on a scalar pointer runs once a program.
#define NEREID_ATOMIC(function, opcode)                                                                      \
  template <detail::WritablePtr P>                                                                           \
  Tile<detail::ElementOf<P>> function(const P &pointer, const detail::Operand<detail::ElementOf<P>> &value,  \
                                      Order order = Order::AcqRel, Scope scope = Scope::Device,              \
                                      const detail::Effect &effect = detail::Effect(Where::current())) {     \
    ir::ValueId values[] = {value.id()};                                                                     \
    return detail::make<detail::ElementOf<P>>(                                                               \
        effect.emit().atomic(ir::Opcode::opcode, detail::id_of(pointer), values, {}, detail::name_of(order), \
                             detail::name_of(scope)));                                                       \
  }                                                                                                          \
  template <detail::WritablePtr P>                                                                           \
  Tile<detail::ElementOf<P>> function(const P &pointer, const detail::Operand<detail::ElementOf<P>> &value,  \
                                      const detail::Truth &mask, Order order = Order::AcqRel,                \
                                      Scope scope = Scope::Device,                                           \
                                      const detail::Effect &effect = detail::Effect(Where::current())) {     \
    ir::ValueId values[] = {value.id()};                                                                     \
    return detail::make<detail::ElementOf<P>>(                                                               \
        effect.emit().atomic(ir::Opcode::opcode, detail::id_of(pointer), values, mask.id(),                  \
                             detail::name_of(order), detail::name_of(scope)));                               \
  }                                                                                                          \
  template <detail::WritablePtr P, class X, class... More>                                                   \
    requires detail::OtherElement<P, X>                                                                      \
  detail::Elements_differ_convert_the_value_with_to function(const P &, const X &, const More &...) =        \
      delete;
/// i32, u32, i64, u64, f32, f64, f16, bf16
NEREID_ATOMIC(atomic_add, AtomicAdd)
/// i32, u32, i64, u64, f32, f64
NEREID_ATOMIC(atomic_max, AtomicMax)
/// i32, u32, i64, u64, f32, f64
NEREID_ATOMIC(atomic_min, AtomicMin)
/// i32, u32, i64, u64
NEREID_ATOMIC(atomic_and, AtomicAnd)
NEREID_ATOMIC(atomic_or, AtomicOr)
NEREID_ATOMIC(atomic_xor, AtomicXor)
/// elements of 32 or 64 bits
NEREID_ATOMIC(atomic_exchange, AtomicExchange)
#undef NEREID_ATOMIC

/// Stores `desired` where memory holds `expected`; integers of 32 or 64 bits.
template <detail::WritablePtr P>
Tile<detail::ElementOf<P>>
atomic_compare_exchange(const P &pointer, const detail::Operand<detail::ElementOf<P>> &expected,
                        const detail::Operand<detail::ElementOf<P>> &desired, Order order = Order::AcqRel,
                        Scope scope = Scope::Device,
                        const detail::Effect &effect = detail::Effect(Where::current())) {
  ir::ValueId values[] = {expected.id(), desired.id()};
  return detail::make<detail::ElementOf<P>>(
      effect.emit().atomic(ir::Opcode::AtomicCompareExchange, detail::id_of(pointer), values, {},
                           detail::name_of(order), detail::name_of(scope)));
}
template <detail::WritablePtr P>
Tile<detail::ElementOf<P>>
atomic_compare_exchange(const P &pointer, const detail::Operand<detail::ElementOf<P>> &expected,
                        const detail::Operand<detail::ElementOf<P>> &desired, const detail::Truth &mask,
                        Order order = Order::AcqRel, Scope scope = Scope::Device,
                        const detail::Effect &effect = detail::Effect(Where::current())) {
  ir::ValueId values[] = {expected.id(), desired.id()};
  return detail::make<detail::ElementOf<P>>(
      effect.emit().atomic(ir::Opcode::AtomicCompareExchange, detail::id_of(pointer), values, mask.id(),
                           detail::name_of(order), detail::name_of(scope)));
}
template <detail::WritablePtr P, class X, class Y, class... More>
  requires(detail::OtherElement<P, X> || detail::OtherElement<P, Y>)
detail::Elements_differ_convert_the_value_with_to atomic_compare_exchange(const P &, const X &, const Y &,
                                                                          const More &...) = delete;

} // namespace nereid
