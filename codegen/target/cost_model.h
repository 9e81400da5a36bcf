#pragma once

#include <cstdint>

#include "codegen/target/gfx950.h"

/// What the compiler weighs one plan against another with, and what each number trades. They decide how fast
/// code is, never what it computes. "Fitted" numbers were not measured on a device: they were chosen so that
/// the library's kernels compile to the code that docs/codegen-quality.md counts and
/// tests/kernels/isa_budgets.cpp demands, without spills and moves, with LLVM 22.1. Beside each stands what
/// other values do to the code of these tiles (block_m x block_n, 4 waves): fused 16 x 64, 16 x 32, 32 x 64,
/// 48 x 64, 64 x 128, 128 x 64; two passes 64 x 64, 128 x 128, 192 x 256, 128 x 512, and with 8 waves 256 x
/// 256.
namespace nereid::codegen::cost {

// --- Instructions ---

/// A wave issues one vector instruction: 64 lanes on a SIMD of 16 (ROCm Compute Profiler, "Compute unit").
inline constexpr unsigned vector_clocks = 4;
/// One matrix instruction of 16x16.
inline constexpr int64_t mfma_clocks = gfx950::mfma_passes * gfx950::clocks_of_pass;
/// LDS reads of a pair of SIMDs, and reads through the vector cache of a compute unit; AMD's measurements in
/// github.com/ROCm/gfx950-gluon-tutorials (docs/lds_throughput.md, docs/tcp_bound_tile_model.md).
inline constexpr int64_t lds_bytes_per_clock = 128;
inline constexpr int64_t cache_bytes_per_clock = 64;

// --- Conversions: lanes or LDS (convert/) ---

/// ds_bpermute of one dword: issue and the way through the LDS crossbar. Estimated from the 128 bytes a
/// clock.
inline constexpr unsigned shuffle_clocks = 8;
/// Until the first result of an LDS instruction is there: 50 to 70 clocks in the measurements above.
inline constexpr unsigned lds_latency = 64;
/// An exchange through LDS besides its accesses: two latencies, and about one more for its two barriers.
inline constexpr unsigned exchange_latency = 3 * lds_latency;
/// An LDS instruction's issue slot, besides the clocks of its banks.
inline constexpr unsigned lds_issue_clocks = 4;

// --- Memory accesses (assign/) ---

/// A load or write refuses a layout in which it would move less than a dword at a time, where its own moves
/// this many times as much: bytes are given up for dwords. Fitted: with 2 halves are given up too, and
/// two-pass 64 x 64 converts more; with 8 nothing changes.
inline constexpr unsigned access_gain = 4;

// --- Sharing quantisation (assign/layout_choice) ---

/// Waves that need the same rows quantise a part each above this many values a lane: one barrier an iteration
/// against the about 1.7 vector instructions of a value (docs/codegen-quality.md). Below, a wave is done with
/// all of them before the others could have told it. From 32 to 128 nothing changes.
inline constexpr uint32_t values_worth_a_barrier = 64;

// --- Loops split over the waves (analysis/wave_split_loops, plan/wave_split) ---

/// Rows of tiles whose loops are split: waves that share the columns of larger tiles do as well, and need no
/// sum over the waves. Fitted: with 16 fused 32 x 64 is not split, with 64 two-pass 64 x 64 is.
inline constexpr int64_t max_split_rows = 32;
/// The waves' accumulators, which meet in LDS: two workgroups of a compute unit have room for theirs.
/// With 32 KiB fused 48 x 64 is not split, with 128 KiB nothing changes.
inline constexpr int64_t max_split_accumulator_bytes = 64 * 1024;
/// Waves that share columns quantise a part of A's rows each, if these are a multiple of
/// `shared_quantize_rows`. Else all quantise all of them, and splitting the loop is worth more rows. Fitted:
/// 48 and 96 rows are split (isa_budgets.cpp); it depends on the number of values of A that a wave quantises.
inline constexpr int64_t max_odd_split_rows = 128, shared_quantize_rows = 32;
/// Column tiles of a wave from which on an LDS pipeline does as well as a split loop: a wave with one of them
/// takes the half of a scale dword.
inline constexpr unsigned column_tiles_of_pipeline = 2;
/// Registers for a dot's accumulators and operands in a kernel without AGPRs: the rest of the 256 is for
/// addresses. Higher: spills; lower: moves to and from AGPRs. Fitted: from 128 to 240 nothing changes.
inline constexpr unsigned vgprs_of_dots = 208;

// --- Register prefetch (schedule/prefetch_plan) ---

/// Registers of an iteration besides accumulators and loads in flight; twice as many where there are no
/// AGPRs to put something aside. Lower: spills; higher: fewer iterations in flight. Fitted: from 8 to 28
/// nothing changes, with 32 fused 32 x 64 and 128 x 64 have no iteration in flight.
inline constexpr unsigned working_registers = 26;

/// Iterations of a wave that are written out with the loads of all in flight; more make long code.
inline constexpr int64_t max_written_out_iterations = 8;
/// Bytes a lane that a compute unit's vector memory serves in a round trip to HBM: 16 in 16 clocks, about
/// 1000 clocks. The waves together start so many, and each a first group more, before anything is computed.
/// Fitted to simulated times of eight tiles of 2, 4 and 8 waves: with half or twice as many some are 6 %
/// slower.
inline constexpr unsigned bytes_of_round_trip = 1024;
/// Tenths of the steps of quantisation with which the other loads are started. Fewer: waves stand at the
/// queue; more: what the dots want comes late. From 7 to 10 it makes 1 %.
inline constexpr unsigned steps_with_loads = 8;

// --- LDS pipelines (schedule/lds_pipeline_schedule) ---

/// Buffers, by which the loop is unrolled: more make code that leaves the instruction cache (64 KiB, shared
/// by two compute units). Fitted: from 3 to 6 nothing changes.
inline constexpr unsigned max_pipeline_buffers = 4;
/// Registers that the scheduler has in flight. Lower: spills; higher: fewer buffers. Fitted: from 5 on
/// nothing changes up to where 256 x 256 and 128 x 512 are no pipelines any more, which is so with 20; with 0
/// 256 x 256 takes all 256 registers.
inline constexpr unsigned pipeline_reserve = 10;
/// Operands that are read from LDS at a time, in registers: a chunk and the next. Fitted: with 64 192 x 256
/// is cut into more chunks, with 128 nothing changes.
inline constexpr unsigned max_registers_from_lds = 96;
/// Chunks of a stage while accumulators are in VGPRs: beyond, AGPRs cost less than the waits. Fitted:
/// from 2 to 8 nothing changes.
inline constexpr unsigned max_chunks_in_vgprs = 4;
/// Accumulators from which on LLVM finds no AGPR to move another through: with more than two chunks it then
/// moves some in each iteration. Depends on LLVM's register allocator; from 128 to 256 nothing changes.
inline constexpr unsigned crowded_agprs = 240;
/// Matrix instructions of a stage that are ordered by group barriers: the time of LLVM's scheduler grows
/// faster than their number. Beyond, every second one has a scheduling barrier. Depends on LLVM's scheduler:
/// with 160 128 x 512 spills, with 40 256 x 256 is ordered by barriers too.
inline constexpr unsigned max_grouped_instructions = 80;

} // namespace nereid::codegen::cost
