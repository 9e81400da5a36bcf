// Contiguity, divisibility and constancy, operation by operation; loops by iteration.
#include "codegen/analysis/axis_info.h"

#include <algorithm>

namespace nereid::codegen {

static constexpr int64_t max_power = int64_t(1) << 30;

static int64_t power_of_two_in(int64_t value) {
  if (value == 0)
    return max_power;
  const auto bits = static_cast<uint64_t>(value);
  return static_cast<int64_t>(std::min(static_cast<uint64_t>(max_power), bits & -bits));
}

static int64_t product(int64_t a, int64_t b) { return a >= max_power / b ? max_power : a * b; }

int64_t AxisInfo::divisibility_at(unsigned d, int64_t run, int64_t step) const {
  return contiguity[d] > run ? std::min(divisibility[d], power_of_two_in(run * step)) : divisibility[d];
}

int64_t AxisInfo::divisibility_of_all() const {
  int64_t best = constant ? power_of_two_in(*constant) : 1;
  for (size_t d = 0; d < contiguity.size(); ++d)
    if (contiguity[d] == 1)
      best = std::max(best, divisibility[d]);
  return best;
}

/// Scalars carry their divisibility in a single pseudo-dimension, so that they are as tiles of one element.
static unsigned axes(const ir::Type &type) { return std::max(1u, type.rank()); }

static int64_t size_along(const ir::Type &type, unsigned d) { return type.rank() == 0 ? 1 : type.shape[d]; }

AxisInfo AxisAnalysis::unknown(ir::ValueId value) const {
  const ir::Type &type = index_.function().type(value);
  std::vector<int64_t> ones(axes(type), 1);
  return {ones, std::vector<int64_t>(axes(type), type.pointer ? ir::byte_size(type.element) : 1), ones, {}};
}

AxisAnalysis::AxisAnalysis(const FunctionIndex &index) : index_(index) {
  const ir::Function &function = index.function();
  for (ir::ValueId v = 0; v < function.value_types.size(); ++v)
    infos_.push_back(unknown(v));
  for (const ir::Argument &argument : function.arguments) {
    AxisInfo &info = infos_[argument.value];
    info.divisibility[0] =
        std::max(info.divisibility[0], power_of_two_in(std::max<int64_t>(1, argument.divisibility)));
    if (argument.constant) {
      info.constant = argument.constant;
      info.divisibility[0] = power_of_two_in(*argument.constant);
    }
  }
  visit(function.body);
}

void AxisAnalysis::visit(const ir::Block &block) {
  for (const ir::Op &op : block.ops)
    visit(op);
}

AxisInfo AxisAnalysis::meet(const AxisInfo &a, const AxisInfo &b) const {
  AxisInfo result = a;
  for (unsigned d = 0; d < a.contiguity.size(); ++d) {
    result.contiguity[d] = std::min(a.contiguity[d], b.contiguity[d]);
    result.constancy[d] = std::min(a.constancy[d], b.constancy[d]);
    result.divisibility[d] =
        std::min(a.divisibility_at(d, result.contiguity[d]), b.divisibility_at(d, result.contiguity[d]));
  }
  if (a.constant != b.constant)
    result.constant.reset();
  return result;
}

void AxisAnalysis::visit_loop(const ir::Op &op) {
  const ir::Block &body = op.blocks.front();
  const ir::CarriedPlaces places = ir::carried_places(op.opcode);
  if (op.opcode == ir::Opcode::For)
    infos_[body.arguments.front()].divisibility[0] =
        std::min(infos_[op.operands[0]].divisibility_of_all(), infos_[op.operands[2]].divisibility_of_all());
  // Within an outer loop, what the outer iterations before have ruled out stays so: information only falls,
  // and the work grows with the depth of a nest, not by a factor with each of its loops.
  const bool is_first_visit = visited_loops_.insert(&op).second;
  for (size_t i = 0; i < op.results.size(); ++i) {
    AxisInfo &carried = infos_[body.arguments[places.arguments + i]];
    const AxisInfo &start = infos_[op.operands[places.inits + i]];
    carried = is_first_visit ? start : meet(carried, start);
  }
  for (bool changed = true; changed;) {
    changed = false;
    visit(body);
    for (size_t i = 0; i < op.results.size(); ++i) {
      AxisInfo &carried = infos_[body.arguments[places.arguments + i]];
      AxisInfo met = meet(carried, infos_[body.ops.back().operands[places.yields + i]]);
      changed = changed || !(met == carried);
      carried = std::move(met);
    }
  }
  for (size_t i = 0; i < op.results.size(); ++i)
    infos_[op.results[i]] = infos_[body.arguments[places.arguments + i]];
}

/// assume(x % c == 0) of a scalar, in the block that defines it and so runs whenever that does.
void AxisAnalysis::note_multiple(const ir::Op &assume) {
  const ir::Op *equal = index_.definition(assume.operands[0]);
  if (!equal || equal->opcode != ir::Opcode::Eq || infos_[equal->operands[1]].constant != 0)
    return;
  const ir::Op *rest = index_.definition(equal->operands[0]);
  if (!rest || rest->opcode != ir::Opcode::Rem || !infos_[rest->operands[1]].constant)
    return;
  const ir::ValueId value = rest->operands[0];
  const ir::Function &function = index_.function();
  const ir::Op *definition = index_.definition(value);
  const bool is_argument = std::any_of(function.arguments.begin(), function.arguments.end(),
                                       [&](const ir::Argument &argument) { return argument.value == value; });
  const ir::Block *defined_in = definition    ? index_.block(*definition)
                                : is_argument ? &function.body
                                              : nullptr;
  if (defined_in == index_.block(assume))
    infos_[value].divisibility[0] =
        std::max(infos_[value].divisibility[0], power_of_two_in(*infos_[rest->operands[1]].constant));
}

void AxisAnalysis::visit(const ir::Op &op) {
  if (op.opcode == ir::Opcode::Assume)
    return note_multiple(op);
  if (ir::is_loop(op.opcode))
    return visit_loop(op);
  if (op.opcode == ir::Opcode::If) {
    for (const ir::Block &block : op.blocks)
      visit(block);
    for (size_t i = 0; i < op.results.size(); ++i)
      infos_[op.results[i]] =
          meet(infos_[op.blocks[0].ops.back().operands[i]], infos_[op.blocks[1].ops.back().operands[i]]);
    return;
  }
  if (op.results.size() != 1)
    return;
  const ir::Type &type = index_.function().type(op.result());
  if (type.pointer || !ir::is_float(type.element))
    infos_[op.result()] = transfer(op);
}

AxisInfo AxisAnalysis::transfer(const ir::Op &op) const {
  const ir::Type &type = index_.function().type(op.result());
  AxisInfo result = unknown(op.result());
  switch (op.opcode) {
  case ir::Opcode::Constant:
    result.constant = op.integer("bits");
    for (unsigned d = 0; d < axes(type); ++d) {
      result.constancy[d] = power_of_two_in(size_along(type, d));
      result.divisibility[d] = power_of_two_in(op.integer("bits"));
    }
    return result;
  case ir::Opcode::Arange:
    result.contiguity[0] = power_of_two_in(type.shape[0]);
    result.divisibility[0] = power_of_two_in(op.integer("start"));
    if (result.contiguity[0] < type.shape[0]) // several runs
      result.divisibility[0] = std::min(result.divisibility[0], result.contiguity[0]);
    return result;
  case ir::Opcode::Cast:
    return ir::is_integer(index_.function().type(op.operands[0]).element) && type.element != ir::Element::I1
               ? infos_[op.operands[0]]
               : result;
  case ir::Opcode::IntToPtr: // neighbouring addresses are no neighbouring elements
    result.constancy = infos_[op.operands[0]].constancy;
    for (unsigned d = 0; d < axes(type); ++d)
      result.divisibility[d] = infos_[op.operands[0]].divisibility_at(d, 1);
    return result;
  case ir::Opcode::Broadcast:
  case ir::Opcode::ExpandDims:
  case ir::Opcode::Reshape:
  case ir::Opcode::Permute:
    return transfer_shape(op);
  case ir::Opcode::Eq:
  case ir::Opcode::Ne:
  case ir::Opcode::Lt:
  case ir::Opcode::Le:
  case ir::Opcode::Gt:
  case ir::Opcode::Ge:
    return transfer_compare(op);
  default:
    break;
  }
  if (!ir::is_elementwise(op.opcode))
    return result;
  for (unsigned d = 0; d < axes(type); ++d) {
    result.constancy[d] = max_power;
    for (ir::ValueId operand : op.operands)
      result.constancy[d] = std::min(result.constancy[d], infos_[operand].constancy[d]);
  }
  if (op.operands.size() != 2)
    return result;
  AxisInfo binary = transfer_binary(op);
  for (unsigned d = 0; d < axes(type); ++d)
    binary.constancy[d] = std::max(binary.constancy[d], result.constancy[d]);
  return binary;
}

AxisInfo AxisAnalysis::transfer_shape(const ir::Op &op) const {
  const ir::Type &from = index_.function().type(op.operands[0]);
  const ir::Type &to = index_.function().type(op.result());
  const AxisInfo &operand = infos_[op.operands[0]];
  AxisInfo result = unknown(op.result());
  result.constant = operand.constant;
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
    for (unsigned d = 0; d < to.rank(); ++d) {
      bool stretched = from.rank() == 0 || from.shape[d] != to.shape[d];
      result.contiguity[d] = stretched ? 1 : operand.contiguity[d];
      result.constancy[d] = stretched ? power_of_two_in(to.shape[d]) : operand.constancy[d];
      result.divisibility[d] = stretched ? operand.divisibility_of_all() : operand.divisibility[d];
    }
    return result;
  case ir::Opcode::ExpandDims:
    for (unsigned d = 0, source = 0; d < to.rank(); ++d) {
      bool added = d == static_cast<unsigned>(op.integer("axis")) || from.rank() == 0;
      result.contiguity[d] = added ? 1 : operand.contiguity[source];
      result.constancy[d] = added ? 1 : operand.constancy[source];
      result.divisibility[d] = added ? operand.divisibility_of_all() : operand.divisibility[source];
      source += added ? 0 : 1;
    }
    return result;
  case ir::Opcode::Permute:
    for (unsigned d = 0; d < to.rank(); ++d) {
      auto source = static_cast<unsigned>(op.integers("order")[d]);
      result.contiguity[d] = operand.contiguity[source];
      result.constancy[d] = operand.constancy[source];
      result.divisibility[d] = operand.divisibility[source];
    }
    return result;
  default:
    break;
  }
  if (to.rank() == 0 || from.rank() == 0)
    return result;
  int64_t last = to.shape.back();
  unsigned d = to.rank() - 1;
  result.contiguity[d] = std::min(operand.contiguity.back(), power_of_two_in(last));
  result.constancy[d] = std::min(operand.constancy.back(), power_of_two_in(last));
  result.divisibility[d] = operand.divisibility_at(from.rank() - 1, result.contiguity[d],
                                                   to.pointer ? ir::byte_size(to.element) : 1);
  return result;
}

AxisInfo AxisAnalysis::transfer_binary(const ir::Op &op) const {
  AxisInfo result = unknown(op.result());
  for (unsigned d = 0; d < axes(index_.function().type(op.result())); ++d)
    switch (op.opcode) {
    case ir::Opcode::Add:
    case ir::Opcode::PtrAdd:
    case ir::Opcode::Sub:
      transfer_sum(op, d, result);
      break;
    case ir::Opcode::Mul:
      transfer_product(op, d, result);
      break;
    case ir::Opcode::Shl:
    case ir::Opcode::Shr:
    case ir::Opcode::Div:
    case ir::Opcode::CeilDiv:
      transfer_scaling(op, d, result);
      break;
    default:
      transfer_bits(op, d, result);
    }
  return result;
}

void AxisAnalysis::transfer_sum(const ir::Op &op, unsigned d, AxisInfo &result) const {
  const ir::Type &type = index_.function().type(op.result());
  const AxisInfo &a = infos_[op.operands[0]], &b = infos_[op.operands[1]];
  const int64_t bytes = type.pointer ? ir::byte_size(type.element) : 1;
  const int64_t falling = op.opcode == ir::Opcode::Sub ? 1 : std::min(a.constancy[d], b.contiguity[d]);
  const int64_t run = std::max(std::min(a.contiguity[d], b.constancy[d]), falling);
  result.contiguity[d] = run;
  result.divisibility[d] =
      std::min(a.divisibility_at(d, run, bytes), product(b.divisibility_at(d, run), bytes));
}

void AxisAnalysis::transfer_product(const ir::Op &op, unsigned d, AxisInfo &result) const {
  const AxisInfo &a = infos_[op.operands[0]], &b = infos_[op.operands[1]];
  if (a.constant == 1 || b.constant == 1) {
    const AxisInfo &kept = b.constant == 1 ? a : b;
    result.contiguity[d] = kept.contiguity[d];
    result.divisibility[d] = kept.divisibility[d];
  } else {
    result.divisibility[d] = product(a.divisibility_at(d, 1), b.divisibility_at(d, 1));
  }
}

/// By a constant power of two.
void AxisAnalysis::transfer_scaling(const ir::Op &op, unsigned d, AxisInfo &result) const {
  const AxisInfo &a = infos_[op.operands[0]], &b = infos_[op.operands[1]];
  if (!b.constant)
    return;
  if (op.opcode == ir::Opcode::Div || op.opcode == ir::Opcode::CeilDiv) {
    // Rounding makes the neighbours of zero equal, so that nothing is said of signed runs.
    if (*b.constant > 0 && (*b.constant & (*b.constant - 1)) == 0)
      result.divisibility[d] = std::max<int64_t>(a.divisibility_at(d, 1) / *b.constant, 1);
    return;
  }
  if (*b.constant < 0 || *b.constant >= 30)
    return;
  const int64_t unit = int64_t(1) << *b.constant;
  if (op.opcode == ir::Opcode::Shl) {
    result.divisibility[d] = product(a.divisibility_at(d, 1), unit);
    return;
  }
  result.divisibility[d] = std::max<int64_t>(a.divisibility_at(d, 1) / unit, 1);
  // 2^s neighbours that rise from a multiple of 2^s differ only in the bits that go.
  if (std::min(a.contiguity[d], a.divisibility[d]) >= unit)
    result.constancy[d] = unit;
}

/// What keeps common low zero bits, and remainders.
void AxisAnalysis::transfer_bits(const ir::Op &op, unsigned d, AxisInfo &result) const {
  const AxisInfo &a = infos_[op.operands[0]], &b = infos_[op.operands[1]];
  switch (op.opcode) {
  case ir::Opcode::Rem: {
    // A negative dividend's remainder is 0 at a multiple and negative after it: no run.
    const bool is_signed = ir::is_signed(index_.function().type(op.result()).element);
    const int64_t run =
        is_signed ? 1
                  : std::min({a.contiguity[d], a.divisibility[d], b.divisibility_of_all(), b.constancy[d]});
    result.contiguity[d] = run;
    result.divisibility[d] = std::min(a.divisibility_at(d, run), b.divisibility_of_all());
    break;
  }
  case ir::Opcode::And:
    result.divisibility[d] = std::max(a.divisibility_at(d, 1), b.divisibility_at(d, 1));
    break;
  case ir::Opcode::Min:
  case ir::Opcode::Max:
  case ir::Opcode::Or:
  case ir::Opcode::Xor:
    result.divisibility[d] = std::min(a.divisibility_at(d, 1), b.divisibility_at(d, 1));
    break;
  default:
    break;
  }
}

/// i < n with i rising from a multiple of g and n a multiple of g has one answer for g neighbours.
AxisInfo AxisAnalysis::transfer_compare(const ir::Op &op) const {
  const ir::Type &type = index_.function().type(op.result());
  AxisInfo result = unknown(op.result());
  bool left = op.opcode == ir::Opcode::Lt || op.opcode == ir::Opcode::Ge;
  bool right = op.opcode == ir::Opcode::Gt || op.opcode == ir::Opcode::Le;
  const AxisInfo &a = infos_[op.operands[0]];
  const AxisInfo &b = infos_[op.operands[1]];
  for (unsigned d = 0; d < axes(type); ++d) {
    result.constancy[d] = std::min(a.constancy[d], b.constancy[d]);
    const AxisInfo &rising = left ? a : b;
    const AxisInfo &bound = left ? b : a;
    if ((left || right) && !ir::is_float(index_.function().type(op.operands[0]).element))
      result.constancy[d] =
          std::max(result.constancy[d], std::min({rising.contiguity[d], rising.divisibility[d],
                                                  bound.constancy[d], bound.divisibility_at(d, 1)}));
  }
  return result;
}

} // namespace nereid::codegen
