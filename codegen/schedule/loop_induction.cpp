#include "codegen/schedule/loop_induction.h"

#include <algorithm>

#include "codegen/assign/layout_choice.h"
#include "dsl/ir/fold.h"

namespace nereid::codegen {

LoopInduction::LoopInduction(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &loop)
    : index_(index), axes_(axes), body_(loop.blocks.front()) {
  if (std::optional<int64_t> step = constant(loop.operands[2]); step && *step > 0)
    step_ = step;
  for (ir::ValueId argument : body_.arguments)
    varies_[argument] = true;
}

const ir::Op *LoopInduction::body_definition(ir::ValueId value) const {
  const ir::Op *op = index_.definition(value);
  return op && index_.block(*op) == &body_ ? op : nullptr;
}

bool LoopInduction::varies(ir::ValueId value) const {
  if (auto known = varies_.find(value); known != varies_.end())
    return known->second;
  const ir::Op *op = body_definition(value);
  bool result = op && (ir::facts(op->opcode).effect != ir::OpEffect::Pure ||
                       std::any_of(op->operands.begin(), op->operands.end(),
                                   [&](ir::ValueId operand) { return varies(operand); }));
  return varies_[value] = result;
}

std::optional<int64_t> LoopInduction::constant(ir::ValueId value) const {
  const std::optional<int64_t> &bits = axes_[value].constant;
  ir::Element element = index_.function().type(value).element;
  return bits ? std::optional(ir::integer_value(element, static_cast<uint64_t>(*bits))) : std::nullopt;
}

std::optional<int64_t> LoopInduction::change(ir::ValueId value) const {
  if (!varies(value))
    return 0;
  if (value == body_.arguments[0])
    return step_;
  const ir::Op *op = body_definition(value);
  return op ? compute(*op) : std::nullopt;
}

std::optional<int64_t> LoopInduction::compute(const ir::Op &op) const {
  const ir::Type &type = index_.function().type(op.result());
  auto of = [&](unsigned operand) { return change(op.operands[operand]); };
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
  case ir::Opcode::ExpandDims:
  case ir::Opcode::Reshape:
  case ir::Opcode::Permute:
    return of(0);
  case ir::Opcode::Cast: {
    const ir::Type &from = index_.function().type(op.operands[0]);
    bool widens = ir::is_integer(from.element) && ir::is_integer(type.element) &&
                  ir::facts(type.element).bits >= ir::facts(from.element).bits && !from.pointer &&
                  ir::is_signed(from.element);
    return widens ? of(0) : std::nullopt;
  }
  case ir::Opcode::Add:
  case ir::Opcode::Sub: {
    if (ir::is_float(type.element))
      return std::nullopt;
    auto a = of(0), b = of(1);
    if (!a || !b)
      return std::nullopt;
    return op.opcode == ir::Opcode::Add ? *a + *b : *a - *b;
  }
  case ir::Opcode::PtrAdd: {
    auto pointer = of(0), offset = of(1);
    if (!pointer || !offset)
      return std::nullopt;
    return *pointer + *offset * static_cast<int64_t>(ir::byte_size(type.element));
  }
  case ir::Opcode::Mul:
    for (unsigned side : {0u, 1u})
      if (auto factor = constant(op.operands[side]); factor && !ir::is_float(type.element))
        if (auto other = of(1 - side))
          return *other * *factor;
    return std::nullopt;
  case ir::Opcode::Shl:
    if (auto shift = constant(op.operands[1]); shift && *shift >= 0 && *shift < 31)
      if (auto a = of(0))
        return *a << *shift;
    return std::nullopt;
  case ir::Opcode::Shr:
    if (auto shift = constant(op.operands[1]); shift && *shift >= 0 && *shift < 31)
      if (auto a = of(0)) {
        int64_t unit = int64_t(1) << *shift;
        if (*a % unit == 0 && axes_[op.operands[0]].divisibility_of_all() % unit == 0)
          return *a / unit;
      }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

bool LoopInduction::has_greatest(ir::ValueId value) const {
  if (index_.function().type(value).rank() == 0 || constant(value))
    return true;
  const ir::Op *op = index_.definition(value);
  if (!op)
    return false;
  if (op->opcode == ir::Opcode::Arange)
    return true;
  if (op->opcode != ir::Opcode::Add && !viewed_value(index_, value))
    return false;
  return std::all_of(op->operands.begin(), op->operands.end(),
                     [&](ir::ValueId operand) { return has_greatest(operand); });
}

std::optional<LoopInduction::Condition> LoopInduction::condition(ir::ValueId value) const {
  const ir::Op *op = index_.definition(value);
  if (!op || (op->opcode != ir::Opcode::Lt && op->opcode != ir::Opcode::Le))
    return std::nullopt;
  ir::Element element = index_.function().type(op->operands[0]).element;
  ir::ValueId bound = op->operands[1];
  while (index_.function().type(bound).rank() != 0) {
    const std::optional<ir::ValueId> source = viewed_value(index_, bound);
    if (!source)
      return std::nullopt;
    bound = *source;
  }
  auto rise = change(op->operands[0]);
  if (ir::is_float(element) || !ir::is_signed(element) || varies(bound) || !rise || *rise < 0 ||
      !has_greatest(op->operands[0]))
    return std::nullopt;
  return Condition{op->operands[0], bound, op->opcode == ir::Opcode::Le};
}

} // namespace nereid::codegen
