// Induction variables: one pass over a loop's body, in which definitions stand before their uses.
#include "codegen/schedule/loop_induction.h"

#include <algorithm>

#include "codegen/assign/layout_choice.h"
#include "dsl/ir/fold.h"

namespace nereid::codegen {

namespace {

using Number = std::optional<int64_t>; ///< nothing: not known, or beyond 64 bits
using Change = LoopInduction::Change;

std::optional<Change> sum(std::optional<Change> a, std::optional<Change> b) {
  if (!a || !b)
    return std::nullopt;
  if (a->amount == 0 || b->amount == 0)
    return a->amount == 0 ? b : a;
  int64_t result;
  if (a->factor != b->factor || __builtin_add_overflow(a->amount, b->amount, &result))
    return std::nullopt;
  return Change{result, a->factor};
}

std::optional<Change> product(std::optional<Change> a, Number b) {
  int64_t result;
  return a && b && !__builtin_mul_overflow(a->amount, *b, &result) ? std::optional(Change{result, a->factor})
                                                                   : std::nullopt;
}

Number power_of_two(Number exponent) {
  constexpr int64_t i32_bits = 31;
  return exponent && *exponent >= 0 && *exponent < i32_bits ? Number(int64_t(1) << *exponent) : std::nullopt;
}

/// What the quotients of numbers that are multiples of `divisibility` change by.
std::optional<Change> quotient(std::optional<Change> change, int64_t divisibility, Number divisor) {
  const bool is_exact = change && !change->factor && divisor && *divisor > 0 &&
                        change->amount % *divisor == 0 && divisibility % *divisor == 0;
  return is_exact ? std::optional(Change{change->amount / *divisor, std::nullopt}) : std::nullopt;
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
  change_[body.arguments[0]] = step_ ? std::optional(Change{*step_, std::nullopt}) : std::nullopt;
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
  const std::optional<Change> scaled = scaled_change(value);
  return scaled && !scaled->factor ? std::optional(scaled->amount) : std::nullopt;
}

std::optional<Change> LoopInduction::scaled_change(ir::ValueId value) const {
  auto found = change_.find(value);
  return found == change_.end() ? Change{0, std::nullopt} : found->second;
}

/// The scalar that a value is, or of which all its elements are copies.
std::optional<ir::ValueId> LoopInduction::fixed_scalar(ir::ValueId value) const {
  while (index_.function().type(value).rank() != 0) {
    const std::optional<ir::ValueId> source = viewed_value(index_, value);
    if (!source)
      return std::nullopt;
    value = *source;
  }
  return varies(value) ? std::nullopt : std::optional(value);
}

std::optional<Change> LoopInduction::change_of_product(const ir::Op &op) const {
  for (const auto &[a, b] : {std::pair{op.operands[0], op.operands[1]}, {op.operands[1], op.operands[0]}}) {
    const std::optional<Change> moves = scaled_change(a);
    if (const Number by = constant(b))
      return product(moves, by);
    if (const std::optional<ir::ValueId> factor = fixed_scalar(b); factor && moves && !moves->factor)
      return Change{moves->amount, factor};
  }
  return std::nullopt;
}

std::optional<Change> LoopInduction::change_of(const ir::Op &op) const {
  const ir::Type &type = index_.function().type(op.result());
  const auto of = [&](unsigned operand) { return scaled_change(op.operands[operand]); };
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
    return is_float ? std::nullopt : change_of_product(op);
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
  const Number rise = change(op->operands[0]), bound_rise = change(bound);
  if (ir::is_float(element) || !ir::is_signed(element) || !rise || !bound_rise || *rise < *bound_rise ||
      !has_max_element(op->operands[0]))
    return std::nullopt;
  return Condition{op->operands[0], bound, op->opcode == ir::Opcode::Le};
}

} // namespace nereid::codegen
