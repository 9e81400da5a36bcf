#include "sim/checks/hazard_checker.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/decode/program.h"

namespace nereid::sim {

HazardChecker::HazardChecker(const Program &program)
    : program_(program), facts_(program.size()), examined_(program.size(), unknown) {
  const auto rows = hazards();
  for (uint32_t index = 0; index < program.size(); ++index) {
    const Instruction &instruction = program[index];
    if (!instruction.operation)
      continue;
    const HazardView view(instruction, program.effects(index));
    Facts &facts = facts_[index];
    for (unsigned row = 0; row < rows.size(); ++row) {
      facts.first_rows |= uint32_t{rows[row].first(view)} << row;
      facts.second_rows |= uint32_t{rows[row].second(view)} << row;
    }
    facts.passes = static_cast<uint8_t>(view.wide_matrix ? view.passes : 0);
    facts.packed_float = view.is(HazardClass::PackedF32);
    facts.states = static_cast<uint8_t>(view.states());
  }
}

void HazardChecker::begin(Workgroup &, std::span<const std::unique_ptr<Wave>> waves) {
  states_.assign(waves.size(), State{});
  for (size_t k = 0; k < waves.size(); ++k)
    states_[k].next = waves[k]->pc;
}

uint64_t HazardChecker::history(const State &state) const {
  if (state.run >= hazard_reach)
    return 0;
  return state.run_was_long ? uint64_t{state.jump} << 8 | (state.run + 1) : unknown;
}

void HazardChecker::before(Wave &wave, const Instruction &) {
  State &state = states_[wave.index];
  const uint32_t index = wave.current;
  if (index != state.next) {
    state.run_was_long = state.run >= hazard_reach;
    state.jump = state.next - 1;
    state.run = 0;
  }
  const Facts &facts = facts_[index];
  if (facts.second_rows) {
    const uint64_t now = history(state);
    if (now == unknown || examined_[index] != now) {
      examine(wave, state);
      if (wave.fault)
        return;
      examined_[index] = now;
    }
  }
  state.recent[state.executed++ % kept] = index;
  state.run = std::min(state.run + facts.states, hazard_reach);
  state.next = index + 1;
}

unsigned HazardChecker::states_since(const State &state, uint32_t back, const Facts &now) const {
  // Packed f32 arithmetic shares the pipe of matrix operations: it starts 12 cycles after the last is over.
  constexpr unsigned before_packed = 3;
  const unsigned first = recent(state, back).states;
  unsigned time = 0, pipe_is_free = 0;
  for (; back; --back) {
    const Facts &facts = recent(state, back);
    if (facts.passes) {
      time = std::max(time, pipe_is_free);
      pipe_is_free = time + facts.passes;
    } else if (facts.packed_float && pipe_is_free)
      time = std::max(time, pipe_is_free + before_packed);
    time += facts.states;
  }
  if (now.packed_float && pipe_is_free)
    time = std::max(time, pipe_is_free + before_packed);
  return time - first;
}

void HazardChecker::examine(Wave &wave, const State &state) {
  const auto rows = hazards();
  const HazardView second(program_[wave.current], program_.effects(wave.current));
  for (uint32_t left = facts_[wave.current].second_rows; left; left &= left - 1) {
    const auto row = static_cast<unsigned>(std::countr_zero(left));
    const Hazard &hazard = rows[row];
    RegisterSet registers;
    if (hazard.second_registers)
      registers = hazard.second_registers(second);
    unsigned between = 0;
    for (uint32_t back = 1; back <= state.executed && between < hazard_reach; ++back) {
      const uint32_t index = state.recent[(state.executed - back) % kept];
      const Facts &facts = facts_[index];
      if (facts.first_rows >> row & 1) {
        const HazardView first(program_[index], program_.effects(index));
        // Of several instructions that write a register the last one decides.
        RegisterSet common;
        if (hazard.first_registers) {
          common = registers.common(hazard.first_registers(first));
          registers.remove(common);
        }
        const bool meet = !hazard.first_registers || !common.empty();
        const unsigned needed = meet ? hazard.states(first, second) : 0;
        const unsigned passed = between < needed ? states_since(state, back, facts_[wave.current]) : needed;
        if (passed < needed)
          return wave.raise(
              FaultKind::Hazard, -1,
              fmt::format("this {}{}: '{}' at {:#x} is {} wait states before, {} are needed", hazard.text,
                          common.empty() ? "" : " (" + register_name(common.first()) + ")",
                          program_.text(program_[index]), program_[index].address, passed, needed));
      }
      between += facts.states;
    }
  }
}

} // namespace nereid::sim
