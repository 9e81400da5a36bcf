#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dsl/ir/op.h"
#include "dsl/ir/type.h"

namespace nereid::ir {

/// Element types that an operation takes, as a set of bits.
enum ElementSet : uint8_t {
  TakesBool = 1,
  TakesInteger = 2,
  TakesFloat = 4,
  TakesPointer = 8,
  TakesNumber = TakesInteger | TakesFloat,
  TakesBits = TakesBool | TakesInteger,
  TakesValue = TakesBool | TakesNumber,
  TakesAll = TakesValue | TakesPointer,
};

/// The set that a type belongs to.
ElementSet set_of(const Type &type);
/// For messages: "an integer or a float".
std::string_view describe(ElementSet set);

inline constexpr unsigned any_number = ~0u;

/// How many operands and results an operation has, and what its first operand may be.
struct OpRule {
  unsigned min_operands;
  unsigned max_operands;
  unsigned results; ///< any_number: as many as the operation carries
  unsigned blocks;
  ElementSet first;
};

const OpRule &rule_of(Opcode opcode);

enum class AttributeKind : uint8_t { Integer, String, Integers };

/// An attribute that an operation has.
struct AttributeRule {
  Opcode opcode;
  std::string_view name;
  AttributeKind kind;
  bool required;
};

/// All of them, those of one operation side by side.
std::span<const AttributeRule> attribute_rules();

} // namespace nereid::ir
