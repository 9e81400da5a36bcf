// Live registers by a backward data-flow analysis over the instructions of the kernel.
#include "inspect/register_pressure.h"

#include <bitset>
#include <string_view>

#include "sim/decode/program.h"
#include "sim/state/register_set.h"

namespace nereid::inspect {
namespace {

using Registers = std::bitset<sim::RegisterSet::size>;

Registers registers_of(const std::vector<sim::RegisterRange> &ranges) {
  Registers registers;
  for (const sim::RegisterRange &range : ranges)
    for (unsigned k = 0; k < range.count; ++k)
      registers.set(sim::RegisterSet::number(range, k));
  return registers;
}

/// Scalar registers that the assembler calls s0, s1, ...; VCC, M0 and EXEC are no part of the allocation.
constexpr unsigned numbered_scalars = 102;

unsigned count(const Registers &registers, unsigned first, unsigned end) {
  unsigned sum = 0;
  for (unsigned i = first; i < end; ++i)
    sum += registers.test(i);
  return sum;
}

/// Whether execution never goes on to the next instruction.
bool leaves(std::string_view text) {
  return text.starts_with("s_branch") || text.starts_with("s_endpgm") || text.starts_with("s_setpc");
}

} // namespace

void add_register_pressure(Report &report, const MachineCode &machine, const sim::Program &program) {
  const size_t size = report.code.size();
  std::vector<Registers> reads(size), writes(size), live(size + 1);
  for (size_t i = 0; i < size; ++i) {
    const sim::Effects &effects = program.effects(machine.program_index[i]);
    reads[i] = registers_of(effects.reads);
    writes[i] = registers_of(effects.writes);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = size; i-- > 0;) {
      const Instruction &instruction = report.code[i];
      Registers behind;
      if (!leaves(instruction.text))
        behind = live[i + 1];
      if (instruction.target >= 0)
        behind |= live[static_cast<size_t>(instruction.target)];
      const Registers before = reads[i] | (behind & ~writes[i]);
      changed |= before != live[i];
      live[i] = before;
    }
  }
  for (size_t i = 0; i < size; ++i) {
    report.code[i].live_vgpr = count(live[i], 0, sim::accumulation_base);
    report.code[i].live_agpr = count(live[i], sim::accumulation_base, sim::vector_registers);
    report.code[i].live_sgpr =
        count(live[i], sim::vector_registers, sim::vector_registers + numbered_scalars);
  }
}

} // namespace nereid::inspect
