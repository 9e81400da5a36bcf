#pragma once

#include <cstdint>
#include <span>

#include "sim/state/effects.h"
#include "sim/state/instruction.h"
#include "sim/state/register_set.h"

namespace nereid::sim {

/// An instruction as the rules of software wait states see it.
struct HazardView {
  const Instruction &instruction;
  const Operation &operation;
  const Effects &effects;
  bool vector_alu;            ///< VALU, matrix operations among them
  bool matrix;                ///< MFMA and SMFMAC
  bool vector_memory;         ///< buffer, global, flat, scratch
  bool memory;                ///< these and ds
  bool wide_matrix = false;   ///< all matrix operations but those on f32 and f64
  bool double_matrix = false; ///< those on f64
  unsigned passes = 0;        ///< of a matrix operation: steps of 4 cycles

  /// The instruction has a row.
  HazardView(const Instruction &of, const Effects &registers);

  bool is(HazardClass hazard) const { return operation.hazard == hazard; }
  /// The wait states that it makes: an instruction is one, s_nop n is n + 1, an exchange of lanes is two.
  unsigned states() const;
};

/// Two instructions between which the hardware does not wait, though the second needs the first to be over.
struct Hazard {
  const char *text; ///< what the second does to the first
  bool (*first)(const HazardView &);
  /// The registers through which the two meet; null: they need none.
  RegisterSet (*first_registers)(const HazardView &);
  bool (*second)(const HazardView &);
  RegisterSet (*second_registers)(const HazardView &);
  /// Wait states that must lie between the two.
  unsigned (*states)(const HazardView &first, const HazardView &second);
};

/// The most wait states that any row asks for.
inline constexpr unsigned hazard_reach = 19;

std::span<const Hazard> hazards();

} // namespace nereid::sim
