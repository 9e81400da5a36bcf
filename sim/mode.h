#pragma once

#include "sim/wave.h"

namespace nereid::sim {

/// Runs one instruction of a wave whose MODE register is not the ordinary one: float rounding and denormals,
/// indexed vector registers, skipped vector instructions.
void run_in_mode(Wave &wave, const Instruction &instruction);

} // namespace nereid::sim
