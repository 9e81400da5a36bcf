#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dsl/ir/element_set.h"

namespace nereid::ir {

/// The operations, a line of ops.def each.
enum class Opcode : uint8_t {
#define NEREID_OP(enumerator, ...) enumerator,
#include "dsl/ir/ops.def"
};

/// How shapes and element types of an operation's operands and results relate.
enum class OpClass : uint8_t {
  Source,
  Shape,
  Unary,
  Binary,
  Compare,
  Elementwise, ///< with rules of their own
  Reduce,
  Scan,
  Gather, ///< of two shapes: the result has that of the index
  Matrix,
  Memory,
  Statement,
  Region
};

/// What an operation does in addition to its results. All but pure ones keep the order of the trace;
/// `Ordered` does nothing else, but has a region.
enum class OpEffect : uint8_t { Pure, Load, Ordered, Effect, Control };

/// How many operands or results an operation has.
struct Arity {
  static constexpr unsigned unlimited = ~0u;
  unsigned min;
  unsigned max;

  bool contains(size_t count) const { return count >= min && count <= max; }
};

/// One line of ops.def.
struct OpFacts {
  std::string_view name;
  OpClass op_class;
  OpEffect effect;
  Arity operands;
  Arity results;
  unsigned regions;
  ElementSet first; ///< what the first operand may be
};

/// The line of an operation, and the operation of a name, if there is one.
const OpFacts &facts(Opcode opcode);
std::optional<Opcode> opcode_named(std::string_view name);

/// Elementwise operations take and give tiles of one shape and can run in any layout.
bool is_elementwise(Opcode opcode);

/// Of integers: what a divisor of 0 leaves without a meaning.
inline bool is_division(Opcode opcode) {
  return opcode == Opcode::Div || opcode == Opcode::Rem || opcode == Opcode::CeilDiv;
}

/// The attribute `fast` makes it the hardware's approximation where its operands are floats but f64.
inline bool has_fast_form(Opcode opcode) {
  return opcode == Opcode::Exp || opcode == Opcode::Exp2 || opcode == Opcode::Log || opcode == Opcode::Tanh ||
         opcode == Opcode::Div;
}

/// Memory operations that read and write at once.
inline bool is_atomic(Opcode opcode) {
  return facts(opcode).op_class == OpClass::Memory && opcode != Opcode::Load && opcode != Opcode::Store;
}

/// Products of matrices: dot and dot_scaled.
inline bool is_dot(Opcode opcode) { return opcode == Opcode::Dot || opcode == Opcode::DotScaled; }

/// Operations with a body that runs several times.
inline bool is_loop(Opcode opcode) { return opcode == Opcode::For || opcode == Opcode::While; }

/// Reductions and scans with a combining function of their own.
inline bool is_fold(Opcode opcode) { return opcode == Opcode::Reduce || opcode == Opcode::Scan; }

/// Where the values that a region's operation carries stand: number i is operand inits + i, argument
/// arguments + i of the block and operand yields + i of its yield.
struct CarriedPlaces {
  size_t inits, arguments, yields;
};
inline CarriedPlaces carried_places(Opcode opcode) {
  return opcode == Opcode::For     ? CarriedPlaces{3, 1, 0}
         : opcode == Opcode::While ? CarriedPlaces{1, 0, 1}
                                   : CarriedPlaces{0, 0, 0};
}

/// A compile-time constant of an operation. Names used: axis, distance, start, bits, order (permute: list;
/// atomics: string), scope, cache, format, format_a, format_b, rule, stages, fast, asm, constraints, host,
/// message.
using Attribute = std::variant<int64_t, std::string, std::vector<int64_t>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// A value of a function, an index into Function::value_types.
using ValueId = uint32_t;

struct Op;

/// A straight list of operations with arguments of its own; a region of an operation, or a kernel's body.
struct Block {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
};

/// One operation.
struct Op {
  Opcode opcode = Opcode::Constant;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attributes attributes;
  std::vector<Block> blocks;
  uint32_t location = 0; ///< index into Function::locations; no part of the canonical form

  ValueId result() const { return results.front(); }
  bool has(std::string_view name) const { return attributes.find(name) != attributes.end(); }
  /// The attribute must exist and be of that kind (the verifier promises it).
  int64_t integer(std::string_view name) const;
  const std::string &string(std::string_view name) const;
  const std::vector<int64_t> &integers(std::string_view name) const;
};

} // namespace nereid::ir
