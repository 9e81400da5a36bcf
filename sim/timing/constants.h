#pragma once

// Rates and latencies of a compute unit, in core clocks and bytes, each with its source. What is fitted to
// measured times is in device_model.h.
//   GT:   AMD, gfx950 Gluon tutorials (thread traces on MI355X: docs/lds_throughput.md,
//         docs/memory_bandwidth_model.md, kernels/attention/mfma_coissue_scheduling)
//   RPC:  AMD, ROCm Compute Profiler, documentation of the pipeline
//   ROCm: AMD, ROCm documentation, "GPU hardware specifications"
//   WP:   AMD, "CDNA 4 architecture" white paper
//   ISA:  AMD, "CDNA4 Instruction Set Architecture" reference guide
//   guess: no public figure; the order of magnitude of neighbouring generations

#include <cstdint>

namespace nereid::sim::timing {

/// A SIMD has its turn to issue once in so many clocks, and a wave issues one instruction a turn (RPC).
inline constexpr unsigned turn = 4;
/// Waves of a SIMD (RPC).
inline constexpr unsigned waves_of_simd = 8;
inline constexpr unsigned compute_units = 256; ///< of the device (ROCm)

/// A transcendental of a wave (WP: twice CDNA 3's quarter rate), a 32-bit integer product (RPC: quarter
/// rate), an exchange of lane halves (LLVM 22: two units of the vector pipe).
inline constexpr unsigned transcendental_clocks = 8;
inline constexpr unsigned integer_product_clocks = 16;
inline constexpr unsigned lane_swap_clocks = 8;

/// Before an MFMA computes, it reads its operands for eight clocks, four more with scales, in which the SIMD
/// issues nothing else; packed f32 waits twelve clocks after the last MFMA (GT).
inline constexpr unsigned operand_read_clocks = 8;
inline constexpr unsigned load_scale_clocks = 4;
inline constexpr unsigned packed_after_matrix_clocks = 12;

/// The LDS: bytes a clock that a pair of SIMDs sends and gets, requests that wait for a pair, clocks from
/// service to data, and clocks of a lane exchange through it (GT; the latency is the middle of 50 to 70).
inline constexpr unsigned pair_bus_bytes = 128;
inline constexpr unsigned lds_queue = 8;
inline constexpr unsigned lds_latency = 54;

/// Vector memory: wave instructions that wait for the first cache, bytes of it, and of a line. The cache
/// takes four requests a clock: of a word a lane, four neighbouring lanes in one half line are one request,
/// else each lane is (GT: 4 clocks for a word a lane, 16 for two or four; RPC: uncoalesced is a quarter of
/// coalesced). L2 fills it with 64 bytes a clock (GT).
inline constexpr unsigned vector_memory_queue = 12;
inline constexpr unsigned first_cache_bytes = 32 * 1024; // (ROCm)
inline constexpr unsigned line_bytes = 128;              // (ROCm)
inline constexpr unsigned requests_a_clock = 4;
inline constexpr unsigned fill_bytes_a_clock = 64;

/// Idle round trips by where a line is found (guess, after the order of MI300X).
inline constexpr unsigned first_cache_latency = 120;
inline constexpr unsigned l2_latency = 300;
inline constexpr unsigned mall_latency = 550;
inline constexpr unsigned hbm_latency = 850;
/// The scalar cache's (guess), and what a store takes until it is counted as complete (guess).
inline constexpr unsigned scalar_cache_latency = 100;
inline constexpr unsigned store_latency = 500;
/// Writing back or invalidating the L2's lines for the device (measured on MI300X as about 4 us with its
/// waits, of which the waits are counted apart; guess).
inline constexpr unsigned write_back_clocks = 2400;

/// From the arrival of the last wave at a barrier until all go on (guess: 20 to 50).
inline constexpr unsigned barrier_clocks = 24;
/// A sleep of n takes n times this (ISA, S_SLEEP).
inline constexpr unsigned sleep_clocks = 64;
/// The first instructions of a kernel that did not run before come from memory (guess: one round trip), later
/// ones run ahead.
inline constexpr unsigned first_fetch_clocks = hbm_latency;
/// Clocks between the starts of two workgroups of a compute unit (guess: 100 to 200 a shader engine).
inline constexpr unsigned workgroup_start_clocks = 150;

} // namespace nereid::sim::timing
