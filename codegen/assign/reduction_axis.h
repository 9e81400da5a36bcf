#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// The bits of each space whose bases lie on an axis, as bits of the register, lane and wave number.
struct AxisBits {
  uint32_t registers = 0, lanes = 0, waves = 0;
};

/// Nothing when some basis mixes the axis with other dimensions or an element on the axis is held twice.
std::optional<AxisBits> axis_bits(const LinearLayout &layout, unsigned axis);

/// Which bit of the register, lane or wave number is bit number `bit` along the axis, in a layout that has
/// axis_bits. Nothing where no thread holds that element.
std::optional<std::pair<Space, unsigned>> axis_bit_holder(const LinearLayout &layout, unsigned axis,
                                                          unsigned bit);

/// For each register of `reduce(layout, axis)` the registers that lie along the axis there, by number. `bits`
/// are those of axis_bits.
std::vector<std::vector<uint32_t>> registers_along(const LinearLayout &layout, unsigned axis, uint32_t bits);

} // namespace nereid::codegen
