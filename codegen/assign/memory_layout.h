#pragma once

#include "codegen/analysis/axis_info.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// A scalar as a layout: broadcast to every lane of every wave.
LinearLayout scalar_layout(int waves);
/// Row-major, one element a lane, the rest in registers.
LinearLayout default_layout(const ir::Shape &shape, int waves);
/// Row-major, with up to `neighbours` (a power of two) in a lane, as far as that leaves every lane of every
/// wave its share.
LinearLayout shared_layout(const ir::Shape &shape, unsigned neighbours, int waves);

/// A layout of one wave, the same in each of `waves` waves.
LinearLayout in_every_wave(const LinearLayout &one_wave, int waves);

/// One memory instruction's share of a tile: these register bits, lowest first, walk through memory.
struct VectorAccess {
  std::vector<unsigned> register_bits;
  unsigned elements() const { return 1u << register_bits.size(); }
};

/// What an access of several elements may start at: a dword or a multiple of its own size, as buffer
/// instructions want it, or any element, which global instructions take (the runtime turns the unaligned
/// access mode on).
enum class AccessStart { Aligned, Anywhere };

/// The widest access that the pointers' and the mask's axis info prove for a lane of `layout`, of at most 16
/// bytes.
VectorAccess vector_access(const LinearLayout &layout, const AxisInfo &pointer, const AxisInfo *mask,
                           unsigned bytes, AccessStart start = AccessStart::Aligned);

/// The layout in which a memory operation touches whole lines: up to 16 bytes a lane, lanes along the
/// dimension that is contiguous in memory.
LinearLayout coalesced_layout(const ir::Shape &shape, const AxisInfo &pointer, const AxisInfo *mask,
                              unsigned bytes, int waves, AccessStart start = AccessStart::Aligned);

} // namespace nereid::codegen
