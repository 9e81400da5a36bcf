// Masks of rows that the end of a buffer descriptor can stand for.
#include "codegen/schedule/row_bound.h"

#include <limits>
#include <utility>
#include <vector>

#include "dsl/ir/fold.h"

namespace nereid::codegen {

namespace {

class Matcher {
public:
  Matcher(const FunctionIndex &index, const AxisAnalysis &axes, const ValueRanges &ranges)
      : index_(index), function_(index.function()), axes_(axes), ranges_(ranges) {}

  std::optional<RowBound> match(const ir::Op &load) const;

private:
  using Values = std::vector<ir::ValueId>;

  Values terms(Values open) const;
  std::optional<Values> offset_terms(ir::ValueId pointer) const;
  std::optional<ir::ValueId> scalar(ir::ValueId value) const;
  std::optional<int64_t> constant(ir::ValueId value) const;
  ir::ValueId source(ir::ValueId value) const;
  bool counts(ir::ValueId value, int64_t axis, const ir::Type &tile) const;
  bool set_pitch(ir::ValueId term, const ir::Type &tile, RowBound &bound) const;
  bool set_mask(ir::ValueId mask, const ir::Type &tile, RowBound &bound) const;

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const ValueRanges &ranges_;
};

/// A value behind views that keep the order of its elements.
ir::ValueId Matcher::source(ir::ValueId value) const {
  for (std::optional<ir::ValueId> viewed = viewed_value(index_, value);
       viewed && index_.definition(value)->opcode != ir::Opcode::Permute;
       viewed = viewed_value(index_, value))
    value = *viewed;
  return value;
}

std::optional<ir::ValueId> Matcher::scalar(ir::ValueId value) const {
  const ir::ValueId from = source(value);
  return function_.type(from).rank() == 0 ? std::optional(from) : std::nullopt;
}

std::optional<int64_t> Matcher::constant(ir::ValueId value) const {
  const std::optional<int64_t> &bits = axes_[value].constant;
  return bits ? std::optional(ir::integer_value(function_.type(value).element, static_cast<uint64_t>(*bits)))
              : std::nullopt;
}

/// What a sum adds up, broadcasts left out.
Matcher::Values Matcher::terms(Values open) const {
  Values result;
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const ir::Op *op = index_.definition(value);
    if (op && op->opcode == ir::Opcode::Add)
      open.insert(open.end(), op->operands.begin(), op->operands.end());
    else if (op && op->opcode == ir::Opcode::Broadcast && function_.type(op->operands[0]).rank() == 2)
      open.push_back(op->operands[0]);
    else
      result.push_back(value);
  }
  return result;
}

/// What is added to a scalar pointer.
std::optional<Matcher::Values> Matcher::offset_terms(ir::ValueId pointer) const {
  Values added;
  while (function_.type(pointer).rank() != 0) {
    const ir::Op *op = index_.definition(pointer);
    if (!op || (op->opcode != ir::Opcode::PtrAdd && op->opcode != ir::Opcode::Broadcast))
      return std::nullopt;
    if (op->opcode == ir::Opcode::PtrAdd)
      added.push_back(op->operands[1]);
    pointer = op->operands[0];
  }
  return terms(std::move(added));
}

/// Whether a value counts a tile's rows (axis 0) from 0 on, or its columns (axis 1) from anywhere.
bool Matcher::counts(ir::ValueId value, int64_t axis, const ir::Type &tile) const {
  const ir::Type &type = function_.type(value);
  const ir::Op *op = index_.definition(source(value));
  return op && op->opcode == ir::Opcode::Arange && type.rank() == 2 && type.shape[axis] == tile.shape[axis] &&
         type.shape[1 - axis] == 1 && function_.type(op->result()).count() == tile.shape[axis] &&
         (axis == 1 || op->integer("start") == 0);
}

/// From rows times a scalar or a constant.
bool Matcher::set_pitch(ir::ValueId term, const ir::Type &tile, RowBound &bound) const {
  const ir::Op *op = index_.definition(term);
  if (!op || op->opcode != ir::Opcode::Mul)
    return false;
  const int64_t bytes = ir::byte_size(tile.element);
  for (const auto &[rows, pitch] :
       {std::pair{op->operands[0], op->operands[1]}, {op->operands[1], op->operands[0]}}) {
    if (!counts(rows, 0, tile))
      continue;
    if (const std::optional<int64_t> elements = constant(pitch)) {
      bound.pitch = *elements * bytes;
      return *elements >= tile.shape[1] && *elements <= std::numeric_limits<int32_t>::max();
    }
    if (const std::optional<ir::ValueId> factor = scalar(pitch)) {
      bound.factor = factor;
      bound.pitch = bytes;
      return ranges_[*factor].low >= tile.shape[1];
    }
  }
  return false;
}

bool Matcher::set_mask(ir::ValueId mask, const ir::Type &tile, RowBound &bound) const {
  const ir::Op *op = index_.definition(mask);
  if (op && op->opcode == ir::Opcode::Broadcast)
    op = index_.definition(op->operands[0]);
  if (!op || function_.type(op->result()).shape != std::vector<int64_t>{tile.shape[0], 1} ||
      (op->opcode != ir::Opcode::Lt && op->opcode != ir::Opcode::Le) ||
      function_.type(op->operands[0]).element != ir::Element::I32)
    return false;
  const Values sum = terms({op->operands[0]});
  const std::optional<ir::ValueId> limit = scalar(op->operands[1]);
  if (sum.size() != 2 || !limit)
    return false;
  const bool rows_first = counts(sum[0], 0, tile);
  const std::optional<ir::ValueId> first = scalar(sum[rows_first ? 1 : 0]);
  if (!counts(sum[rows_first ? 0 : 1], 0, tile) || !first)
    return false;
  bound.first = *first;
  bound.bound = *limit;
  bound.inclusive = op->opcode == ir::Opcode::Le;
  const Interval rest = ranges_[*limit] + -ranges_[*first] + Interval{0, bound.inclusive ? 1 : 0};
  return rest.within({std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()});
}

std::optional<RowBound> Matcher::match(const ir::Op &load) const {
  const ir::Type &tile = function_.type(load.result());
  if (load.operands.size() < 2 || tile.rank() != 2)
    return std::nullopt;
  RowBound bound{};
  bound.rows = tile.shape[0];
  const std::optional<Values> offsets = offset_terms(load.operands[0]);
  if (!offsets || !set_mask(load.operands[1], tile, bound))
    return std::nullopt;
  unsigned pitches = 0, columns = 0;
  for (ir::ValueId term : *offsets)
    if (!scalar(term))
      ++(counts(term, 1, tile) ? columns : pitches);
  if (pitches != 1 || columns != 1)
    return std::nullopt;
  for (ir::ValueId term : *offsets)
    if (!scalar(term) && !counts(term, 1, tile) && !set_pitch(term, tile, bound))
      return std::nullopt;
  return bound;
}

} // namespace

std::optional<RowBound> row_bound(const FunctionIndex &index, const AxisAnalysis &axes,
                                  const ValueRanges &ranges, const ir::Op &load) {
  return Matcher(index, axes, ranges).match(load);
}

} // namespace nereid::codegen
