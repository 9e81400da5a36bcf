#include "sim/checks/hazard_table.h"

#include <algorithm>

namespace nereid::sim {

namespace {

using View = const HazardView &;

constexpr RegisterRange vcc{scalar::vcc, 2, false}, exec{scalar::exec, 2, false}, m0{scalar::m0, 1, false};

// Classes of instructions.

bool is_matrix(View v) { return v.matrix; }
bool is_wide_matrix(View v) { return v.wide_matrix; }
bool is_double_matrix(View v) { return v.double_matrix; }
bool is_vector_alu(View v) { return v.vector_alu; }
bool is_plain_vector_alu(View v) { return v.vector_alu && !v.matrix; }
bool is_plain_no_dot(View v) { return v.vector_alu && !v.matrix && !v.is(HazardClass::DotProduct); }
bool is_plain_or_memory(View v) { return is_plain_vector_alu(v) || v.memory; }
bool is_dot(View v) { return v.is(HazardClass::DotProduct); }
bool is_transcendental(View v) { return v.is(HazardClass::Transcendental); }
bool is_not_transcendental(View v) { return v.vector_alu && !is_transcendental(v); }
bool is_vector_memory(View v) { return v.vector_memory; }
bool is_dpp(View v) { return v.vector_alu && v.instruction.permuted; }
bool is_swap(View v) { return v.is(HazardClass::LaneSwap); }
bool is_compare_exec(View v) { return v.operation.has(Operation::WritesExec); }
bool is_read_lane(View v) { return v.is(HazardClass::ReadLane) || v.is(HazardClass::ReadFirstLane); }
bool selects_lane(View v) { return v.is(HazardClass::ReadLane) || v.is(HazardClass::WriteLane); }
bool moves_lane(View v) { return is_read_lane(v) || v.is(HazardClass::WriteLane); }
bool reads_vcc_mask(View v) { return v.operation.has(Operation::ImplicitVcc); }
bool is_double_fma(View v) { return v.is(HazardClass::F64Fma); }
bool sets_register(View v) { return v.is(HazardClass::SetsHardwareRegister); }
bool touches_hardware_register(View v) { return sets_register(v) || v.is(HazardClass::GetsHardwareRegister); }
bool is_scalar_alu(View v) { return v.operation.category == Category::Salu; }
/// Loads of buffers to LDS are not among these: the ISA names only the global and scratch ones.
bool uses_m0_at_once(View v) { return v.is(HazardClass::ReadsM0); }
bool is_store(View v) {
  const MemoryForm::Kind kind = v.operation.memory.kind;
  return v.vector_memory && (kind == MemoryForm::Kind::Store || kind == MemoryForm::Kind::Atomic);
}
bool has_zero_as_operand(View v) {
  return v.vector_alu && std::ranges::any_of(v.instruction.source, [](const Source &source) {
           return source.kind == Source::Kind::Special && (source.index == 251 || source.index == 252);
         });
}
/// The result is moved within its register: SDWA, the upper half, a byte of a packed conversion.
bool moves_result(View v) {
  if (!is_plain_vector_alu(v))
    return false;
  const uint8_t op_sel = v.instruction.op_sel;
  return v.instruction.sdwa_select != 6 || op_sel & 8 || v.is(HazardClass::MovedResult) ||
         (v.is(HazardClass::SelectedByteResult) && op_sel & 12);
}

// Registers by their role.

RegisterSet single(const RegisterRange &range) {
  RegisterSet set;
  set.add(range);
  return set;
}
RegisterSet vector_part(const std::vector<RegisterRange> &ranges) {
  RegisterSet set;
  for (const RegisterRange &range : ranges)
    if (range.vector)
      set.add(range);
  return set;
}
RegisterSet scalar_part(const std::vector<RegisterRange> &ranges) {
  RegisterSet set;
  for (const RegisterRange &range : ranges)
    if (!range.vector)
      set.add(range);
  return set;
}
RegisterSet vector_reads(View v) { return vector_part(v.effects.reads); }
RegisterSet vector_writes(View v) { return vector_part(v.effects.writes); }
RegisterSet vector_touches(View v) {
  RegisterSet set = vector_reads(v);
  for (const RegisterRange &range : v.effects.writes)
    if (range.vector)
      set.add(range);
  return set;
}
RegisterSet scalar_writes(View v) { return scalar_part(v.effects.writes); }
RegisterSet scalar_reads(View v) { return scalar_part(v.effects.reads); }

RegisterRange accumulator(View v) {
  const RegisterRange result = v.effects.writes.empty() ? RegisterRange{} : v.effects.writes.front();
  if (v.operation.has(Operation::SparseIndex))
    return result;
  const Source &source = v.instruction.source[2];
  return source.kind == Source::Kind::Vector ? RegisterRange{source.index, result.count, true}
                                             : RegisterRange{};
}
RegisterSet accumulator_set(View v) { return single(accumulator(v)); }
/// A, B, scales and the index of sparse operations.
RegisterSet matrix_operands(View v) {
  RegisterSet set;
  bool seen = false;
  for (const RegisterRange &range : v.effects.reads)
    if (!seen && range == accumulator(v))
      seen = true;
    else if (range.vector)
      set.add(range);
  return set;
}

/// Scalar registers that serve as one value for all lanes; carries and selecting masks, a bit a lane, are
/// forwarded.
RegisterSet scalar_operands(View v) {
  RegisterSet set;
  for (const Source &source : v.instruction.source)
    if (source.kind == Source::Kind::Scalar && source.type != OperandType::LaneBit)
      set.add(RegisterRange{source.index, static_cast<uint8_t>(is_wide(source.type) ? 2 : 1), false});
  return set;
}
RegisterSet lane_select(View v) {
  RegisterSet set;
  const Source &source = v.instruction.source[1];
  if (source.kind == Source::Kind::Scalar)
    set.add(RegisterRange{source.index, 1, false});
  return set;
}
RegisterSet the_vcc(View) { return single(vcc); }
RegisterSet the_exec(View) { return single(exec); }
RegisterSet the_m0(View) { return single(m0); }
RegisterSet zero_operands(View v) {
  RegisterSet set;
  for (const Source &source : v.instruction.source)
    if (source.kind == Source::Kind::Special)
      set.add(source.index == 251 ? vcc : source.index == 252 ? exec : RegisterRange{});
  return set;
}
/// The data of stores and atomics that take more than one step to read them.
RegisterSet wide_stored_data(View v) {
  RegisterSet set;
  if (v.operation.memory.addressing == Addressing::Buffer &&
      v.instruction.source[0].kind == Source::Kind::Scalar)
    return set;
  for (const RegisterRange &range : v.effects.reads)
    if (range.vector && range.first == v.instruction.data && range.count > 2)
      set.add(range);
  return set;
}
// Numbers of states.

template <unsigned Count> unsigned fixed(View, View) { return Count; }

/// LLVM 22 looks back 19 states though 16 passes would need 20; its code must not be reported.
unsigned reached(unsigned states) { return std::min(states, hazard_reach); }

unsigned after_result(View first, View second) {
  if (first.double_matrix)
    return first.passes == 16 ? (second.memory ? 18 : 19) : (second.memory ? 9 : 6);
  return first.wide_matrix ? reached(first.passes == 2 ? 5 : first.passes + 4) : first.passes + 2;
}
unsigned before_overwriting(View first, View second) {
  if (first.double_matrix)
    return first.passes == 16 ? 11 : 6;
  return after_result(first, second);
}
unsigned before_accumulating(View first, View second) {
  const bool same = first.effects.writes.front() == accumulator(second);
  if (same) {
    if (first.double_matrix)
      return first.passes == 8 && second.double_matrix && second.passes == 8 ? 4 : 0;
    return first.passes == 2 ? 2 : 0;
  }
  if (first.wide_matrix)
    return first.passes + 2;
  if (second.wide_matrix)
    return 0;
  return first.double_matrix ? (first.passes == 16 ? 17 : 4) : first.passes;
}
unsigned before_overwriting_accumulator(View first, View) { return first.passes - 1; }
RegisterSet dot_factors(View v) {
  RegisterSet set;
  for (unsigned k = 0; k < 2; ++k)
    if (v.instruction.source[k].kind == Source::Kind::Vector)
      set.add(RegisterRange{v.instruction.source[k].index, 1, true});
  return set;
}
/// The same dot product may go on summing at once.
unsigned after_dot(View first, View second) {
  const bool only_sums =
      &first.operation == &second.operation && !vector_writes(first).overlaps(dot_factors(second));
  return only_sums ? 0 : 3;
}
unsigned between_dots(View first, View second) { return &first.operation == &second.operation ? 0 : 3; }
unsigned same_hardware_register(View first, View second) {
  return (first.instruction.immediate & 63) == (second.instruction.immediate & 63) ? 2 : 0;
}

} // namespace

std::span<const Hazard> hazards() {
  static constexpr Hazard rows[] = {
      {"reads what a matrix operation writes", is_matrix, vector_writes, is_plain_or_memory, vector_reads,
       after_result},
      {"has as operand what a matrix operation writes", is_matrix, vector_writes, is_matrix, matrix_operands,
       after_result},
      {"accumulates on a part of what a matrix operation writes", is_matrix, vector_writes, is_matrix,
       accumulator_set, before_accumulating},
      {"overwrites what a matrix operation writes", is_matrix, vector_writes, is_plain_or_memory,
       vector_writes, before_overwriting},
      {"overwrites what a matrix operation accumulates on", is_wide_matrix, accumulator_set,
       is_plain_or_memory, vector_writes, before_overwriting_accumulator},
      {"is a matrix operation on what a VALU operation writes", is_plain_no_dot, vector_writes, is_matrix,
       vector_reads, fixed<2>},
      {"is an f64 operation behind a matrix operation on f64", is_double_matrix, nullptr, is_double_fma,
       nullptr, fixed<2>},
      {"is a matrix operation under an EXEC that a VALU operation writes", is_plain_vector_alu, scalar_writes,
       is_matrix, the_exec, fixed<4>},
      {"is DPP under an EXEC that a VALU operation writes", is_vector_alu, scalar_writes, is_dpp, the_exec,
       fixed<5>},
      {"moves lanes under an EXEC that a VALU operation writes", is_vector_alu, scalar_writes, moves_lane,
       the_exec, fixed<4>},
      {"swaps lanes under an EXEC that v_cmpx writes", is_compare_exec, nullptr, is_swap, nullptr, fixed<4>},
      {"reads by DPP what a VALU operation writes", is_vector_alu, vector_writes, is_dpp, vector_reads,
       fixed<2>},
      {"reads a lane of what a VALU operation writes", is_vector_alu, vector_writes, is_read_lane,
       vector_reads, fixed<1>},
      {"swaps lanes of what a VALU operation writes", is_vector_alu, vector_writes, is_swap, vector_reads,
       fixed<2>},
      {"uses as address a scalar that a VALU operation writes", is_vector_alu, scalar_writes,
       is_vector_memory, scalar_reads, fixed<5>},
      {"selects a lane by a scalar that a VALU operation writes", is_vector_alu, scalar_writes, selects_lane,
       lane_select, fixed<4>},
      {"reads a scalar that a VALU operation writes", is_vector_alu, scalar_writes, is_vector_alu,
       scalar_operands, fixed<2>},
      {"reads the VCC that a VALU operation writes", is_vector_alu, scalar_writes, reads_vcc_mask, the_vcc,
       fixed<4>},
      {"tests for zero a mask that a VALU operation writes", is_vector_alu, scalar_writes,
       has_zero_as_operand, zero_operands, fixed<5>},
      {"touches a result that is moved within its register", moves_result, vector_writes, is_vector_alu,
       vector_touches, fixed<1>},
      {"reads the result of a transcendental operation", is_transcendental, vector_writes,
       is_not_transcendental, vector_reads, fixed<1>},
      {"reads the result of a dot product", is_dot, vector_writes, is_plain_or_memory, vector_reads,
       after_dot},
      {"overwrites the result of a dot product", is_dot, vector_writes, is_plain_or_memory, vector_writes,
       between_dots},
      {"uses an M0 that the scalar ALU writes", is_scalar_alu, scalar_writes, uses_m0_at_once, the_m0,
       fixed<1>},
      {"overwrites data of a wide store", is_store, wide_stored_data, is_vector_alu, vector_writes, fixed<2>},
      {"touches the hardware register that s_setreg writes", sets_register, nullptr,
       touches_hardware_register, nullptr, same_hardware_register},
  };
  return rows;
}

} // namespace nereid::sim
