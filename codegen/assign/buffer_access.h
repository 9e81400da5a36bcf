#pragma once

#include <optional>
#include <string>

#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/value_ranges.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Which operand of a memory operation is its mask, if it has one.
std::optional<size_t> mask_operand(const ir::Op &op);

/// The layout of the first elements of a load's or store's accesses, its value lying in `layout`.
LinearLayout access_leaders(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &op,
                            const LinearLayout &layout);

/// Why an access does not go through a buffer descriptor.
struct NoDescriptor {
  std::string reason;
  std::string remedy; ///< what the author could assume; may be empty
};

/// Whether the accesses of a pointer tile go through a buffer descriptor, where a masked access takes no
/// branch: their addresses have to be a base that all threads share, plus offsets of which the part that
/// differs between threads is known to be from 0 to 2^31. `leaders`: as access_leaders. What speaks against
/// it; nothing if they go through one.
std::optional<NoDescriptor> descriptor_objection(const FunctionIndex &index, const ValueRanges &ranges,
                                                 ir::ValueId pointer, const LinearLayout &leaders);

} // namespace nereid::codegen
