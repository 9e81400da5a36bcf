#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dsl/ir/format.h"

namespace nereid::codegen {

/// Kinds of matrix instructions (source: AMD CDNA4 ISA guide, 7.1). F8F6F4 takes any two of the formats of 4,
/// 6 and 8 bits, with e8m0 scales or without.
enum class MfmaKind { F8F6F4, BF16, F16, I8 };

/// One matrix instruction. Operands are size x k, the result is size x size.
struct MfmaFacts {
  MfmaKind kind;
  unsigned size;              ///< 16 or 32
  unsigned k;                 ///< values along K
  std::string_view intrinsic; ///< LLVM's name without the suffix of its overloads

  unsigned size_bits() const { return size == 16 ? 4 : 5; }
  unsigned lane_k_bits() const { return 6 - size_bits(); }
  unsigned result_registers() const { return size * size / 64; }
};

/// What one side of a product is made of; nothing is i8.
using SideFormat = std::optional<ir::Format>;

/// How an operand of a kind of instruction lies, for either side and size: lane l holds row l % size; its
/// lane bits above select a part of K; the elements of a lane walk through the `register_bits_below` lowest
/// bits of K's element index, then the lane's, then `register_bits_above` more. An element is what a tile of
/// the format holds: two e2m1 values are one. Formats of the other kind (a microscaling format for BF16 or
/// F16) lie so before they are converted to the instruction's. Formats of 6 bits have no such place in a
/// layout: lane l's part of K is a group of 32, in 24 bytes.
struct OperandFacts {
  MfmaKind kind;
  SideFormat format;
  unsigned dwords; ///< a lane's registers, after conversion
  unsigned register_bits_below;
  unsigned register_bits_above;
  unsigned format_code; ///< cbsz / blgp of F8F6F4

  bool has_six_bits() const { return format && ir::facts(*format).bits == 6; }
};

/// The kind that multiplies two formats; nothing where there is none.
std::optional<MfmaKind> mfma_kind(SideFormat a, SideFormat b);
/// The instruction of a kind and size (16 or 32).
const MfmaFacts &find_mfma(MfmaKind kind, unsigned size);
/// Null when the operand has no place in that kind of instruction.
const OperandFacts *find_operand(MfmaKind kind, SideFormat format);
/// The formats of the operands that compile: "e2m1, e4m3, e5m2, bf16, f16, i8".
std::string operand_formats();
std::string_view name_of(SideFormat format);

} // namespace nereid::codegen
