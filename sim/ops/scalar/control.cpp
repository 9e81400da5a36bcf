// SOPP and the SOP1/SOPK instructions that move the program counter or touch hardware registers.

#include <bit>

#include <fmt/format.h>

#include "sim/decode/operations.h"
#include "sim/decode/program.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

Operation control(std::string name, Category category, Handler handler,
                  OperandType source = OperandType::None) {
  return custom_operation(std::move(name), category, handler, OperandType::None, source);
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
    return (wave.index / 4 & 15) | (wave.index & 3) << 4;
  case lds_allocation:
    return static_cast<uint32_t>((wave.group->lds.size() + 1279) / 1280) << 12;
  case 20: // XCC_ID: workgroups are dealt over the eight dies in turn
    return wave.group->linear_id % 8;
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

/// The index goes to M0[7:0] and what it applies to, the second operand's field itself, to M0[15:12].
void index_on(Wave &wave, const Instruction &instruction) {
  uint32_t index = wave.scalar_value(instruction.source[0], false) & 0xFF;
  uint32_t enabled = instruction.source[1].index & 15u;
  wave.set_scalar(scalar::m0, (wave.sgpr[scalar::m0] & ~0xF0FFu) | index | enabled << 12);
  set_mode_bit(wave, indexing_bit, true);
}
void index_off(Wave &wave, const Instruction &) { set_mode_bit(wave, indexing_bit, false); }
void index_mode(Wave &wave, const Instruction &instruction) {
  wave.set_scalar(scalar::m0, (wave.sgpr[scalar::m0] & ~0xF000u) | (instruction.immediate & 15u) << 12);
}
void index_value(Wave &wave, const Instruction &instruction) {
  uint32_t index = wave.scalar_value(instruction.source[0], false) & 0xFF;
  wave.set_scalar(scalar::m0, (wave.sgpr[scalar::m0] & ~0xFFu) | index);
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

} // namespace

std::vector<Operation> scalar_control_operations() {
  constexpr OperandType none = OperandType::None, word = OperandType::Bits32, pair = OperandType::Bits64;
  std::vector<Operation> rows = {
      control("s_endpgm", Category::Other, end_program),
      control("s_endpgm_saved", Category::Other, end_program),
      control("s_barrier", Category::Barrier, barrier),
      control("s_waitcnt", Category::Waitcnt, nothing),
      control("s_trap", Category::Other, trap),
      control("s_branch", Category::Branch, jump),
      control("s_cbranch_scc0", Category::Branch, branch_if<[](const Wave &w) { return !w.scc; }>),
      control("s_cbranch_scc1", Category::Branch, branch_if<[](const Wave &w) { return w.scc; }>),
      control("s_cbranch_vccz", Category::Branch,
              branch_if<[](const Wave &w) { return w.scalar_pair(scalar::vcc) == 0; }>),
      control("s_cbranch_vccnz", Category::Branch,
              branch_if<[](const Wave &w) { return w.scalar_pair(scalar::vcc) != 0; }>),
      control("s_cbranch_execz", Category::Branch, branch_if<[](const Wave &w) { return w.exec() == 0; }>),
      control("s_cbranch_execnz", Category::Branch, branch_if<[](const Wave &w) { return w.exec() != 0; }>),
      control("s_getpc_b64", Category::Salu, get_pc),
      control("s_setpc_b64", Category::Branch, set_pc, OperandType::Bits64),
      control("s_swappc_b64", Category::Branch, swap_pc, OperandType::Bits64),
      control("s_call_b64", Category::Branch, call),
      control("s_getreg_b32", Category::Salu, get_register),
      control("s_setreg_b32", Category::Salu, set_register),
      control("s_setreg_imm32_b32", Category::Salu, set_register_literal),
      custom_operation("s_set_gpr_idx_on", Category::Salu, index_on, none, word, word),
      control("s_set_gpr_idx_off", Category::Salu, index_off),
      control("s_set_gpr_idx_mode", Category::Salu, index_mode),
      control("s_set_gpr_idx_idx", Category::Salu, index_value, word),
      custom_operation("s_setvskip", Category::Salu, set_skip, none, word, word),
      custom_operation("s_cbranch_g_fork", Category::Branch, fork_to_register, none, pair, pair),
      control("s_cbranch_i_fork", Category::Branch, fork_to_label),
      control("s_cbranch_join", Category::Branch, join, word),
  };
  // Nobody debugs a simulated wave: the branches on a debugger's state are never taken.
  for (const char *name :
       {"s_nop", "s_sleep", "s_setprio", "s_sethalt", "s_icache_inv", "s_incperflevel", "s_decperflevel",
        "s_ttracedata", "s_sendmsg", "s_setkill", "s_wakeup", "s_cbranch_cdbgsys", "s_cbranch_cdbguser",
        "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"})
    rows.push_back(control(name, Category::Other, nothing));
  return rows;
}

} // namespace nereid::sim
