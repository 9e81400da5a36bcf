// Pointers, loads, stores, atomics and the statements.
#include "dsl/ir/builder.h"

#include <fmt/format.h>

namespace nereid::ir {

Shape Builder::check_pointer(std::string_view what, ValueId pointer) const {
  if (!type(pointer).pointer)
    fail(fmt::format("{}: expected a pointer, not a value of type {}", what, type(pointer).text()),
         "Pass a Ptr, or a Ptr plus offsets");
  use(pointer);
  return type(pointer).shape;
}

ValueId Builder::memory_operand(std::string_view what, ValueId pointer, ValueId value) {
  require_value(what, value);
  require_element(what, value, type(value).element == type(pointer).element,
                  fmt::format("{} as the pointer's", facts(type(pointer).element).name));
  return broadcast_operand(what, value, type(pointer).shape);
}

ValueId Builder::memory_mask(std::string_view what, ValueId pointer, ValueId mask) {
  std::string name = fmt::format("the mask of {}", what);
  require_value(name, mask);
  require_element(name, mask, type(mask).element == Element::I1, "i1");
  return broadcast_operand(name, mask, type(pointer).shape);
}

ValueId Builder::ptr_add(ValueId pointer, ValueId offset) {
  check_pointer("pointer + offset", pointer);
  require_value("pointer + offset", offset);
  Element element = type(offset).element;
  require_element("pointer + offset", offset, element == Element::I32 || element == Element::I64,
                  "i32 or i64");
  use(offset);
  std::vector<ValueId> operands = broadcast_together("pointer + offset", {pointer, offset});
  if (constant_of(offset) == 0)
    return operands[0];
  const Type result = type(operands[0]);
  return emit_one(Opcode::PtrAdd, std::move(operands), result);
}

ValueId Builder::int_to_ptr(ValueId address, Element element) {
  require_value("as_pointer", address);
  require_element("as_pointer", address,
                  type(address).element == Element::I64 || type(address).element == Element::U64,
                  "i64 or u64");
  return emit_one(Opcode::IntToPtr, {address}, Type::pointer_to(element, type(address).shape));
}

void Builder::push_mask(std::vector<ValueId> &operands, ValueId mask) const {
  if (constant_of(mask) != 1)
    operands.push_back(mask);
}

static Attributes cache_attribute(const std::string &cache) {
  return cache.empty() ? Attributes{} : Attributes{{"cache", cache}};
}

ValueId Builder::load(ValueId pointer, std::optional<ValueId> mask, std::optional<ValueId> other,
                      const std::string &cache) {
  Shape shape = check_pointer("load", pointer);
  std::vector<ValueId> operands{pointer};
  if (mask)
    operands.push_back(memory_mask("load", pointer, *mask));
  if (other) {
    const ValueId value = memory_operand("the other value of load", pointer, *other);
    // Without another value it is zero: one form for both, which is what loops with stages can do.
    if (definitions_[*other].bits != uint64_t{0})
      operands.push_back(value);
  }
  if (mask && constant_of(operands[1]) == 1)
    operands.resize(1);
  return emit_one(Opcode::Load, operands, Type::tile(type(pointer).element, shape), cache_attribute(cache));
}

void Builder::store(ValueId pointer, ValueId value, std::optional<ValueId> mask, const std::string &cache) {
  check_pointer("store", pointer);
  std::vector<ValueId> operands{pointer, memory_operand("store", pointer, value)};
  if (mask)
    push_mask(operands, memory_mask("store", pointer, *mask));
  emit(Opcode::Store, operands, {}, cache_attribute(cache));
}

static bool wants_integers(Opcode opcode) {
  return opcode == Opcode::AtomicCompareExchange || opcode == Opcode::AtomicAnd ||
         opcode == Opcode::AtomicOr || opcode == Opcode::AtomicXor;
}

ValueId Builder::atomic(Opcode opcode, ValueId pointer, std::span<const ValueId> values,
                        std::optional<ValueId> mask, const std::string &order, const std::string &scope) {
  std::string_view what = facts(opcode).name;
  Shape shape = check_pointer(what, pointer);
  Element element = type(pointer).element;
  const bool adds_halves = opcode == Opcode::AtomicAdd && is_float(element) && !is_small_float(element);
  if ((facts(element).bits < 32 && !adds_halves) || (wants_integers(opcode) && !is_integer(element)))
    fail(fmt::format("{}: no atomic on {} is available", what, facts(element).name),
         wants_integers(opcode)        ? "Use i32, u32, i64 or u64"
         : opcode == Opcode::AtomicAdd ? "Use i32, u32, i64, u64, f32, f64, f16 or bf16"
                                       : "Use i32, u32, i64, u64, f32 or f64");
  std::vector<ValueId> operands{pointer};
  for (ValueId value : values)
    operands.push_back(memory_operand(what, pointer, value));
  if (mask)
    push_mask(operands, memory_mask(what, pointer, *mask));
  return emit_one(opcode, operands, Type::tile(element, shape), {{"order", order}, {"scope", scope}});
}

void Builder::assume(ValueId condition) {
  require_element("assume", condition, type(condition).element == Element::I1, "i1");
  if (type(condition).rank() != 0)
    fail(fmt::format("assume: the condition is a tile of shape {}", text(type(condition).shape)),
         "Promise something about scalars, or check the tile with device_assert");
  emit(Opcode::Assume, {condition}, {});
}

void Builder::device_assert(ValueId condition, const std::string &message) {
  require_element("device_assert", condition, type(condition).element == Element::I1, "i1");
  emit(Opcode::DeviceAssert, {condition}, {}, {{"message", message}});
}

void Builder::device_print(const std::string &message, std::span<const ValueId> values) {
  emit(Opcode::DevicePrint, {values.begin(), values.end()}, {}, {{"message", message}});
}

} // namespace nereid::ir
