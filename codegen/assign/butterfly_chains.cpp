// Chains of split, arithmetic, join.
#include "codegen/assign/butterfly_chains.h"

namespace nereid::codegen {

namespace {

/// The splits whose halves a value is computed of by elementwise operations alone.
std::vector<const ir::Op *> splits_before(const FunctionIndex &index, const ir::Op &join) {
  std::vector<const ir::Op *> splits;
  std::vector<ir::ValueId> open = join.operands;
  std::unordered_set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const ir::Op *op = index.definition(value);
    if (!op || index.is_rematerialisable(value) || !seen.insert(value).second)
      continue;
    if (op->opcode == ir::Opcode::Split)
      splits.push_back(op);
    else if (ir::is_elementwise(op->opcode))
      open.insert(open.end(), op->operands.begin(), op->operands.end());
  }
  return splits;
}

/// The operation that a split takes apart, seen through views of the whole of it.
const ir::Op *source_of(const FunctionIndex &index, const ir::Op &split) {
  ir::ValueId value = split.operands[0];
  while (const std::optional<ir::ValueId> viewed = viewed_value(index, value))
    value = *viewed;
  return index.definition(value);
}

} // namespace

ButterflyChains::ButterflyChains(const FunctionIndex &index) {
  std::unordered_set<const ir::Op *> stages; // joins of halves
  std::vector<const ir::Op *> all;
  ir::for_each_op(index.function(), [&](const ir::Op &op, unsigned) {
    if (op.opcode != ir::Opcode::Join)
      return;
    all.push_back(&op);
    for (const ir::Op *split : splits_before(index, op)) {
      stages.insert(&op);
      const ir::Op *before = source_of(index, *split);
      if (!before || !stages.contains(before))
        continue;
      ops_.insert({before, split, &op});
    }
  });
  for (const ir::Op *op : all)
    if (ops_.contains(op))
      joins_.push_back(op);
}

LinearLayout butterfly_layout(const ir::Op &op, const LinearLayout &wanted) {
  LinearLayout result = wanted.without_register_broadcast();
  if (op.opcode == ir::Opcode::Split) {
    std::vector<unsigned> order(result.bits(Space::Register));
    for (unsigned i = 0; i < order.size(); ++i)
      order[i] = (i + 1) % static_cast<unsigned>(order.size());
    result = result.permute_registers(order);
  }
  for (const Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < result.bits(space) && result.bits(Space::Register) > 0; ++bit)
      if (result.flat_basis(space, bit) == 0)
        result = result.move_register(result.bits(Space::Register) - 1, space, bit);
  return result;
}

} // namespace nereid::codegen
