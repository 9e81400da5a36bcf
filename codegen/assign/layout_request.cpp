// How a wanted layout passes from results to operands.
#include "codegen/assign/layout_request.h"

#include "codegen/assign/operand_layout.h"

namespace nereid::codegen {

std::vector<LayoutRequest> operand_requests(const ir::Function &function, const ir::Op &op,
                                            const LinearLayout &layout) {
  const bool is_shape = ir::facts(op.opcode).op_class == ir::OpClass::Shape;
  std::vector<LayoutRequest> requests;
  for (unsigned i = 0; i < op.operands.size(); ++i)
    requests.push_back({op.operands[i], is_shape ? operand_layout(function, op, i, layout) : layout});
  return requests;
}

} // namespace nereid::codegen
