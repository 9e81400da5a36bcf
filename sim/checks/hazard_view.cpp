// What the rules of software wait states need to know of an instruction.

#include "sim/checks/hazard_table.h"

namespace nereid::sim {

namespace {

/// Steps of a matrix operation: the newest ones of 16 and 32 rows take 4 and 8, older ones of several blocks
/// and those on f32 twice that, and 8-bit operands of the mixed formats twice that.
unsigned matrix_passes(const MatrixShape &shape, const Instruction &instruction) {
  if (shape.result == Element::F64)
    return shape.m == 16 ? 16 : 8;
  if (shape.m == 4)
    return 2;
  const unsigned passes = shape.m == 32 ? 8 : 4;
  if (shape.a == Element::F8F6F4) {
    const bool has_8_bits = instruction.cbsz < 2 || instruction.blgp < 2;
    return has_8_bits ? 2 * passes : passes;
  }
  return shape.a == Element::F32 || shape.blocks > 1 ? 2 * passes : passes;
}

} // namespace

HazardView::HazardView(const Instruction &of, const Effects &registers)
    : instruction(of), operation(*of.operation), effects(registers), vector_alu(operation.is_vector_alu()),
      matrix(operation.matrix.has_value()), vector_memory(operation.is_vector_memory()),
      memory(vector_memory || operation.uses_lds_unit()) {
  if (!matrix)
    return;
  double_matrix = operation.matrix->result == Element::F64;
  wide_matrix = !double_matrix && operation.matrix->a != Element::F32;
  passes = matrix_passes(*operation.matrix, instruction);
}

unsigned HazardView::states() const {
  if (is(HazardClass::WaitStates))
    return (instruction.immediate & 15u) + 1;
  return is(HazardClass::LaneSwap) ? 2 : 1;
}

} // namespace nereid::sim
