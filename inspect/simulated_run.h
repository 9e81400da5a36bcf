#pragma once

#include "inspect/machine_code.h"
#include "sim/launch/launch.h"
#include "sim/state/memory.h"

namespace nereid::inspect {

/// Adds what a simulated launch does: times, stalls of each instruction, the timeline, coalescing, bank
/// conflicts, traffic. Memory stays as it was. Errors: user: the launch cannot be; device: it faults.
Status add_run(Report &report, const MachineCode &machine, const sim::CodeObject &code, sim::Memory &memory,
               const sim::Launch &launch);

} // namespace nereid::inspect
