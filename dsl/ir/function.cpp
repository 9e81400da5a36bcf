// Numbers the operations of a function, which are the lines of its text.
#include "dsl/ir/function.h"

namespace nereid::ir {

static void walk(const Block &block, unsigned &line, const std::function<void(const Op &, unsigned)> &visit) {
  for (const Op &op : block.ops) {
    visit(op, ++line);
    for (const Block &inner : op.blocks)
      walk(inner, line, visit);
  }
}

void for_each_op(const Function &function, const std::function<void(const Op &, unsigned)> &visit) {
  unsigned line = 0;
  walk(function.body, line, visit);
}

} // namespace nereid::ir
