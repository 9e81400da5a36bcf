#pragma once

#include <cstdint>

#include "codegen/target/gfx950.h"

/// What the compiler weighs one plan against another with, and what each number trades. They decide how fast
/// code is, never what it computes. "Fitted" means chosen so that the library's kernels compile to the code
/// that docs/codegen-quality.md counts and tests/kernels/isa_budgets.cpp demands, without spills and without
/// moves; such numbers were not measured on a device.
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
/// this many times as much. Lower: more conversions; higher: more narrow accesses. Fitted.
inline constexpr unsigned access_gain = 4;

// --- Sharing quantisation (assign/layout_choice) ---

/// Waves that need the same rows quantise a part each above this many values a lane: one barrier an iteration
/// against the about 1.7 vector instructions of a value (docs/codegen-quality.md). Below, a wave is done with
/// all of them before the others could have told it.
inline constexpr uint32_t values_worth_a_barrier = 64;

} // namespace nereid::codegen::cost
