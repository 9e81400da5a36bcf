// Ranges of integers: forwards through the operations, and from what the author assumes of scalars.
#include "codegen/analysis/value_ranges.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>

namespace nereid::codegen {

namespace {

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

int64_t sum(int64_t a, int64_t b) {
  int64_t result;
  if (!__builtin_add_overflow(a, b, &result))
    return result;
  return a < 0 ? lowest : highest;
}

int64_t interval_product(int64_t a, int64_t b) {
  int64_t result;
  if (!__builtin_mul_overflow(a, b, &result))
    return result;
  return (a < 0) == (b < 0) ? highest : lowest;
}

/// The smallest 2^n - 1 that is not below.
int64_t filled(int64_t value) {
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(value)));
  return bits >= 63 ? highest : (int64_t(1) << bits) - 1;
}

Interval bitwise(ir::Opcode opcode, const Interval &a, const Interval &b, const Interval &all) {
  if (opcode == ir::Opcode::And && (a.low >= 0 || b.low >= 0)) {
    return {0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
  }
  if (a.low < 0 || b.low < 0)
    return all;
  return {0, filled(std::max(a.high, b.high))};
}

Interval shifted_right(const Interval &a, const Interval &by) {
  if (by.low != by.high || by.low < 0 || by.low > 62)
    return a.low >= 0 ? Interval{0, a.high} : a;
  return {a.low >> by.low, a.high >> by.low};
}

Interval quotient(const Interval &a, const Interval &b, const Interval &all) {
  if (b.low <= 0)
    return all;
  return {std::min(a.low / b.low, a.low / b.high), std::max(a.high / b.low, a.high / b.high)};
}

/// The quotient rounded up.
Interval quotient_up(const Interval &a, const Interval &b, const Interval &all) {
  if (b.low <= 0)
    return all;
  const auto divide = [](int64_t x, int64_t y) { return x / y + (x > 0 && x % y != 0); };
  return {divide(a.low, a.low < 0 ? b.low : b.high), divide(a.high, a.high < 0 ? b.high : b.low)};
}

Interval remainder(const Interval &a, const Interval &b, const Interval &all) {
  if (b.low <= 0)
    return all;
  return {a.low < 0 ? std::max(a.low, 1 - b.high) : 0, a.high > 0 ? std::min(a.high, b.high - 1) : 0};
}

} // namespace

Interval operator+(const Interval &a, const Interval &b) { return {sum(a.low, b.low), sum(a.high, b.high)}; }

Interval operator*(const Interval &a, const Interval &b) {
  const auto corners = {interval_product(a.low, b.low), interval_product(a.low, b.high),
                        interval_product(a.high, b.low), interval_product(a.high, b.high)};
  return {std::min(corners), std::max(corners)};
}

Interval operator-(const Interval &a) { return {interval_product(a.high, -1), interval_product(a.low, -1)}; }

Interval joined(const Interval &a, const Interval &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval common(const Interval &a, const Interval &b) {
  const Interval both{std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? both : a;
}

ValueRanges::ValueRanges(const FunctionIndex &index) : index_(index) {
  const ir::Function &function = index.function();
  for (ir::ValueId v = 0; v < function.value_types.size(); ++v)
    ranges_.push_back(of_type(v));
  for (const ir::Argument &argument : function.arguments)
    if (argument.constant)
      ranges_[argument.value] = {*argument.constant, *argument.constant};
  note_assumptions(function.body);
  for (const ir::Argument &argument : function.arguments)
    set(argument.value, ranges_[argument.value]);
  visit(function.body);
}

Interval ValueRanges::of_type(ir::ValueId value) const {
  const ir::Type &type = index_.function().type(value);
  if (type.pointer || !ir::is_integer(type.element))
    return {lowest, highest};
  const unsigned bits = ir::facts(type.element).bits;
  if (bits == 64)
    return {lowest, highest};
  if (!ir::is_signed(type.element))
    return {0, (int64_t(1) << bits) - 1};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

void ValueRanges::set(ir::ValueId value, const Interval &range) {
  // What wraps may be anything.
  ranges_[value] = range.within(of_type(value)) ? range : of_type(value);
  if (auto assumed = assumed_.find(value); assumed != assumed_.end())
    ranges_[value] = common(ranges_[value], assumed->second);
}

void ValueRanges::note_assumptions(const ir::Block &block) {
  for (const ir::Op &op : block.ops) {
    if (op.opcode == ir::Opcode::Assume)
      note_assumption(block, op.operands[0]);
    for (const ir::Block &inner : op.blocks)
      note_assumptions(inner);
  }
}

void ValueRanges::note_assumption(const ir::Block &block, ir::ValueId condition) {
  std::vector<ir::ValueId> parts = {condition};
  std::unordered_set<ir::ValueId> seen;
  while (!parts.empty()) {
    const ir::ValueId part = parts.back();
    parts.pop_back();
    const ir::Op *op = seen.insert(part).second ? index_.definition(part) : nullptr;
    if (op && op->opcode == ir::Opcode::And)
      parts.insert(parts.end(), op->operands.rbegin(), op->operands.rend());
    else if (op && ir::facts(op->opcode).op_class == ir::OpClass::Compare)
      note_comparison(block, *op);
  }
}

void ValueRanges::note_comparison(const ir::Block &block, const ir::Op &op) {
  const ir::Type &type = index_.function().type(op.operands[0]);
  if (type.pointer || !ir::is_integer(type.element) || !ir::is_signed(type.element))
    return;
  static constexpr std::pair<ir::Opcode, ir::Opcode> mirrored[] = {
      {ir::Opcode::Lt, ir::Opcode::Gt}, {ir::Opcode::Le, ir::Opcode::Ge}, {ir::Opcode::Eq, ir::Opcode::Eq}};
  note_bound(block, op.opcode, op.operands[0], op.operands[1]);
  for (const auto &[one, other] : mirrored)
    if (op.opcode == one || op.opcode == other)
      note_bound(block, op.opcode == one ? other : one, op.operands[1], op.operands[0]);
}

/// Whether a value is defined in a block, the arguments of the kernel in its body.
bool ValueRanges::is_of(const ir::Block &block, ir::ValueId value) const {
  if (const ir::Op *op = index_.definition(value))
    return index_.block(*op) == &block;
  return &block == &index_.function().body ||
         std::find(block.arguments.begin(), block.arguments.end(), value) != block.arguments.end();
}

/// `bound` must be a constant. The assumption holds wherever the value does, which is defined in its block:
/// of values from outside it says nothing, for the block may not run.
void ValueRanges::note_bound(const ir::Block &block, ir::Opcode compare, ir::ValueId value,
                             ir::ValueId bound) {
  const ir::Op *constant = index_.definition(bound);
  if (!constant || constant->opcode != ir::Opcode::Constant || !is_of(block, value))
    return;
  const unsigned unused = 64 - ir::facts(index_.function().type(bound).element).bits;
  const int64_t limit = constant->integer("bits") << unused >> unused;
  Interval range{lowest, highest};
  switch (compare) {
  case ir::Opcode::Lt:
    range.high = sum(limit, -1);
    break;
  case ir::Opcode::Le:
    range.high = limit;
    break;
  case ir::Opcode::Gt:
    range.low = sum(limit, 1);
    break;
  case ir::Opcode::Ge:
    range.low = limit;
    break;
  case ir::Opcode::Eq:
    range = {limit, limit};
    break;
  default:
    return;
  }
  auto [known, is_new] = assumed_.try_emplace(value, range);
  if (!is_new)
    known->second = common(known->second, range);
}

void ValueRanges::visit(const ir::Block &block) {
  for (const ir::Op &op : block.ops) {
    if (op.opcode == ir::Opcode::For && ranges_[op.operands[2]].low > 0) {
      const int64_t last = sum(ranges_[op.operands[1]].high, -1);
      const int64_t first = ranges_[op.operands[0]].low;
      set(op.blocks[0].arguments[0], {first, std::max(first, last)});
    }
    for (const ir::Block &inner : op.blocks) {
      for (ir::ValueId argument : inner.arguments)
        set(argument, ranges_[argument]);
      visit(inner);
    }
    for (size_t i = 0; i < op.results.size() && op.opcode == ir::Opcode::If; ++i)
      set(op.results[i],
          joined(ranges_[op.blocks[0].ops.back().operands[i]], ranges_[op.blocks[1].ops.back().operands[i]]));
    const bool is_shape = ir::facts(op.opcode).op_class == ir::OpClass::Shape;
    if (!op.blocks.empty() || (op.results.size() != 1 && !is_shape))
      continue;
    for (ir::ValueId result : op.results) {
      const ir::Type &type = index_.function().type(result);
      const bool fits_signed = ir::is_signed(type.element) || ir::facts(type.element).bits < 64;
      if (!type.pointer && ir::is_integer(type.element) && fits_signed)
        set(result, transfer(op));
    }
  }
}

Interval ValueRanges::transfer(const ir::Op &op) const {
  const ir::Type &type = index_.function().type(op.result());
  const Interval all = of_type(op.result());
  auto operand = [&](unsigned i) { return ranges_[op.operands[i]]; };
  switch (op.opcode) {
  case ir::Opcode::Constant: {
    const unsigned unused = 64 - ir::facts(type.element).bits;
    const auto bits = static_cast<uint64_t>(op.integer("bits")) << unused;
    const int64_t value = ir::is_signed(type.element) ? static_cast<int64_t>(bits) >> unused
                                                      : static_cast<int64_t>(bits >> unused);
    return {value, value};
  }
  case ir::Opcode::ProgramId:
  case ir::Opcode::NumPrograms:
    return {0, std::numeric_limits<int32_t>::max()};
  case ir::Opcode::Arange:
    return {op.integer("start"), op.integer("start") + type.shape[0] - 1};
  case ir::Opcode::Cast:
    return ir::is_integer(index_.function().type(op.operands[0]).element) && type.element != ir::Element::I1
               ? operand(0)
               : all;
  case ir::Opcode::Neg:
    return -operand(0);
  case ir::Opcode::Add:
    return operand(0) + operand(1);
  case ir::Opcode::Sub:
    return operand(0) + -operand(1);
  case ir::Opcode::Mul:
    return operand(0) * operand(1);
  case ir::Opcode::Div:
    return quotient(operand(0), operand(1), all);
  case ir::Opcode::CeilDiv:
    return quotient_up(operand(0), operand(1), all);
  case ir::Opcode::Rem:
    return remainder(operand(0), operand(1), all);
  case ir::Opcode::Min:
    return {std::min(operand(0).low, operand(1).low), std::min(operand(0).high, operand(1).high)};
  case ir::Opcode::Max:
    return {std::max(operand(0).low, operand(1).low), std::max(operand(0).high, operand(1).high)};
  case ir::Opcode::And:
  case ir::Opcode::Or:
  case ir::Opcode::Xor:
    return bitwise(op.opcode, operand(0), operand(1), all);
  case ir::Opcode::Shl:
    if (operand(1).low == operand(1).high && operand(1).low >= 0 && operand(1).low < 62)
      return operand(0) * Interval{int64_t(1) << operand(1).low, int64_t(1) << operand(1).low};
    return all;
  case ir::Opcode::Shr:
    return shifted_right(operand(0), operand(1));
  case ir::Opcode::Where:
    return joined(operand(1), operand(2));
  default:
    return ir::facts(op.opcode).op_class == ir::OpClass::Shape ? operand(0) : all;
  }
}

} // namespace nereid::codegen
