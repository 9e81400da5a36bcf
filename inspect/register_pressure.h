#pragma once

#include "inspect/machine_code.h"

namespace nereid::inspect {

/// Fills in how many registers are live before each instruction. A write under a partial EXEC mask counts as
/// a write of the whole register, and what a called function reads is not seen.
void add_register_pressure(Report &report, const MachineCode &machine, const sim::Program &program);

} // namespace nereid::inspect
