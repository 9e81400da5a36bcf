#include "sim/checks/wait_checker.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/decode/program.h"

namespace nereid::sim {

namespace {

/// True for the destination of a load into half a register: the other half only passes through.
bool is_kept_half(const Instruction &instruction, unsigned number) {
  return instruction.operation->memory.element.half && number == instruction.destination &&
         number != instruction.address_register;
}

} // namespace

WaitChecker::WaitChecker(const Program &program) : program_(program), facts_(program.size()) {
  for (uint32_t index = 0; index < program.size(); ++index) {
    Facts &facts = facts_[index];
    const Effects &effects = program.effects(index);
    for (const RegisterRange &range : effects.reads)
      facts.touched.add(range);
    for (const RegisterRange &range : effects.writes)
      facts.touched.add(range);
    facts.counter = counter_of(program[index]);
    facts.waits = program[index].category == Category::Waitcnt;
  }
}

void WaitChecker::begin(Workgroup &, std::span<const std::unique_ptr<Wave>> waves) {
  states_.clear();
  states_.resize(waves.size());
}

void WaitChecker::before(Wave &wave, const Instruction &instruction) {
  const Facts &facts = facts_[wave.current];
  State &state = states_[wave.index];
  if (!state.operations.empty() && facts.touched.overlaps(state.registers)) {
    examine(wave, state, instruction);
    if (wave.fault)
      return;
  }
  if (facts.counter != WaitCounter::None)
    issue(state, wave.current, facts.counter);
  else if (facts.waits) {
    state.outstanding.wait(WaitCounts(static_cast<uint32_t>(instruction.immediate)));
    retire(state);
  }
}

void WaitChecker::issue(State &state, uint32_t index, WaitCounter counter) {
  state.last = {state.outstanding.issue(counter), index};
  if (program_.effects(index).writes.empty())
    return;
  // Without waits nothing else takes out the operations that the counter's limit has completed.
  if (state.operations.size() > 2 * max_vmcnt)
    retire(state);
  state.operations.push_back(state.last);
  add_registers(state, static_cast<uint32_t>(state.operations.size() - 1));
}

void WaitChecker::add_registers(State &state, uint32_t operation) {
  for (const RegisterRange &range : program_.effects(state.operations[operation].instruction).writes)
    for (unsigned k = 0; k < range.count; ++k) {
      const unsigned number = RegisterSet::number(range, k);
      state.registers.add(number);
      state.writer[number] = operation;
    }
}

void WaitChecker::retire(State &state) {
  std::erase_if(state.loads_to_lds,
                [&](const PendingLds &load) { return state.outstanding.done(load.operation.ticket); });
  if (std::erase_if(state.operations,
                    [&](const Pending &operation) { return state.outstanding.done(operation.ticket); }) == 0)
    return;
  state.registers = {};
  for (uint32_t k = 0; k < state.operations.size(); ++k)
    add_registers(state, k);
}

void WaitChecker::examine(Wave &wave, const State &state, const Instruction &instruction) {
  const WaitCounter own = facts_[wave.current].counter;
  auto examine_range = [&](const RegisterRange &range, bool written) {
    for (unsigned k = 0; k < range.count && !wave.fault; ++k) {
      const unsigned number = RegisterSet::number(range, k);
      if (!state.registers.has(number))
        continue;
      const Pending &operation = state.operations[state.writer[number]];
      if (state.outstanding.done(operation.ticket))
        continue;
      // Results that come back in the order of issue may replace each other.
      const bool in_order =
          own == operation.ticket.counter && (own == WaitCounter::Vector || own == WaitCounter::Lds);
      if (in_order && (written || is_kept_half(instruction, number)))
        continue;
      const Instruction &other = program_[operation.instruction];
      wave.raise(FaultKind::Wait, -1,
                 fmt::format("{} is {} before '{}' at {:#x} has written it; s_waitcnt {} is missing",
                             register_name(number), written ? "overwritten" : "read", program_.text(other),
                             other.address, state.outstanding.needed(operation.ticket)));
    }
  };
  const Effects &effects = program_.effects(wave.current);
  for (const RegisterRange &range : effects.reads)
    examine_range(range, false);
  for (const RegisterRange &range : effects.writes)
    examine_range(range, true);
}

void WaitChecker::access(Wave &wave, const Instruction &, const MemoryAccess &access) {
  if (access.space != MemoryAccess::Space::Lds)
    return;
  State &state = states_[wave.index];
  if (access.to_lds) {
    if (state.loads_to_lds.size() > 2 * max_vmcnt)
      retire(state);
    state.loads_to_lds.push_back({state.last, LdsFootprint(access)});
    return;
  }
  for (const PendingLds &load : state.loads_to_lds) {
    if (state.outstanding.done(load.operation.ticket))
      continue;
    auto lane = load.bytes.touched_by(access);
    if (!lane)
      continue;
    const Instruction &other = program_[load.operation.instruction];
    wave.raise(
        FaultKind::Wait, static_cast<int>(*lane),
        fmt::format("LDS byte {:#x} is {} before '{}' at {:#x} has written it; s_waitcnt {} is missing",
                    access.address[*lane], access.writes() ? "overwritten" : "read", program_.text(other),
                    other.address, state.outstanding.needed(load.operation.ticket)));
    return;
  }
}

} // namespace nereid::sim
