#pragma once

#include <vector>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// A value in the layout in which some code wants it.
struct LayoutRequest {
  ir::ValueId value;
  LinearLayout layout;

  bool operator==(const LayoutRequest &) const = default;
};

struct LayoutRequestHash {
  size_t operator()(const LayoutRequest &request) const {
    constexpr size_t prime = 1000003;
    return request.layout.hash() * prime + request.value;
  }
};

/// What an elementwise, a shape or a source operation asks of its operands for its results to come out in
/// `layout`.
std::vector<LayoutRequest> operand_requests(const ir::Function &function, const ir::Op &op,
                                            const LinearLayout &layout);

} // namespace nereid::codegen
