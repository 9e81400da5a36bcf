#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/state/matrix_shape.h"
#include "sim/state/wave.h"

namespace nereid::sim {

/// "v_mfma_f32_16x16x32_bf16", "v_smfmac_f32_16x16x64_f16" and so on; nothing for other names.
std::optional<MatrixShape> parse_matrix_name(std::string_view name);

/// A row of the tables of matrix operations; `third` is the type of C, or of the index of SMFMAC.
Operation matrix_operation(std::string name, Handler handler, OperandType third, const MatrixShape &shape,
                           uint32_t traits = Operation::None);

/// Lane and register (of the result's element width) of element (i, j) of a block.
struct ResultLocation {
  unsigned lane, index;
};
inline ResultLocation result_location(const MatrixShape &shape, unsigned block, unsigned i, unsigned j) {
  if (shape.result == Element::F64)
    return shape.m == 4 ? ResultLocation{j + 4 * block + 16 * i, 0} : ResultLocation{j + 16 * (i % 4), i / 4};
  if (shape.m == 4)
    return {j + 4 * block, i};
  if (shape.m == 16)
    return {j + 16 * (i / 4), 4 * block + i % 4};
  return {j + 32 * (i / 4 % 2), 16 * block + 4 * (i / 8) + i % 4};
}

/// The word of the C operand that belongs to register `index` of `lane`.
inline uint32_t accumulator_word(const Wave &wave, const Source &source, unsigned index, unsigned lane) {
  return source.kind == Source::Kind::Vector ? wave.vgpr[source.index + index].word[lane]
                                             : static_cast<uint32_t>(source.value);
}

/// The lane that B is read from under a BLGP pattern, in the forms in which BLGP is one.
inline unsigned broadcast_lane(unsigned pattern, unsigned lane) {
  switch (pattern) {
  case 0:
    return lane;
  case 1:
    return lane & 31;
  case 2:
    return 32 + (lane & 31);
  case 3:
    return (lane + 16) & 63;
  default:
    return 16 * (pattern - 4) + (lane & 15);
  }
}

/// The block whose A a block uses: CBSZ makes 2^cbsz neighbouring blocks share the A of one of them, which
/// ABID names. In the forms in which CBSZ is no format.
inline unsigned source_block(const Instruction &instruction, unsigned block) {
  const unsigned shared = 1u << instruction.cbsz;
  return instruction.cbsz ? block / shared * shared + instruction.abid % shared : block;
}

/// Where the byte of a scale register begins that side 0 (A) or 1 (B) of a scaled MFMA uses, in bits.
inline unsigned scale_shift(const Instruction &instruction, unsigned side) {
  return 8 * (2 * (instruction.op_sel_hi >> side & 1) + (instruction.op_sel >> side & 1));
}

/// Executes v_mfma_*_f8f6f4, scaled or not.
template <unsigned Size> void run_scaled_matrix(Wave &wave, const Instruction &instruction);

} // namespace nereid::sim
