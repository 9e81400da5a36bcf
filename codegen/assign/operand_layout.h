#pragma once

#include <optional>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// The layout in which shape and elementwise operations need operand `operand` for result `result` to come
/// out in `layout` without moving data between lanes. Register numbers are kept (register r of the result
/// comes from register r), except by split, whose result number i comes from register 2 r + i. Where `layout`
/// has copies, or the operand is broadcast, registers hold copies. Reshapes leave odd factors
/// where they are (the builder refuses others).
LinearLayout operand_layout(const ir::Function &function, const ir::Op &op, unsigned operand,
                            const LinearLayout &layout);

/// The layout in which the (first) result comes for free when the operand lies in `layout`; nothing for
/// broadcasts, whose result should lie as its other users want it.
std::optional<LinearLayout> result_layout(const ir::Function &function, const ir::Op &op,
                                          const LinearLayout &layout);

/// quantize and its packing: x's layout from that of the codes (each group of 32 in a lane), if the codes'
/// layout has the bytes of a group in a lane; and the layouts of codes and scales from x's.
std::optional<LinearLayout> quantize_operand_layout(const LinearLayout &codes, const ir::Shape &x);
LinearLayout quantize_codes_layout(const LinearLayout &x, const ir::Shape &codes);
LinearLayout quantize_scales_layout(const LinearLayout &x, const ir::Shape &scales);

/// Register bits on (of) the axis, as bits of the register number; nothing when some column mixes the axis
/// with other dimensions or an element on the axis is held twice.
struct AxisBits {
  uint32_t registers = 0, lanes = 0, waves = 0;
};
std::optional<AxisBits> axis_bits(const LinearLayout &layout, unsigned axis);
/// The layout of a reduction's result: as `layout` with the axis removed; register bits and repeats on the
/// axis are removed, lane and wave bits on it hold copies.
LinearLayout reduced_layout(const LinearLayout &layout, unsigned axis);
/// For each register of `reduced_layout` the registers that lie along the axis there, by number. `bits` are
/// those of axis_bits.
std::vector<std::vector<uint32_t>> registers_along(const LinearLayout &layout, unsigned axis, uint32_t bits);

} // namespace nereid::codegen
