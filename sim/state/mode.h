#pragma once

#include "sim/state/wave.h"

namespace nereid::sim {

/// Whether the wave leaves out this instruction (vskip).
bool is_skipped(const Wave &wave, const Instruction &instruction);
/// Whether the wave adds an index to the instruction's vector registers.
bool is_indexed(const Wave &wave, const Instruction &instruction);
/// Adds it. False when the destination is out of range: such a result is dropped.
bool add_index(const Wave &wave, Instruction &instruction);

/// Runs one instruction of a wave whose MODE register is not the ordinary one: float rounding and denormals,
/// indexed vector registers, skipped vector instructions.
void run_in_mode(Wave &wave, const Instruction &instruction);

} // namespace nereid::sim
