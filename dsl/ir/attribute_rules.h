#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dsl/ir/op.h"

namespace nereid::ir {

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
