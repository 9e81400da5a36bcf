// Operations that change a tile's shape, and the one rule by which shapes broadcast.
#include "dsl/ir/builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace nereid::ir {

// Larger tiles would not fit the registers of a workgroup by far.
static constexpr int64_t max_tile_elements = int64_t{1} << 20;

void Builder::require_value(std::string_view what, ValueId value) const {
  if (type(value).pointer)
    fail(fmt::format("{}: expected a tile of elements, not a pointer", what), "Load from the pointer first");
}

void Builder::require_operand(Opcode opcode, ValueId value) const {
  const OpFacts &wanted = facts(opcode);
  require_value(wanted.name, value);
  require_element(wanted.name, value, contains(wanted.first, type(value)), describe(wanted.first));
}

void Builder::require_element(std::string_view what, ValueId value, bool allowed,
                              std::string_view wanted) const {
  if (!allowed)
    fail(fmt::format("{}: the element type is {}, it must be {}", what, facts(type(value).element).name,
                     wanted),
         "Convert with .to<T>() first");
}

size_t Builder::checked_axis(std::string_view what, ValueId value, int axis) const {
  int rank = static_cast<int>(type(value).rank());
  int index = axis < 0 ? axis + rank : axis;
  if (index < 0 || index >= rank)
    fail(fmt::format("{}: axis {} does not exist in shape {}", what, axis, text(type(value).shape)),
         rank == 0 ? std::string("A scalar has no axes")
                   : fmt::format("Use an axis from {} to {}", -rank, rank - 1));
  return static_cast<size_t>(index);
}

int64_t Builder::size(ValueId value, int axis) const {
  return type(value).shape[checked_axis("size", value, axis)];
}

void Builder::check_shape(std::string_view what, const Shape &shape) const {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 1)
      fail(fmt::format("{}: the shape {} has a dimension of size {}", what, text(shape), size),
           "Sizes are at least 1");
    count = size > max_tile_elements ? size : count * size;
    if (count > max_tile_elements)
      fail(fmt::format("{}: a tile of shape {} has more than {} elements", what, text(shape),
                       max_tile_elements),
           "Loop over smaller tiles");
  }
}

ValueId Builder::arange(int64_t first, int64_t last) {
  if (last <= first)
    fail(fmt::format("arange({}, {}) is empty", first, last),
         "The second bound must be greater than the first");
  if (first < INT32_MIN || last - 1 > INT32_MAX)
    fail(fmt::format("arange({}, {}) does not fit i32", first, last),
         "Add an i64 offset to a smaller arange");
  check_shape("arange", {last - first});
  return emit_one(Opcode::Arange, {}, Type::tile(Element::I32, {last - first}), {{"start", first}});
}

Shape Builder::common_shape(std::string_view what, const Shape &a, const Shape &b) const {
  if (a.empty())
    return b;
  if (b.empty())
    return a;
  const Shape &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  const size_t leading = longer.size() - shorter.size();
  Shape common = longer;
  for (size_t d = 0; d < shorter.size(); ++d) {
    const int64_t x = longer[leading + d], y = shorter[d];
    if (x != y && x != 1 && y != 1)
      fail(fmt::format("{}: the shapes {} and {} do not match", what, text(a), text(b)),
           leading == 0 ? "Sizes must be equal, or one of them 1"
                        : "Shapes are compared from the last dimension on; for another place use col(x) or "
                          "expand_dims(x, axis)");
    common[leading + d] = std::max(x, y);
  }
  return common;
}

ValueId Builder::broadcast_operand(std::string_view what, ValueId value, const Shape &shape) {
  const Type &from = type(value);
  if (from.shape == shape)
    return value;
  Shape common = common_shape(what, from.shape, shape);
  if (common != shape)
    fail(fmt::format("{}: the shape {} does not broadcast to {}", what, text(from.shape), text(shape)),
         "Only a scalar or dimensions of size 1 are repeated");
  check_shape(what, shape);
  Type to = from;
  to.shape = shape;
  use(value);
  if (definitions_[value].bits)
    return constant_from({value}, to, *definitions_[value].bits);
  while (type(value).rank() != 0 && type(value).rank() < shape.size())
    value = expand_dims(value, 0);
  if (type(value).shape == shape)
    return value;
  return emit_one(Opcode::Broadcast, {value}, to);
}

std::vector<ValueId> Builder::broadcast_together(std::string_view what, std::span<const ValueId> operands) {
  Shape shape;
  for (ValueId operand : operands)
    shape = common_shape(what, shape, type(operand).shape);
  std::vector<ValueId> wide;
  for (ValueId operand : operands)
    wide.push_back(broadcast_operand(what, operand, shape));
  return wide;
}

std::vector<ValueId> Builder::broadcast_together(std::string_view what,
                                                 std::initializer_list<ValueId> operands) {
  return broadcast_together(what, std::span(operands.begin(), operands.size()));
}

ValueId Builder::broadcast(ValueId value, const Shape &shape) {
  check_shape("broadcast", shape);
  return broadcast_operand("broadcast", value, shape);
}

ValueId Builder::expand_dims(ValueId value, int axis) {
  const Type &from = type(value);
  int rank = static_cast<int>(from.rank());
  int index = axis < 0 ? axis + rank + 1 : axis;
  if (index < 0 || index > rank)
    fail(fmt::format("expand_dims: axis {} cannot be inserted into shape {}", axis, text(from.shape)),
         fmt::format("Use an axis from {} to {}", -rank - 1, rank));
  Type to = from;
  to.shape.insert(to.shape.begin() + index, 1);
  return emit_one(Opcode::ExpandDims, {value}, to, {{"axis", int64_t{index}}});
}

namespace {
/// A dimension's factors from outermost: its odd factor, then twos. Two shapes of one list of factors differ
/// by a relabelling of bits; others would need arithmetic with / and %.
struct Factor {
  int64_t factor;
  size_t dimension;
};
} // namespace

static std::vector<Factor> factors(const Shape &shape) {
  std::vector<Factor> list;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t twos = shape[d] & -shape[d];
    if (shape[d] / twos != 1)
      list.push_back({shape[d] / twos, d});
    for (; twos > 1; twos /= 2)
      list.push_back({2, d});
  }
  return list;
}

ValueId Builder::reshape(ValueId value, const Shape &shape) {
  check_shape("reshape", shape);
  const Type &from = type(value);
  Type to = from;
  to.shape = shape;
  if (from.count() != to.count())
    fail(fmt::format("reshape: the shapes {} and {} have {} and {} elements", text(from.shape), text(shape),
                     from.count(), to.count()),
         "A reshape keeps the number of elements");
  if (from.shape == shape)
    return value;
  std::vector<Factor> source = factors(from.shape), target = factors(shape);
  for (size_t i = 0; i < std::min(source.size(), target.size()); ++i) {
    if (source[i].factor == target[i].factor)
      continue;
    bool of_source = source[i].factor != 2;
    const Factor &odd = of_source ? source[i] : target[i];
    fail(fmt::format("reshape from {} to {} goes through the odd factor {} of dimension {} of the {}",
                     text(from.shape), text(shape), odd.factor, odd.dimension,
                     of_source ? "operand" : "result"),
         "An odd factor is the outermost part of its dimension: keep it there, or use sizes that are powers "
         "of two");
  }
  use(value);
  if (definitions_[value].bits)
    return constant_from({value}, to, *definitions_[value].bits);
  return emit_one(Opcode::Reshape, {value}, to);
}

ValueId Builder::permute(ValueId value, const std::vector<int64_t> &order) {
  const Type &from = type(value);
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool right = sorted.size() == from.rank();
  for (size_t d = 0; right && d < sorted.size(); ++d)
    right = sorted[d] == static_cast<int64_t>(d);
  if (!right)
    fail(fmt::format("permute: the order {} is not a permutation of the {} dimensions of shape {}",
                     text(order), from.rank(), text(from.shape)),
         "Name each dimension once, counting from 0");
  Type to = from;
  for (size_t d = 0; d < order.size(); ++d)
    to.shape[d] = from.shape[static_cast<size_t>(order[d])];
  return emit_one(Opcode::Permute, {value}, to, {{"order", order}});
}

std::pair<ValueId, ValueId> Builder::split(ValueId value) {
  const Type &from = type(value);
  require_value("split", value);
  if (from.rank() == 0 || from.shape.back() != 2)
    fail(fmt::format("split: the last dimension of shape {} is not 2", text(from.shape)),
         "Reshape to [..., n / 2, 2] first");
  Type half = from;
  half.shape.pop_back();
  Op &op = emit(Opcode::Split, {value}, {half, half});
  return {op.results[0], op.results[1]};
}

ValueId Builder::join(ValueId a, ValueId b) {
  require_value("join", a);
  require_value("join", b);
  std::vector<ValueId> operands = broadcast_together("join", {a, b});
  Type to = type(operands[0]);
  to.shape.push_back(2);
  check_shape("join", to.shape);
  return emit_one(Opcode::Join, std::move(operands), to);
}

} // namespace nereid::ir
