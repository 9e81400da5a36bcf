#pragma once

#include <optional>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

/// Layouts around a quantize, which keeps each group of 32 in a lane.
namespace nereid::codegen {

/// The layouts of codes and scales from x's.
LinearLayout quantize_codes_layout(const LinearLayout &x, const ir::Shape &codes);
LinearLayout quantize_scales_layout(const LinearLayout &x);

/// What is wanted of a quantize, and what its operand has.
struct QuantizeRequest {
  std::optional<LinearLayout> codes, scales, operand;
  bool is_wave_split = false; ///< in a loop whose iterations the waves split
};

struct QuantizeLayouts {
  LinearLayout operand, codes, scales;
  /// Each wave quantises a part of what all need, `operand`; codes and scales reach their layouts through
  /// LDS.
  bool is_shared = false;
};

/// The codes lie as they are wanted if each lane holds whole groups there, else as the groups lie anyway.
/// Scales that are wanted go first: a group's codes are a wide access wherever it lies.
QuantizeLayouts choose_quantize_layouts(const ir::Function &function, const ir::Op &op,
                                        const QuantizeRequest &request);

} // namespace nereid::codegen
