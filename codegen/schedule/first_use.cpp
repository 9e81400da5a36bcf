// Where the tile of a load is needed.
#include "codegen/schedule/first_use.h"

#include <algorithm>
#include <unordered_set>

namespace nereid::codegen {

const ir::Op &first_use(const FunctionIndex &index, const ir::Op &load) {
  std::unordered_set<ir::ValueId> tile = {load.result()};
  for (const ir::Op &op : index.block(load)->ops) {
    const bool uses = std::any_of(op.operands.begin(), op.operands.end(),
                                  [&](ir::ValueId operand) { return tile.count(operand) != 0; });
    if (!uses || op.opcode == ir::Opcode::Yield)
      continue;
    if (ir::facts(op.opcode).op_class != ir::OpClass::Shape)
      return op;
    tile.insert(op.results.begin(), op.results.end());
  }
  return load;
}

} // namespace nereid::codegen
