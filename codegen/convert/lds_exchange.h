#pragma once

#include <optional>

#include "codegen/convert/convert_plan.h"

namespace nereid::codegen {

/// The best exchange through LDS that is known: vector accesses of elements that are registers on both sides,
/// or wider on one of them; offsets swizzled so that no phase of either side meets a bank twice where that is
/// possible; passes where `limit` bytes do not hold the tile. No register broadcast in either layout, `from`
/// holds every element. `crosses_waves` is the caller's to set. Nothing if passes cannot meet the limit: they
/// need coordinate bits (or odd repeats) that are registers on both sides.
std::optional<LdsStep> plan_lds(const LinearLayout &from, const LinearLayout &to, unsigned element_bytes,
                                uint32_t limit);

/// Estimated LDS clocks of all accesses of a wave.
unsigned lds_clocks(const LdsStep &step);

} // namespace nereid::codegen
