#pragma once

#include <vector>

#include "sim/decode/program.h"

namespace nereid::sim::timing {

/// What executes an instruction. A SIMD issues one instruction of each kind but the last in a turn.
enum class Unit : uint8_t { Vector, Matrix, Scalar, Lds, VectorMemory, Branch, Internal };
inline constexpr unsigned unit_count = 7;

/// What an instruction costs beside its accesses to memory.
struct InstructionCost {
  Unit unit = Unit::Internal;
  uint16_t clocks = 0;      ///< for which it occupies its unit
  uint16_t exclusive = 0;   ///< for which the SIMD issues nothing else
  uint16_t wave_clocks = 0; ///< until its wave can issue again
  bool packed_f32 = false;  ///< keeps apart from MFMAs
  bool scalar_load = false;
  bool stores = false;     ///< or is an atomic without result
  bool write_back = false; ///< writes back or invalidates the L2
  bool barrier = false, wait = false, ends = false;
  uint8_t vmcnt = 63, lgkmcnt = 15; ///< of a wait
  uint8_t priority = no_priority;   ///< that it sets
  /// What an MFMA on FP4 computes in the time of this one: power goes with the clocks of the matrix cores.
  /// The core clock of dense products is 1.44 GHz on FP16, 1.56 on FP8 and 1.36 on FP4 (GT, by its TFLOPS).
  double flop = 0;
  static constexpr uint8_t no_priority = 255;
};

/// The cost of each instruction of a program, by index.
std::vector<InstructionCost> instruction_costs(const Program &program);

} // namespace nereid::sim::timing
