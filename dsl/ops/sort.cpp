// Which partners and directions a bitonic network has.
#include "dsl/ops/sort.h"

#include <bit>

#include <fmt/format.h>

namespace nereid::detail {

SortNetwork::SortNetwork(Where where, std::string_view what, ir::ValueId tile)
    : where_(where), size_(0), positions_(0) {
  ir::Builder &builder = at(where);
  const Shape shape = builder.type(tile).shape;
  if (shape.empty() || !std::has_single_bit(static_cast<uint64_t>(shape.back())))
    builder.fail(fmt::format("{}: the last axis of shape {} is no power of two", what, ir::text(shape)),
                 "Fill it up: load(p, mask, other) with an element that comes last");
  size_ = shape.back();
  positions_ = builder.arange(0, size_);
  while (builder.type(positions_).rank() < shape.size())
    positions_ = builder.expand_dims(positions_, 0);
}

ir::ValueId SortNetwork::bit_is_clear(int64_t bit) const {
  ir::Builder &builder = at(where_);
  const ir::ValueId masked =
      builder.binary(ir::Opcode::And, positions_, builder.integer(ir::Element::I32, bit));
  return builder.binary(ir::Opcode::Eq, masked, builder.integer(ir::Element::I32, 0));
}

ir::ValueId SortNetwork::takes_first(int64_t distance, int64_t direction) const {
  const ir::ValueId is_lower = bit_is_clear(distance);
  return direction >= size_ ? is_lower : at(where_).binary(ir::Opcode::Eq, is_lower, bit_is_clear(direction));
}

int64_t topk_size(Where where, int64_t k, int64_t size) {
  if (k < 1 || k > size || !std::has_single_bit(static_cast<uint64_t>(k)))
    at(where).fail(fmt::format("topk: k is {} of {} elements", k, size),
                   "k is a power of two, at most the size of the last axis");
  return k;
}

} // namespace nereid::detail
