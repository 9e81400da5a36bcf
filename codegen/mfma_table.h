#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dsl/ir/format.h"

namespace nereid::codegen {

/// One matrix instruction for one operand format (source: AMD CDNA4 ISA guide, 7.1.5). Both operands lie
/// alike: lane l holds row l % size; its lane bits above select a part of K; the elements of a lane walk
/// through the `register_bits_below` lowest bits of K's element index, then the lane's, then
/// `register_bits_above` more. An element is what a tile of the format holds: two e2m1 values are one.
struct MfmaFacts {
  unsigned size;                ///< rows of each operand, 16 or 32; the result is size x size
  unsigned k;                   ///< values along K
  ir::Format format;            ///< of both operands
  std::string_view intrinsic;   ///< LLVM's name without the suffix of its overloads
  unsigned operand_dwords;      ///< a lane's registers of one operand
  unsigned register_bits_below; ///< see above, in elements
  unsigned register_bits_above;
  unsigned format_code; ///< cbsz / blgp of the scaled forms

  unsigned size_bits() const { return size == 16 ? 4 : 5; }
  unsigned lane_k_bits() const { return 6 - size_bits(); }
  unsigned result_registers() const { return size * size / 64; }
  unsigned element_slots() const { return 1u << (register_bits_below + register_bits_above); }
  unsigned chunk_bits() const { return register_bits_below + lane_k_bits() + register_bits_above; }
};

/// The instruction for a format on both sides; the size nearest to the wish. Null when there is none.
const MfmaFacts *find_mfma(ir::Format format, unsigned wanted_size);
/// The formats that find_mfma knows: "e2m1, bf16, f16".
std::string mfma_formats();

} // namespace nereid::codegen
