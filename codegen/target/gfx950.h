#pragma once

#include <cstdint>

/// What an MI350X or MI355X (gfx950) is, a source beside each number:
/// - ISA: AMD, "AMD Instinct CDNA4 Instruction Set Architecture", by section;
/// - SPEC: ROCm documentation, "Accelerator and GPU hardware specifications";
/// - RPC: ROCm Compute Profiler documentation, "Compute unit (CU)";
/// - LLVM: "Syntax of AMDGPU Instruction Operands and Modifiers".
/// What only serves to weigh one plan against another is in cost_model.h.
namespace nereid::codegen::gfx950 {

// --- A wave and where it runs ---

inline constexpr unsigned lanes = 64; ///< of a wave (SPEC, "wavefront size")
inline constexpr unsigned log2_lanes = 6;
inline constexpr unsigned simds = 4; ///< of a compute unit; a workgroup's waves are spread over them (RPC)
inline constexpr unsigned wave_slots = 8; ///< of a SIMD (RPC)
/// Lanes of a row, which DPP and the row swaps work on (LLVM, dpp_ctrl: row_mirror, row_shl).
inline constexpr unsigned row_lanes = 16;

// --- Registers of a lane, 32 bits each ---

inline constexpr unsigned register_file =
    512;                               ///< of a SIMD, for all its waves (SPEC: 512 KiB a CU; ISA 3.6.4)
inline constexpr unsigned vgprs = 256; ///< that a wave can have at most, v0 to v255 (ISA 3.6.4)
inline constexpr unsigned agprs = 256; ///< a0 to a255, from the same file (ISA 3.6.4)
inline constexpr unsigned register_granule = 8; ///< a wave gets multiples of it (ISA 3.6.4)

/// Scalar registers that a wave can start with, before those of its place in the grid (ISA 3.13).
inline constexpr unsigned user_registers = 16;

/// VGPRs and AGPRs of a wave where a SIMD holds `waves` of them.
constexpr unsigned registers_of_wave(unsigned waves) { return register_file / waves; }

// --- LDS ---

inline constexpr uint32_t lds_bytes =
    160 * 1024;                               ///< of a compute unit; one workgroup can have all (ISA 3.6.5)
inline constexpr unsigned lds_granule = 1280; ///< bytes: a workgroup gets multiples of it (ISA 3.6.5)
inline constexpr unsigned lds_log2_banks = 6; ///< 64 banks (ISA 2.2.1)
inline constexpr unsigned lds_bank_bytes = 4; ///< (ISA 2.2.1)
inline constexpr unsigned lds_line_bytes = lds_bank_bytes << lds_log2_banks; ///< across all banks

// --- Memory instructions ---

inline constexpr unsigned max_access_bytes = 16; ///< of a lane: dwordx4, b128 (ISA 9.1, 11.3)
/// Narrower accesses may lie anywhere their own size divides; wider ones need dwords (ISA 9.1.7).
inline constexpr unsigned access_alignment = 4;
inline constexpr unsigned lds_copy_bytes = 16; ///< of a lane, in the widest load to LDS (ISA 9.1.9)
/// Bytes beyond its address that the immediate offset of an LDS instruction spans (ISA 11.3, 13.6).
inline constexpr uint32_t lds_offset_reach = uint32_t(1) << 16;
inline constexpr unsigned cache_line_bytes = 128; ///< of vector L1 and L2 (SPEC)
/// Bytes that a buffer descriptor of ours reaches. Offsets from here on are out of range: loads give zeros,
/// stores are dropped, loads to LDS write zeros (ISA 9.1.5.1). Half of what 32 bits can say, so that no sum
/// of offsets wraps.
inline constexpr uint32_t buffer_range = uint32_t(1) << 31;
/// Word 3 of a descriptor: raw buffer, 32-bit data (ISA 9.1.8, table 48).
inline constexpr uint32_t buffer_flags = 0x00027000;

/// Cache policy of a buffer instruction: nt, sc1 (ISA 9.1.10).
inline constexpr unsigned policy_nontemporal = 2, policy_device_scope = 16;

// --- Counters of s_waitcnt (ISA 4.4) ---

inline constexpr unsigned max_vmcnt = 63; ///< 6 bits; as an operand it waits for nothing

// --- Matrix instructions (ISA table 28: passes of each) ---

inline constexpr unsigned clocks_of_pass = 4;
/// Passes of the 16x16 instructions of 4-, 6- and 16-bit formats and i8; an 8-bit format in F8F6F4
/// doubles them, 32x32 doubles them.
inline constexpr unsigned mfma_passes = 4;

} // namespace nereid::codegen::gfx950
