// Which unit executes an instruction and for how long.

#include "sim/timing/instruction_cost.h"

#include <string_view>

#include "sim/timing/constants.h"

namespace nereid::sim::timing {

namespace {

bool is_8_bit(unsigned format) { return format < 2; } // e4m3, e5m2

/// Flops of an MFMA.
double flop_of(const MatrixShape &shape) { return 2.0 * shape.m * shape.n * shape.k * shape.blocks; }

/// Flop that a matrix core does in a clock on FP4 (ROCm).
constexpr double fp4_rate = 4096;

/// The same by its operands (ROCm and AMD's blog "matrix cores on CDNA").
double rate_of(const MatrixShape &shape, const Instruction &instruction) {
  switch (shape.a) {
  case Element::F64:
    return 32;
  case Element::F32:
    return 64;
  case Element::F16:
  case Element::Bf16:
    return 1024;
  case Element::F8F6F4:
    return is_8_bit(instruction.cbsz) || is_8_bit(instruction.blgp) ? 2048 : fp4_rate;
  default:
    return 2048;
  }
}

/// Clocks for which an MFMA occupies its core: passes of four clocks (ISA, table of MFMA passes). The shapes
/// of older generations fill half of the core.
unsigned matrix_clocks(const MatrixShape &shape, const Instruction &instruction) {
  const double clocks = flop_of(shape) / rate_of(shape, instruction);
  const bool square16 = shape.m == 16 && shape.blocks == 1, square32 = shape.m == 32 && shape.blocks == 1;
  const unsigned least = square32 ? 32 : square16 ? 16 : 8;
  return std::max(least, static_cast<unsigned>(clocks));
}

void matrix_cost(const Instruction &instruction, InstructionCost &cost) {
  const MatrixShape &shape = *instruction.operation->matrix;
  cost.unit = Unit::Matrix;
  cost.clocks = static_cast<uint16_t>(matrix_clocks(shape, instruction));
  cost.exclusive = operand_read_clocks + (instruction.scaled ? load_scale_clocks : 0);
  cost.wave_clocks = cost.exclusive;
  cost.flop = flop_of(shape) * (fp4_rate / rate_of(shape, instruction));
}

void vector_cost(const Operation &operation, InstructionCost &cost) {
  const std::string_view name = operation.name;
  cost.unit = Unit::Vector;
  cost.clocks = turn;
  cost.packed_f32 = operation.hazard == HazardClass::PackedF32;
  if (operation.hazard == HazardClass::Transcendental)
    cost.clocks = transcendental_clocks;
  else if (operation.hazard == HazardClass::LaneSwap)
    cost.clocks = lane_swap_clocks;
  else if (name.starts_with("v_mul_lo_u32") || name.starts_with("v_mul_hi_u32") ||
           name.starts_with("v_mul_hi_i32") || name.starts_with("v_mad_u64") || name.starts_with("v_mad_i64"))
    cost.clocks = integer_product_clocks;
  cost.wave_clocks = cost.clocks;
}

void wait_cost(const Instruction &instruction, InstructionCost &cost) {
  const auto fields = static_cast<uint16_t>(instruction.immediate);
  cost.wait = true;
  cost.vmcnt = static_cast<uint8_t>((fields & 15) | (fields >> 14) << 4);
  cost.lgkmcnt = static_cast<uint8_t>(fields >> 8 & 15);
}

/// Instructions that the wave's own buffer executes.
void internal_cost(const Instruction &instruction, InstructionCost &cost) {
  const std::string_view name = instruction.operation->name;
  const auto immediate = static_cast<uint16_t>(instruction.immediate);
  cost.unit = Unit::Internal;
  cost.wave_clocks = turn;
  if (instruction.operation->hazard == HazardClass::WaitStates)
    cost.wave_clocks = static_cast<uint16_t>((immediate % 16 + 1) * turn);
  else if (name == "s_sleep")
    cost.wave_clocks = static_cast<uint16_t>(immediate % 128 * sleep_clocks + turn);
  else if (name == "s_setprio")
    cost.priority = immediate & 3;
  using Kind = MemoryForm::Kind;
  const Kind kind = instruction.operation->memory.kind;
  if (kind == Kind::WriteBack || kind == Kind::Invalidate) {
    cost.unit = Unit::VectorMemory;
    cost.write_back = kind == Kind::WriteBack;
  }
  cost.ends = name.starts_with("s_endpgm");
  cost.barrier = instruction.category == Category::Barrier;
  if (name == "s_waitcnt")
    wait_cost(instruction, cost);
}

InstructionCost cost_of(const Instruction &instruction) {
  InstructionCost cost;
  if (!instruction.operation)
    return cost;
  const Operation &operation = *instruction.operation;
  cost.clocks = cost.wave_clocks = turn;
  const MemoryForm::Kind kind = operation.memory.kind;
  cost.stores = kind == MemoryForm::Kind::Store || (kind == MemoryForm::Kind::Atomic && !instruction.returns);
  switch (instruction.category) {
  case Category::Mfma:
    matrix_cost(instruction, cost);
    break;
  case Category::Valu:
    vector_cost(operation, cost);
    break;
  case Category::Salu:
    cost.unit = Unit::Scalar;
    break;
  case Category::Smem:
    cost.unit = Unit::Scalar;
    cost.scalar_load = true;
    break;
  case Category::Lds:
    cost.unit = Unit::Lds;
    break;
  case Category::VmemLoad:
  case Category::VmemStore:
  case Category::VmemAtomic:
    cost.unit = operation.uses_lds_unit() ? Unit::Lds : Unit::VectorMemory;
    break;
  case Category::Branch:
    cost.unit = Unit::Branch;
    break;
  case Category::Barrier:
  case Category::Waitcnt:
  case Category::Other:
    internal_cost(instruction, cost);
    break;
  }
  return cost;
}

} // namespace

std::vector<InstructionCost> instruction_costs(const Program &program) {
  std::vector<InstructionCost> costs;
  costs.reserve(program.size());
  for (uint32_t i = 0; i < program.size(); ++i)
    costs.push_back(cost_of(program[i]));
  return costs;
}

} // namespace nereid::sim::timing
