#pragma once

#include <cstdint>

namespace nereid::sim {

/// How the words of a vector operand are read: it decides the value of constants, which half or bits
/// modifiers address, and where the sign is.
enum class OperandType : uint8_t {
  None,
  Bits16,
  Float16,
  Bits32,
  Float32,
  Bits64,
  Float64,
  LaneBit,       ///< one bit a lane out of a scalar register pair
  PackedBits16,  ///< two 16-bit integers
  PackedFloat16, ///< two halves (f16)
  PackedFloat32, ///< two floats in a register pair
};

/// Operands of two registers.
constexpr bool is_wide(OperandType type) {
  return type == OperandType::Bits64 || type == OperandType::Float64 || type == OperandType::PackedFloat32;
}
constexpr bool is_16_bit(OperandType type) {
  return type == OperandType::Bits16 || type == OperandType::Float16;
}
/// Two 16-bit values in a register.
constexpr bool is_half_pair(OperandType type) {
  return type == OperandType::PackedBits16 || type == OperandType::PackedFloat16;
}
/// Operands of VOP3P, in which op_sel picks an element for either part of the result.
constexpr bool is_packed(OperandType type) {
  return is_half_pair(type) || type == OperandType::PackedFloat32;
}

} // namespace nereid::sim
