#pragma once

// Limits of gfx950 as the simulator knows them, each with its source; the compiler keeps a table of its own,
// so that a wrong number in one of the two shows.
//   ISA:  AMD, "CDNA4 Instruction Set Architecture" reference guide
//   ROCm: AMD, ROCm documentation, "GPU hardware specifications"
//   LLVM: LLVM 22, target AMDGPU, processor gfx950

#include <cstdint>

namespace nereid::sim {

/// Lanes of a wave; gfx950 has no other size (ROCm).
inline constexpr unsigned lane_count = 64;

/// Architectural vector registers, and accumulation registers after them (ISA 3.6.4).
inline constexpr unsigned accumulation_base = 256;
inline constexpr unsigned vector_registers = 512;
/// A wave gets vector registers in multiples of this (ISA 3.6.4).
inline constexpr unsigned vector_register_granule = 8;
/// Scalar registers that a 7-bit field names: s0 to s101, VCC, M0, EXEC (ISA 3.6.2).
inline constexpr unsigned scalar_registers = 128;

/// Bytes of LDS that a workgroup can have (ISA 2.2.1), and the granule in which it gets them (ISA 3.6.5).
inline constexpr uint32_t max_lds = 160 * 1024;
inline constexpr uint32_t lds_granule = 1280;

/// Work-items of a workgroup, and so its waves (LLVM: MaxFlatWorkGroupSize).
inline constexpr uint32_t max_work_items = 1024;
inline constexpr unsigned max_waves = max_work_items / lane_count;

/// SIMDs of a compute unit, over which the waves of a workgroup are distributed in turn, and XCDs of a
/// device, over which workgroups are (ROCm).
inline constexpr unsigned simd_count = 4;
inline constexpr unsigned xcd_count = 8;

/// What the fields vmcnt and lgkmcnt of S_WAITCNT hold at most (ISA 4.4, S_WAITCNT).
inline constexpr unsigned max_vmcnt = 63;
inline constexpr unsigned max_lgkmcnt = 15;

} // namespace nereid::sim
