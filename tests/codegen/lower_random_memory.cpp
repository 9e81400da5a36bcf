#include <algorithm>
#include <numeric>

#include "tests/codegen/lower_random_kernel.h"
#include "tests/codegen/lower_random_sizes.h"

namespace nereid::codegen::testing {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

RandomKernelBuilder::Placement RandomKernelBuilder::place(const ir::Shape &shape) {
  Placement placement{shape, std::vector<int64_t>(shape.size()), 0, 1};
  std::vector<size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (chance(30))
    for (size_t i = 0; i + 1 < order.size(); ++i)
      std::swap(order[i], order[i + static_cast<size_t>(below(static_cast<int64_t>(order.size() - i)))]);
  int64_t stride = chance(20) ? 1 + below(3) : 1, last = 0;
  for (size_t d : order) {
    bool backwards = chance(15);
    placement.strides[d] = backwards ? -stride : stride;
    int64_t reach = (shape[d] - 1) * stride;
    placement.base += backwards ? reach : 0;
    last += reach;
    stride = reach + stride + (chance(15) ? below(4) : 0);
  }
  placement.extent = last + 1;
  return placement;
}

ValueId RandomKernelBuilder::address(ValueId pointer, const Placement &placement, int64_t first) {
  const Element index_element = chance(30) ? Element::I64 : Element::I32;
  const bool step_by_step = chance(30);
  int64_t base = first + placement.base;
  std::optional<ValueId> sum;
  for (size_t d = 0; d < placement.shape.size(); ++d) {
    int64_t start = chance(20) ? below(40) - 20 : 0;
    ValueId index = cast(arange(start, start + placement.shape[d]), index_element);
    base -= start * placement.strides[d];
    for (size_t other = 0; other < placement.shape.size(); ++other)
      if (other != d)
        index = expand_dims(index, static_cast<int>(other));
    ValueId term = mul(index, integer(index_element, placement.strides[d]));
    if (step_by_step)
      pointer = ptr_add(pointer, term);
    else
      sum = sum ? add(*sum, term) : term;
  }
  ValueId offset = integer(index_element, base);
  if (chance(20)) {
    // The same offset, unknown to the compiler.
    ValueId unknown = cast(scalars_[0], index_element);
    offset = add(offset, binary(Opcode::Sub, unknown, integer(index_element, known_scalar)));
  }
  if (sum && chance(50))
    return ptr_add(pointer, add(*sum, offset));
  pointer = ptr_add(pointer, offset);
  return sum ? ptr_add(pointer, *sum) : pointer;
}

RandomValue RandomKernelBuilder::load_from(ValueId pointer, const ir::Shape &shape, int64_t size) {
  Placement placement = place(shape);
  int64_t room = size - placement.extent;
  ValueId from = address(pointer, placement,
                         chance(50)   ? 0
                         : chance(50) ? below(room / 16) * 16
                                      : below(room));
  if (type(from).shape != shape)
    from = broadcast(from, shape);
  std::optional<ValueId> condition, other;
  if (chance(30)) {
    condition = mask(shape).id;
    if (chance(50))
      other = as(fit(pick(), shape), type(pointer).element).id;
  }
  return {load(from, condition, other, ""), other.has_value(), other.has_value()};
}

RandomValue RandomKernelBuilder::loaded() {
  const Buffer &buffer = inputs_[static_cast<size_t>(below(static_cast<int64_t>(inputs_.size())))];
  return load_from(buffer.pointer, any_shape(any_count(max_elements_)), input_elements);
}

RandomValue RandomKernelBuilder::gathered() {
  const Buffer &buffer = inputs_[static_cast<size_t>(below(static_cast<int64_t>(inputs_.size())))];
  RandomValue index =
      as(fit(pick(), any_shape(any_count(max_elements_))), chance(50) ? Element::I32 : Element::I64);
  ValueId inside = binary(Opcode::And, index.id, integer(type(index.id).element, input_elements - 1));
  return {load(ptr_add(buffer.pointer, inside), {}, {}, "")};
}

std::optional<int64_t> RandomKernelBuilder::reserve(Buffer &buffer, int64_t count) {
  if (buffer.used + count > output_elements)
    return {};
  buffer.used += count;
  return buffer.used - count;
}

void RandomKernelBuilder::stored(RandomValue value) {
  Buffer &buffer = outputs_[static_cast<size_t>(type(value.id).element)];
  Placement placement = place(type(value.id).shape);
  const bool by_index = !indices_.empty() && chance(50);
  std::optional<int64_t> first = reserve(buffer, placement.extent * (by_index ? max_iterations : 1));
  if (!first)
    return;
  ValueId pointer = buffer.pointer;
  if (grid_[0] > 1)
    pointer = ptr_add(pointer, mul(program_id(0), number(output_elements)));
  if (by_index)
    pointer =
        ptr_add(pointer, mul(indices_.back(), integer(type(indices_.back()).element, placement.extent)));
  ValueId to = address(pointer, placement, *first);
  std::optional<ValueId> condition;
  if (chance(30))
    condition = mask(placement.shape).id;
  store(to, value.id, condition, "");
}

void RandomKernelBuilder::read_back() {
  Buffer &buffer = outputs_[static_cast<size_t>(any_element())];
  if (buffer.used < 64)
    return;
  ValueId pointer = buffer.pointer;
  if (grid_[0] > 1)
    pointer = ptr_add(pointer, mul(program_id(0), number(output_elements)));
  RandomValue value =
      load_from(pointer, any_shape(any_count(std::min<int64_t>(buffer.used / 16, 256))), output_elements);
  value.open_nan = true;
  keep(value);
}

void RandomKernelBuilder::atomic_statement() {
  Buffer &buffer =
      outputs_[static_cast<size_t>(one_of({Element::I32, Element::U32, Element::I64, Element::U64}))];
  ir::Shape shape = any_shape(any_count(std::min<int64_t>(max_elements_, 256)));
  const bool collide = chance(40);
  Placement placement = place(shape);
  std::optional<int64_t> first = reserve(buffer, placement.extent);
  if (!first)
    return;
  ValueId pointer = buffer.pointer;
  if (grid_[0] > 1)
    pointer = ptr_add(pointer, mul(program_id(0), number(output_elements)));
  if (collide) {
    ValueId index = as(fit(pick(), shape), Element::I32).id;
    index = binary(Opcode::And, index, number(std::bit_floor(static_cast<uint64_t>(placement.extent)) - 1));
    pointer = ptr_add(ptr_add(pointer, number(*first)), index);
  } else {
    pointer = address(pointer, placement, *first);
  }
  if (type(pointer).shape != shape)
    pointer = broadcast(pointer, shape);
  const ValueId values[] = {as(fit(pick(), shape), buffer.element).id};
  std::optional<ValueId> condition;
  if (chance(50))
    condition = mask(shape).id;
  ValueId old = atomic(one_of({Opcode::AtomicAdd, Opcode::AtomicMax, Opcode::AtomicMin}), pointer, values,
                       condition, one_of<const char *>({"relaxed", "acquire", "release", "acq_rel"}),
                       one_of<const char *>({"workgroup", "device"}));
  if (!collide && chance(70))
    keep({old});
}

} // namespace nereid::codegen::testing
