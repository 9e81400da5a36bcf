#pragma once

#include <cstdint>

namespace nereid {

/// What an estimate of a launch looks at.
struct CountedLaunch {
  uint64_t workgroups = 1;
  unsigned waves = 1;          ///< of a workgroup
  unsigned waves_per_simd = 1; ///< that are resident at once, by registers and LDS
  uint64_t instructions = 0;   ///< of all waves
  uint64_t longest_wave = 0;   ///< instructions
};

/// Issue slots that the busiest SIMD of an MI350X takes for a launch: 256 compute units of 4 SIMDs,
/// workgroups dealt evenly. The greater of two bounds: each instruction takes a slot of its SIMD; and each
/// round of resident waves takes four slots for each instruction of its longest wave, since a wave alone
/// issues to a SIMD once in four cycles (a 64-lane operation on 16 lanes; AMD CDNA3 ISA 1.1). So waves beyond
/// four a SIMD cost what they execute, and those that do not fit at once wait for a round of their own.
/// Latencies of memory are no part of it.
double estimated_slots(const CountedLaunch &launch);

} // namespace nereid
