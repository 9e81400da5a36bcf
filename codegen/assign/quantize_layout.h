#pragma once

#include <optional>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

/// Layouts around a quantize, which keeps each group of 32 in a lane or in lanes that exchange magnitudes.
namespace nereid::codegen {

/// The layouts of codes and scales from x's.
LinearLayout quantize_codes_layout(const LinearLayout &x, const ir::Shape &codes);
LinearLayout quantize_scales_layout(const LinearLayout &x);

/// How groups of 32 lie in x's layout.
struct GroupParts {
  unsigned values = 1; ///< of a group in a lane, side by side in its registers (plan/defined_layouts.h)
  uint32_t lanes = 0;  ///< lane bits in which the lanes of a group differ
};

GroupParts parts_of_groups(const LinearLayout &x);

/// What is wanted of a quantize, and what its operand has.
struct QuantizeRequest {
  std::optional<LinearLayout> codes, scales, operand;
  bool is_stored = false;     ///< what is wanted suits stores
  bool is_wave_split = false; ///< in a loop whose iterations the waves split
};

struct QuantizeLayouts {
  LinearLayout operand, codes, scales;
  /// Each wave quantises a part of what all need, `operand`; codes and scales reach their layouts through
  /// LDS.
  bool is_shared = false;
};

/// The codes lie as they are wanted if each lane holds whole groups there, else as the groups lie anyway.
/// Scales that are wanted go first: a group's codes are a wide access wherever it lies. What is stored and
/// has fewer groups than there are lanes has lanes share a group, 8 values each at least.
QuantizeLayouts choose_quantize_layouts(const ir::Function &function, const ir::Op &op,
                                        const QuantizeRequest &request);

} // namespace nereid::codegen
