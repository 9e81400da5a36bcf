#pragma once

#include <cstdint>
#include <optional>

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// What an offset assignment for an exchange has to satisfy. "Wide" is the side that may use wider accesses
/// than the other.
struct SwizzleRequest {
  bool wide_is_write = true;
  unsigned extra_bits = 0; ///< how many more bits the wide side's accesses have
  unsigned pass_bits = 0;  ///< highest offset bits that only registers reach, on both sides
};

/// An assignment of element offsets: flat coordinate bits -> offset bits, one to one.
struct Swizzle {
  BitMatrix offset;
  unsigned write_bits = 0; ///< 2^bits elements an access
  unsigned read_bits = 0;
};

/// Chooses offsets such that (1) the low bits walk over registers of both sides, as many as an access of 16
/// bytes holds, then over `extra_bits` registers of the wide side; (2) no other bit of a lane or wave
/// disturbs them; (3) the bits above the banks are a common complement of what the lanes of a phase span on
/// either side, so that different lanes of a phase meet different banks wherever the dimensions allow that.
/// Nothing if the request cannot be met.
std::optional<Swizzle> choose_swizzle(const LinearLayout &from, const LinearLayout &to,
                                      unsigned element_bytes, const SwizzleRequest &request);

} // namespace nereid::codegen
