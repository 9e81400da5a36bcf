// SOPP and the SOP1/SOPK instructions that move the program counter or touch hardware registers.

#include <bit>

#include <fmt/format.h>

#include "sim/decode/operations.h"
#include "sim/decode/program.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

Operation control(std::string name, Category category, Handler handler,
                  OperandType source = OperandType::None, const RowFacts &facts = {}) {
  return custom_operation(std::move(name), category, handler, OperandType::None, source, OperandType::None,
                          OperandType::None, facts);
}

void nothing(Wave &, const Instruction &) {}

void jump(Wave &wave, const Instruction &instruction) { wave.pc = instruction.target; }

template <auto Condition> void branch_if(Wave &wave, const Instruction &instruction) {
  if (Condition(wave))
    wave.pc = instruction.target;
}

/// Addresses that programs see are those of the loaded image; the base is what the image was moved by.
void jump_to_address(Wave &wave, uint64_t address) {
  uint32_t index = wave.program->index_at(address - wave.image_base);
  if (index == Program::no_instruction)
    return wave.raise(FaultKind::OutOfBounds, -1,
                      fmt::format("jump to {:#x}, where no instruction of this code object starts", address));
  wave.pc = index;
}

void get_pc(Wave &wave, const Instruction &instruction) {
  wave.set_scalar_pair(instruction.destination, wave.image_base + instruction.address + instruction.size);
}
void set_pc(Wave &wave, const Instruction &instruction) {
  jump_to_address(wave, wave.scalar_value(instruction.source[0], true));
}
void swap_pc(Wave &wave, const Instruction &instruction) {
  uint64_t target = wave.scalar_value(instruction.source[0], true);
  get_pc(wave, instruction);
  jump_to_address(wave, target);
}
void call(Wave &wave, const Instruction &instruction) {
  get_pc(wave, instruction);
  wave.pc = instruction.target;
}

void end_program(Wave &wave, const Instruction &) { wave.state = Wave::State::Done; }
void barrier(Wave &wave, const Instruction &) { wave.state = Wave::State::AtBarrier; }

void trap(Wave &wave, const Instruction &instruction) {
  unsigned id = instruction.immediate & 0xFF;
  if (id == 3) // the debug trap of LLVM: execution goes on
    return;
  wave.raise(FaultKind::Trap, -1,
             id == 2 ? "the kernel trapped: an assertion failed or unreachable code was reached"
                     : fmt::format("the kernel raised trap {}", id));
}

struct HardwareField {
  unsigned id, offset, width;
  explicit HardwareField(const Instruction &instruction)
      : id(instruction.immediate & 63), offset(instruction.immediate >> 6 & 31),
        width((instruction.immediate >> 11 & 31) + 1) {}
  uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
};

constexpr unsigned mode_register = 1, status_register = 2, trap_status = 3, lds_allocation = 6;

uint32_t hardware_register(const Wave &wave, unsigned id) {
  switch (id) {
  case mode_register:
    return wave.mode;
  case status_register:
    return wave.scc | (wave.exec() == 0) << 9 | (wave.scalar_pair(scalar::vcc) == 0) << 10;
  case 4: // HW_ID: wave slot and SIMD
    return (wave.index / simd_count & 15) | wave.index % simd_count << 4;
  case lds_allocation:
    return static_cast<uint32_t>((wave.group->lds.size() + lds_granule - 1) / lds_granule) << 12;
  case 20: // XCC_ID: workgroups are distributed over the XCDs in turn
    return wave.group->linear_id % xcd_count;
  default:
    return 0;
  }
}

void get_register(Wave &wave, const Instruction &instruction) {
  HardwareField field(instruction);
  wave.set_scalar(instruction.destination, hardware_register(wave, field.id) >> field.offset & field.mask());
}

void write_register(Wave &wave, const Instruction &instruction, uint32_t value) {
  HardwareField field(instruction);
  if (field.id == trap_status)
    return;
  if (field.id != mode_register)
    return wave.raise(FaultKind::Unsupported, -1, fmt::format("s_setreg of hardware register {}", field.id));
  uint32_t mask = field.mask() << field.offset;
  wave.set_mode((wave.mode & ~mask) | (value << field.offset & mask));
}
void set_register(Wave &wave, const Instruction &instruction) {
  write_register(wave, instruction, wave.sgpr[instruction.destination]);
}
void set_register_literal(Wave &wave, const Instruction &instruction) {
  write_register(wave, instruction, static_cast<uint32_t>(instruction.source[0].value));
}

constexpr uint32_t indexing_bit = 1u << 27, skip_bit = 1u << 28;
constexpr unsigned fork_depth_shift = 29;

void set_mode_bit(Wave &wave, uint32_t bit, bool value) {
  wave.set_mode(value ? wave.mode | bit : wave.mode & ~bit);
}

constexpr uint32_t index_bits = 0xFF, enabled_bits = 0xF000;

/// The index goes to M0[7:0] and what it applies to, the second operand's field itself, to M0[15:12].
void index_on(Wave &wave, const Instruction &instruction) {
  uint32_t index = wave.scalar_value(instruction.source[0], false) & index_bits;
  uint32_t enabled = instruction.source[1].index & 15u;
  wave.set_scalar(scalar::m0, (wave.sgpr[scalar::m0] & ~(index_bits | enabled_bits)) | index | enabled << 12);
  set_mode_bit(wave, indexing_bit, true);
}
void index_on_shadow(Wave &plane, const Instruction &instruction) {
  uint32_t index = plane.scalar_value(instruction.source[0], false) & index_bits;
  plane.set_scalar(scalar::m0, (plane.sgpr[scalar::m0] & ~(index_bits | enabled_bits)) | index);
}
void index_off(Wave &wave, const Instruction &) { set_mode_bit(wave, indexing_bit, false); }
void index_mode(Wave &wave, const Instruction &instruction) {
  wave.set_scalar(scalar::m0, (wave.sgpr[scalar::m0] & ~enabled_bits) | (instruction.immediate & 15u) << 12);
}
void index_mode_shadow(Wave &plane, const Instruction &) {
  plane.set_scalar(scalar::m0, plane.sgpr[scalar::m0] & ~enabled_bits);
}
void index_value(Wave &wave, const Instruction &instruction) {
  uint32_t index = wave.scalar_value(instruction.source[0], false) & index_bits;
  wave.set_scalar(scalar::m0, (wave.sgpr[scalar::m0] & ~index_bits) | index);
}

void set_skip(Wave &wave, const Instruction &instruction) {
  uint64_t bit = wave.scalar_value(instruction.source[1], false) & 31;
  set_mode_bit(wave, skip_bit, wave.scalar_value(instruction.source[0], false) >> bit & 1);
}

/// Two ways of a divergent branch, the shorter one first: the other one waits with its lanes on a stack of
/// scalar registers until a join.
void fork(Wave &wave, uint64_t taken_lanes, uint64_t target, uint64_t next) {
  const uint64_t exec = wave.exec(), pass = taken_lanes & exec, fail = ~taken_lanes & exec;
  if (pass == exec)
    return jump_to_address(wave, target);
  if (fail == exec)
    return;
  const bool fall_through = std::popcount(fail) < std::popcount(pass);
  const unsigned depth = wave.mode >> fork_depth_shift;
  wave.set_scalar_pair(4 * depth, fall_through ? pass : fail);
  wave.set_scalar_pair(4 * depth + 2, fall_through ? target : next);
  wave.set_mode(wave.mode + (1u << fork_depth_shift));
  wave.set_exec(fall_through ? fail : pass);
  if (!fall_through)
    jump_to_address(wave, target);
}
uint64_t next_address(const Wave &wave, const Instruction &instruction) {
  return wave.image_base + instruction.address + instruction.size;
}
void fork_to_register(Wave &wave, const Instruction &instruction) {
  fork(wave, wave.scalar_value(instruction.source[0], true), wave.scalar_value(instruction.source[1], true),
       next_address(wave, instruction));
}
void fork_to_label(Wave &wave, const Instruction &instruction) {
  const uint64_t next = next_address(wave, instruction);
  const int64_t distance = 4 * int64_t{instruction.immediate};
  fork(wave, wave.scalar_pair(instruction.destination), next + static_cast<uint64_t>(distance), next);
}
void join(Wave &wave, const Instruction &instruction) {
  const uint32_t saved = static_cast<uint32_t>(wave.scalar_value(instruction.source[0], false));
  if (wave.mode >> fork_depth_shift == saved)
    return;
  wave.set_mode(wave.mode - (1u << fork_depth_shift));
  const unsigned first = 4 * (wave.mode >> fork_depth_shift);
  const uint64_t target = wave.scalar_pair(first + 2);
  wave.set_exec(wave.scalar_pair(first));
  jump_to_address(wave, target);
}

/// A branch by an immediate distance, on a condition that `kind` names.
Operation branch(std::string name, Handler handler, Taint::Kind kind = Taint::Kind::Branch) {
  return control(std::move(name), Category::Branch, handler, OperandType::None,
                 {.traits = Operation::RelativeTarget, .taint = taint::of_kind(kind)});
}
/// A branch to an address that registers hold.
Operation indirect(std::string name, Handler handler, OperandType a = OperandType::None,
                   OperandType b = OperandType::None) {
  return custom_operation(std::move(name), Category::Branch, handler, OperandType::None, a, b,
                          OperandType::None, {.taint = taint::branch});
}

void rows_branches(std::vector<Operation> &rows) {
  constexpr OperandType word = OperandType::Bits32, pair = OperandType::Bits64;
  constexpr Taint::Kind on_scc = Taint::Kind::BranchOnScc, on_vcc = Taint::Kind::BranchOnVcc;
  rows.insert(
      rows.end(),
      {
          branch("s_branch", jump),
          branch("s_cbranch_scc0", branch_if<[](const Wave &w) { return !w.scc; }>, on_scc),
          branch("s_cbranch_scc1", branch_if<[](const Wave &w) { return w.scc; }>, on_scc),
          branch("s_cbranch_vccz", branch_if<[](const Wave &w) { return w.scalar_pair(scalar::vcc) == 0; }>,
                 on_vcc),
          branch("s_cbranch_vccnz", branch_if<[](const Wave &w) { return w.scalar_pair(scalar::vcc) != 0; }>,
                 on_vcc),
          branch("s_cbranch_execz", branch_if<[](const Wave &w) { return w.exec() == 0; }>),
          branch("s_cbranch_execnz", branch_if<[](const Wave &w) { return w.exec() != 0; }>),
          control("s_call_b64", Category::Branch, call, OperandType::None,
                  {.traits = Operation::RelativeTarget | Operation::ReadsPc}),
          control("s_getpc_b64", Category::Salu, get_pc, OperandType::None, {.traits = Operation::ReadsPc}),
          indirect("s_setpc_b64", set_pc, pair),
          indirect("s_swappc_b64", swap_pc, pair),
          indirect("s_cbranch_g_fork", fork_to_register, pair, pair),
          indirect("s_cbranch_i_fork", fork_to_label),
          indirect("s_cbranch_join", join, word),
      });
}

void rows_modes(std::vector<Operation> &rows) {
  constexpr OperandType none = OperandType::None, word = OperandType::Bits32;
  constexpr RowFacts sets{.hazard = HazardClass::SetsHardwareRegister};
  const auto indexing = [&](const char *name, Handler handler, OperandType a, OperandType b,
                            Handler shadow_handler) {
    return custom_operation(
        name, Category::Salu, handler, none, a, b, none,
        {.traits = Operation::IndexesRegisters, .taint = taint::move, .shadow_handler = shadow_handler});
  };
  rows.insert(rows.end(), {
                              control("s_getreg_b32", Category::Salu, get_register, none,
                                      {.hazard = HazardClass::GetsHardwareRegister}),
                              control("s_setreg_b32", Category::Salu, set_register, none, sets),
                              control("s_setreg_imm32_b32", Category::Salu, set_register_literal, none, sets),
                              indexing("s_set_gpr_idx_on", index_on, word, word, index_on_shadow),
                              indexing("s_set_gpr_idx_mode", index_mode, none, none, index_mode_shadow),
                              indexing("s_set_gpr_idx_idx", index_value, word, none, nullptr),
                              control("s_set_gpr_idx_off", Category::Salu, index_off),
                              custom_operation("s_setvskip", Category::Salu, set_skip, none, word, word),
                          });
}

} // namespace

std::vector<Operation> scalar_control_operations() {
  constexpr OperandType none = OperandType::None;
  constexpr RowFacts by_m0{.hazard = HazardClass::ReadsM0};
  std::vector<Operation> rows = {
      control("s_endpgm", Category::Other, end_program),
      control("s_endpgm_saved", Category::Other, end_program),
      control("s_barrier", Category::Barrier, barrier),
      control("s_waitcnt", Category::Waitcnt, nothing),
      control("s_trap", Category::Other, trap),
      control("s_nop", Category::Other, nothing, none, {.hazard = HazardClass::WaitStates}),
      control("s_ttracedata", Category::Other, nothing, none, by_m0),
      control("s_sendmsg", Category::Other, nothing, none, by_m0),
  };
  rows_branches(rows);
  rows_modes(rows);
  // Nobody debugs a simulated wave: the branches on a debugger's state are never taken.
  for (const char *name : {"s_sleep", "s_setprio", "s_sethalt", "s_icache_inv", "s_incperflevel",
                           "s_decperflevel", "s_setkill", "s_wakeup", "s_cbranch_cdbgsys",
                           "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"})
    rows.push_back(control(name, Category::Other, nothing));
  return rows;
}

} // namespace nereid::sim
