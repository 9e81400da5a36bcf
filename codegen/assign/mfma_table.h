#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/format.h"

namespace nereid::codegen {

/// Kinds of matrix instructions (source: AMD CDNA4 ISA guide, 7.1). F8F6F4 takes any two of the formats of 4,
/// 6 and 8 bits, with e8m0 scales or without.
enum class MfmaKind { F8F6F4, BF16, F16, I8 };

/// `size` registers, lanes or waves of a matrix walk along its dimension `dim`.
LinearLayout along(Space space, unsigned dim, int64_t size);

/// One matrix instruction, D = A B + D. Its layouts count registers in values, whatever their width.
struct MfmaFacts {
  MfmaKind kind;
  std::string_view intrinsic; ///< LLVM's name without the suffix of its overloads
  LinearLayout a_layout;      ///< [size, K]
  LinearLayout b_layout;      ///< [K, size]
  LinearLayout result_layout; ///< [size, size]

  int64_t size() const { return result_layout.dim(0).size(); } ///< 16 or 32
  int64_t k() const { return a_layout.dim(1).size(); }         ///< values along K
  unsigned result_registers() const { return result_layout.registers(); }
};

/// What one side of a dot is made of; nothing is i8.
using SideFormat = std::optional<ir::Format>;

/// How a kind of instruction takes a format. Formats of the other kind (a microscaling format for BF16 or
/// F16) are converted to the instruction's.
struct OperandFacts {
  MfmaKind kind;
  SideFormat format;
  /// The consecutive values of a lane are this many runs, the lanes of K between them.
  unsigned runs;
  unsigned format_code; ///< cbsz / blgp of F8F6F4

  /// Their groups of 32 are 24 bytes, which are no element register's and come through LDS.
  bool has_six_bits() const { return format && ir::facts(*format).bits == 6; }
};

/// [rows, K] of an operand's values, or [K, columns] turned, as [rows, elements along K] of a tile in a
/// format: runs taken apart, two e2m1 values an element.
LinearLayout layout_of_elements(const LinearLayout &values, const OperandFacts &operand);
/// The same for the scales: [rows, groups of 32 along K].
LinearLayout layout_of_scales(const LinearLayout &values);
/// The same of an instruction of halves for the runs of values that a lane holds: [rows, runs along K].
LinearLayout layout_of_runs(const LinearLayout &values);
/// Consecutive values along K that a lane holds of a row for an instruction of halves.
inline constexpr int64_t run_of_halves = 8;

/// The kind that multiplies two formats; nothing where there is none.
std::optional<MfmaKind> mfma_kind(SideFormat a, SideFormat b);
/// The instruction of a kind and size (16 or 32).
const MfmaFacts &find_mfma(MfmaKind kind, int64_t size);
/// Null when that kind of instruction does not take the operand.
const OperandFacts *find_operand(MfmaKind kind, SideFormat format);
/// Bits of a value as it is stored, and as the instruction multiplies it.
unsigned stored_bits(SideFormat format);
unsigned multiplied_bits(MfmaKind kind, SideFormat format);
/// The formats of the operands that compile: "e2m1, e4m3, ..., i8".
std::string operand_formats();
std::string_view name_of(SideFormat format);

} // namespace nereid::codegen
