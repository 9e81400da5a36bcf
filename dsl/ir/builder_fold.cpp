// Reductions and scans with a combining function, and exchanges along an axis.
#include "dsl/ir/builder.h"

#include <fmt/format.h>

#include "dsl/ir/type_rules.h"

namespace nereid::ir {

ValueId Builder::butterfly(ValueId value, int axis, int64_t distance) {
  require_value("butterfly", value);
  const size_t index = checked_axis("butterfly", value, axis);
  const int64_t size = type(value).shape[index], power = size & -size;
  if (distance < 0 || distance >= power)
    fail(fmt::format("butterfly: the distance is {}, and axis {} has the size {}", distance, index, size),
         power == 1 ? "An axis of an odd size has no partners"
                    : fmt::format("The distance is 0 to {}: below the power of two in the size", power - 1));
  if (distance == 0)
    return value;
  return emit_one(Opcode::Butterfly, {value}, type(value),
                  {{"axis", static_cast<int64_t>(index)}, {"distance", distance}});
}

std::vector<ValueId> Builder::begin_fold(Opcode opcode, std::span<const ValueId> values, int axis) {
  const std::string_view what = facts(opcode).name;
  for (ValueId value : values) {
    require_value(what, value);
    if (type(value).shape != type(values[0]).shape)
      fail(fmt::format("{}: the tiles have the shapes {} and {}", what, text(type(values[0]).shape),
                       text(type(value).shape)),
           "Broadcast them to one shape: broadcast(x, shape)");
  }
  const size_t index = checked_axis(what, values[0], axis);
  open_region(opcode, {values.begin(), values.end()}).attributes["axis"] = static_cast<int64_t>(index);
  std::vector<ValueId> arguments;
  for (int side = 0; side < 2; ++side)
    for (ValueId value : values)
      arguments.push_back(new_value(Type::scalar(type(value).element)));
  regions_.back().block.arguments = arguments;
  return arguments;
}

std::vector<ValueId> Builder::end_fold(std::span<const ValueId> combined) {
  const Opcode opcode = regions_.back().op.opcode;
  const std::string_view what = facts(opcode).name;
  for (const Op &op : regions_.back().block.ops)
    if (!may_combine(function_, op)) {
      location_ = op.location;
      fail(fmt::format("{}: the combining function has a {} that is not of scalars", what,
                       facts(op.opcode).name),
           "It computes scalars of two elements, with elementwise operations only");
    }
  for (size_t i = 0; i < combined.size(); ++i) {
    use(combined[i]);
    const Type wanted = Type::scalar(type(regions_.back().op.operands[i]).element);
    if (type(combined[i]) != wanted)
      fail(fmt::format("{}: the combining function gives {} for {}", what, type(combined[i]).text(),
                       wanted.text()),
           "It gives one element of each tile");
  }
  Region inner = std::move(regions_.back());
  regions_.pop_back();
  Op op = std::move(inner.op);
  Op yield;
  yield.opcode = Opcode::Yield;
  yield.location = op.location;
  yield.operands.assign(combined.begin(), combined.end());
  inner.block.ops.push_back(std::move(yield));
  op.blocks.push_back(std::move(inner.block));
  for (ValueId operand : op.operands) {
    Type result = type(operand);
    if (opcode == Opcode::Reduce)
      result.shape.erase(result.shape.begin() + static_cast<std::ptrdiff_t>(op.integer("axis")));
    op.results.push_back(new_value(std::move(result)));
    definitions_.back().location = op.location;
  }
  std::vector<ValueId> results = op.results;
  regions_.back().block.ops.push_back(std::move(op));
  return results;
}

} // namespace nereid::ir
