// Induction variables: one pass over a loop's body, in which definitions stand before their uses.
#include "codegen/schedule/loop_induction.h"

#include <algorithm>

#include "codegen/assign/layout_choice.h"
#include "dsl/ir/fold.h"

namespace nereid::codegen {

namespace {

using Number = std::optional<int64_t>; ///< nothing: not known, or beyond 64 bits

Number sum(Number a, Number b) {
  int64_t result;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? Number(result) : std::nullopt;
}

Number product(Number a, Number b) {
  int64_t result;
  return a && b && !__builtin_mul_overflow(*a, *b, &result) ? Number(result) : std::nullopt;
}

Number power_of_two(Number exponent) {
  constexpr int64_t i32_bits = 31;
  return exponent && *exponent >= 0 && *exponent < i32_bits ? Number(int64_t(1) << *exponent) : std::nullopt;
}

/// What the quotients of numbers that are multiples of `divisibility` change by.
Number quotient(Number change, int64_t divisibility, Number divisor) {
  const bool is_exact =
      change && divisor && *divisor > 0 && *change % *divisor == 0 && divisibility % *divisor == 0;
  return is_exact ? Number(*change / *divisor) : std::nullopt;
}

/// Whether a cast keeps every integer.
bool widens(const ir::Type &from, const ir::Type &to) {
  return ir::is_integer(from.element) && ir::is_integer(to.element) &&
         ir::facts(to.element).bits >= ir::facts(from.element).bits && !from.pointer &&
         ir::is_signed(from.element);
}

} // namespace

LoopInduction::LoopInduction(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &loop)
    : index_(index), axes_(axes) {
  const ir::Block &body = loop.blocks.front();
  if (std::optional<int64_t> step = constant(loop.operands[2]); step && *step > 0)
    step_ = step;
  for (ir::ValueId argument : body.arguments)
    change_[argument] = std::nullopt;
  change_[body.arguments[0]] = step_;
  for (const ir::Op &op : body.ops) {
    const bool has_varying_operand =
        std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return varies(v); });
    if (ir::facts(op.opcode).effect != ir::OpEffect::Pure || has_varying_operand)
      for (ir::ValueId result : op.results)
        change_[result] = op.results.size() == 1 ? change_of(op) : std::nullopt;
  }
}

std::optional<int64_t> LoopInduction::constant(ir::ValueId value) const {
  const std::optional<int64_t> &bits = axes_[value].constant;
  ir::Element element = index_.function().type(value).element;
  return bits ? std::optional(ir::integer_value(element, static_cast<uint64_t>(*bits))) : std::nullopt;
}

std::optional<int64_t> LoopInduction::change(ir::ValueId value) const {
  auto found = change_.find(value);
  return found == change_.end() ? 0 : found->second;
}

std::optional<int64_t> LoopInduction::change_of(const ir::Op &op) const {
  const ir::Type &type = index_.function().type(op.result());
  const auto of = [&](unsigned operand) { return change(op.operands[operand]); };
  const auto constant_of = [&](unsigned operand) { return constant(op.operands[operand]); };
  const bool is_float = !type.pointer && ir::is_float(type.element);
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
  case ir::Opcode::ExpandDims:
  case ir::Opcode::Reshape:
  case ir::Opcode::Permute:
    return of(0);
  case ir::Opcode::Cast:
    return widens(index_.function().type(op.operands[0]), type) ? of(0) : std::nullopt;
  case ir::Opcode::Add:
    return is_float ? std::nullopt : sum(of(0), of(1));
  case ir::Opcode::Sub:
    return is_float ? std::nullopt : sum(of(0), product(of(1), -1));
  case ir::Opcode::PtrAdd:
    return sum(of(0), product(of(1), ir::byte_size(type.element)));
  case ir::Opcode::Mul:
    if (is_float)
      return std::nullopt;
    return constant_of(0) ? product(of(1), *constant_of(0)) : product(of(0), constant_of(1));
  case ir::Opcode::Div:
    return is_float ? std::nullopt
                    : quotient(of(0), axes_[op.operands[0]].divisibility_of_all(), constant_of(1));
  case ir::Opcode::Shl:
    return product(of(0), power_of_two(constant_of(1)));
  case ir::Opcode::Shr:
    return quotient(of(0), axes_[op.operands[0]].divisibility_of_all(), power_of_two(constant_of(1)));
  default:
    return std::nullopt;
  }
}

bool LoopInduction::has_max_element(ir::ValueId value) const {
  std::vector<ir::ValueId> open = {value};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    const std::vector<ir::ValueId> &terms = terms_of(next);
    const auto unknown = std::find_if(terms.begin(), terms.end(),
                                      [&](ir::ValueId term) { return has_max_element_.count(term) == 0; });
    if (unknown != terms.end()) {
      open.push_back(*unknown);
      continue;
    }
    has_max_element_[next] = terms.empty() ? is_bounded_term(next)
                                           : std::all_of(terms.begin(), terms.end(), [&](ir::ValueId term) {
                                               return has_max_element_.at(term);
                                             });
    open.pop_back();
  }
  return has_max_element_.at(value);
}

/// The tiles that a tile is the sum or the view of.
const std::vector<ir::ValueId> &LoopInduction::terms_of(ir::ValueId value) const {
  static const std::vector<ir::ValueId> none;
  if (is_bounded_term(value))
    return none;
  const ir::Op *op = index_.definition(value);
  return op && (op->opcode == ir::Opcode::Add || viewed_value(index_, value)) ? op->operands : none;
}

bool LoopInduction::is_bounded_term(ir::ValueId value) const {
  const ir::Op *op = index_.definition(value);
  return index_.function().type(value).rank() == 0 || constant(value) ||
         (op && op->opcode == ir::Opcode::Arange);
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
      !has_max_element(op->operands[0]))
    return std::nullopt;
  return Condition{op->operands[0], bound, op->opcode == ir::Opcode::Le};
}

} // namespace nereid::codegen
