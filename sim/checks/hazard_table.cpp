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
bool is_plain_no_dot(View v) { return v.vector_alu && !v.matrix && !v.dot; }
bool is_plain_or_memory(View v) { return is_plain_vector_alu(v) || v.memory; }
bool is_dot(View v) { return v.dot; }
bool is_transcendental(View v) { return v.transcendental; }
bool is_not_transcendental(View v) { return v.vector_alu && !v.transcendental; }
bool is_vector_memory(View v) { return v.vector_memory; }
bool is_dpp(View v) { return v.vector_alu && v.instruction->permuted; }
bool is_swap(View v) { return v.name.starts_with("v_permlane"); }
bool is_compare_exec(View v) { return v.name.starts_with("v_cmpx"); }
bool is_read_lane(View v) { return v.name == "v_readlane_b32" || v.name == "v_readfirstlane_b32"; }
bool selects_lane(View v) { return v.name == "v_readlane_b32" || v.name == "v_writelane_b32"; }
bool moves_lane(View v) { return is_read_lane(v) || v.name == "v_writelane_b32"; }
bool is_div_fmas(View v) { return v.name.starts_with("v_div_fmas"); }
bool is_double_fma(View v) { return v.name == "v_fma_f64" || v.name == "v_fmac_f64"; }
bool is_set_register(View v) { return v.name.starts_with("s_setreg"); }
bool touches_hardware_register(View v) { return is_set_register(v) || v.name.starts_with("s_getreg"); }
bool is_scalar_alu(View v) { return v.instruction->category == Category::Salu; }
/// Among the loads to LDS those of buffers are not: the ISA names only the global and scratch ones.
bool uses_m0_at_once(View v) {
  return v.name.starts_with("global_load_lds") || v.name.starts_with("scratch_load_lds") ||
         v.name.ends_with("addtid_b32") || v.name.starts_with("s_movrel") ||
         v.name.starts_with("s_sendmsg") || v.name.starts_with("s_ttracedata") ||
         v.name.starts_with("ds_gws");
}
bool is_store(View v) {
  return v.vector_memory && (v.name.find("_store_") != std::string_view::npos ||
                             v.name.find("_atomic_") != std::string_view::npos);
}
bool has_zero_as_operand(View v) {
  return v.vector_alu && std::ranges::any_of(v.instruction->source, [](const Source &source) {
           return source.kind == Source::Kind::Special && (source.index == 251 || source.index == 252);
         });
}
/// The result is moved within its register: SDWA, the upper half, a byte of a packed conversion.
bool moves_result(View v) {
  if (!is_plain_vector_alu(v))
    return false;
  const Instruction &instruction = *v.instruction;
  if (instruction.sdwa_select != 6 || instruction.op_sel & 8)
    return true;
  if (!v.name.starts_with("v_cvt_"))
    return false;
  const std::string_view without_source = v.name.substr(0, v.name.rfind('_'));
  const bool to_bytes = without_source.ends_with("_fp8") || without_source.ends_with("_bf8") ||
                        without_source.ends_with("_fp4");
  return to_bytes && (instruction.op_sel & 12 || without_source.ends_with("sr_pk_fp4"));
}

// Registers by their role.

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
RegisterSet vector_reads(View v) { return vector_part(v.effects->reads); }
RegisterSet vector_writes(View v) { return vector_part(v.effects->writes); }
RegisterSet vector_touches(View v) {
  RegisterSet set = vector_reads(v);
  for (const RegisterRange &range : v.effects->writes)
    if (range.vector)
      set.add(range);
  return set;
}
RegisterSet scalar_writes(View v) { return scalar_part(v.effects->writes); }
RegisterSet scalar_reads(View v) { return scalar_part(v.effects->reads); }

RegisterRange accumulator(View v) {
  const RegisterRange result = v.effects->writes.empty() ? RegisterRange{} : v.effects->writes.front();
  if (v.name.starts_with("v_smfmac"))
    return result;
  const Source &source = v.instruction->source[2];
  return source.kind == Source::Kind::Vector ? RegisterRange{source.index, result.count, true}
                                             : RegisterRange{};
}
RegisterSet accumulator_set(View v) {
  RegisterSet set;
  set.add(accumulator(v));
  return set;
}
/// A, B, scales and the index of sparse operations.
RegisterSet matrix_operands(View v) {
  RegisterSet set;
  bool seen = false;
  for (const RegisterRange &range : v.effects->reads)
    if (!seen && range == accumulator(v))
      seen = true;
    else if (range.vector)
      set.add(range);
  return set;
}

unsigned words(OperandType type) {
  return type == OperandType::Bits64 || type == OperandType::Float64 || type == OperandType::PackedFloat32
             ? 2
             : 1;
}
/// Scalar registers that serve as one value for all lanes; carries and selecting masks, a bit a lane, are
/// forwarded.
RegisterSet scalar_operands(View v) {
  RegisterSet set;
  for (const Source &source : v.instruction->source)
    if (source.kind == Source::Kind::Scalar && source.type != OperandType::LaneBit)
      set.add(RegisterRange{source.index, static_cast<uint8_t>(words(source.type)), false});
  return set;
}
RegisterSet lane_select(View v) {
  RegisterSet set;
  const Source &source = v.instruction->source[1];
  if (source.kind == Source::Kind::Scalar)
    set.add(RegisterRange{source.index, 1, false});
  return set;
}
RegisterSet single(const RegisterRange &range) {
  RegisterSet set;
  set.add(range);
  return set;
}
RegisterSet the_vcc(View) { return single(vcc); }
RegisterSet the_exec(View) { return single(exec); }
RegisterSet the_m0(View) { return single(m0); }
RegisterSet zero_operands(View v) {
  RegisterSet set;
  for (const Source &source : v.instruction->source)
    if (source.kind == Source::Kind::Special)
      set.add(source.index == 251 ? vcc : source.index == 252 ? exec : RegisterRange{});
  return set;
}
/// The data of stores and atomics that take more than one step to read them.
RegisterSet wide_stored_data(View v) {
  RegisterSet set;
  const bool buffer = v.name.starts_with("buffer_") || v.name.starts_with("tbuffer_");
  if (buffer && v.instruction->source[0].kind == Source::Kind::Scalar)
    return set;
  for (const RegisterRange &range : v.effects->reads)
    if (range.vector && range.first == v.instruction->data && range.count > 2)
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
  const bool same = first.effects->writes.front() == accumulator(second);
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
    if (v.instruction->source[k].kind == Source::Kind::Vector)
      set.add(RegisterRange{v.instruction->source[k].index, 1, true});
  return set;
}
/// The same dot product may go on summing at once.
unsigned after_dot(View first, View second) {
  const bool only_sums = first.name == second.name && !vector_writes(first).overlaps(dot_factors(second));
  return only_sums ? 0 : 3;
}
unsigned between_dots(View first, View second) { return first.name == second.name ? 0 : 3; }
unsigned same_hardware_register(View first, View second) {
  return (first.instruction->immediate & 63) == (second.instruction->immediate & 63) ? 2 : 0;
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
      {"reads the VCC that a VALU operation writes", is_vector_alu, scalar_writes, is_div_fmas, the_vcc,
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
      {"touches the hardware register that s_setreg writes", is_set_register, nullptr,
       touches_hardware_register, nullptr, same_hardware_register},
  };
  return rows;
}

} // namespace nereid::sim
