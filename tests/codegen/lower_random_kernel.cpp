#include "tests/codegen/lower_random_kernel.h"

#include <cmath>

#include "dsl/interpreter/numbers.h"
#include "tests/codegen/lower_random_sizes.h"

namespace nereid::codegen::testing {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

RandomKernelBuilder::RandomKernelBuilder(uint64_t seed, int waves) : KernelBuilder(waves), random_(seed) {
  options().mfma = chance(70) ? 16 : 32;
  max_elements_ = 64 << below(4);
  grid_[0] = chance(80) ? 1 : 2;
  scalars_ = {scalar_argument(Element::I32), scalar_argument(Element::I64)};
  for (int64_t i = 0, count = 2 + below(3); i < count; ++i) {
    Element element = any_element();
    inputs_.push_back({pointer(element, chance(70) ? 16 : ir::byte_size(element)), element});
  }
  for (Element element : {Element::BF16, Element::F16, Element::F32})
    small_inputs_.push_back({pointer(element), element});
  for (int64_t i = 0; i < arithmetic_elements; ++i)
    outputs_.push_back({pointer(static_cast<Element>(i)), static_cast<Element>(i)});
  keep({scalars_[0]});
  keep({scalars_[1]});
  keep(loaded());
  keep(loaded());
}

RandomValue RandomKernelBuilder::pick() {
  auto count = static_cast<int64_t>(pool_.size());
  int64_t back = chance(60) ? below(std::min<int64_t>(count, 5)) : below(count);
  return pool_[static_cast<size_t>(count - 1 - back)];
}

ValueId RandomKernelBuilder::small_scalar() {
  ValueId any = as(fit(pick(), {}), Element::I32).id;
  return binary(Opcode::And, any, number(max_iterations));
}

void RandomKernelBuilder::statements(int count, int depth) {
  for (int i = 0; i < count; ++i)
    statement(depth);
}

void RandomKernelBuilder::statement(int depth) {
  int64_t kind = below(100);
  if (kind < 12)
    keep(loaded());
  else if (kind < 15)
    keep(gathered());
  else if (kind < 50)
    keep(elementwise());
  else if (kind < 62)
    keep(viewed_value());
  else if (kind < 70)
    keep(reduced());
  else if (kind < 74)
    keep(product());
  else if (kind < 77)
    keep(scaled_product());
  else if (kind < 80)
    quantized();
  else if (kind < 86)
    stored(pick());
  else if (kind < 88)
    read_back();
  else if (kind < 90)
    atomic_statement();
  else if (kind < 92 && depth < 2)
    product_loop();
  else if (kind < 96 && depth < 2)
    loop(depth + 1);
  else if (depth < 2)
    branch(depth + 1);
}

void RandomKernelBuilder::loop(int depth) {
  std::vector<ValueId> inits;
  for (int64_t i = 0, count = below(3); i < count; ++i)
    inits.push_back(pick().id);
  const bool with_pointer = chance(40);
  const Buffer &buffer = inputs_[0];
  if (with_pointer)
    inits.push_back(address(buffer.pointer, place(any_shape(any_count(max_elements_))), 0));
  const bool wide = chance(20);
  Element element = wide ? Element::I64 : Element::I32;
  ValueId last = chance(30)   ? cast(small_scalar(), element)
                 : chance(50) ? cast(scalars_[0], element)
                              : integer(element, below(max_iterations + 1));
  Loop made = begin_for(integer(element, 0), last, integer(element, 1 + below(2)),
                        1 + static_cast<int>(below(3)), inits);
  size_t outside = pool_.size();
  indices_.push_back(made.index);
  keep({made.index});
  size_t tiles = inits.size() - (with_pointer ? 1 : 0);
  for (size_t i = 0; i < tiles; ++i)
    keep({made.carried[i], true, true});
  if (with_pointer)
    keep({load(made.carried.back(), {}, {}, "")});
  statements(1 + static_cast<int>(below(5)), depth);
  std::vector<ValueId> yields;
  for (size_t i = 0; i < tiles; ++i)
    yields.push_back(as(fit(pick(), type(inits[i]).shape), type(inits[i]).element).id);
  if (with_pointer)
    yields.push_back(ptr_add(made.carried.back(), number(below(40))));
  std::vector<ValueId> results = end_for(yields);
  indices_.pop_back();
  pool_.resize(outside);
  for (size_t i = 0; i < tiles; ++i)
    keep({results[i], true, true});
}

void RandomKernelBuilder::product_loop() {
  int64_t m = any_side(6), n = any_side(6), k = chance(20) ? 48 : 16 << below(3);
  Element element = chance(50) ? Element::BF16 : Element::F16;
  const ValueId inits[] = {small(Element::F32, {m, n}, 127).id};
  Loop made = begin_for(number(0), number(1 + below(max_iterations)), number(1), 1, inits);
  size_t outside = pool_.size();
  keep({made.index});
  ValueId a = small(element, {m, k}, 7).id, b = permute(small(element, {n, k}, 7).id, {1, 0});
  const ValueId yields[] = {add(made.carried[0], dot(a, b))};
  std::vector<ValueId> results = end_for(yields);
  pool_.resize(outside);
  keep({results[0], false, true});
}

void RandomKernelBuilder::branch(int depth) {
  RandomValue condition = fit(pick(), {});
  if (type(condition.id).element != Element::I1)
    condition = mask({});
  std::vector<ir::Type> types;
  for (int64_t i = 0, count = below(3); i < count; ++i)
    types.push_back(type(pick().id));
  auto side = [&] {
    size_t outside = pool_.size();
    statements(1 + static_cast<int>(below(4)), depth);
    std::vector<ValueId> yields;
    for (const ir::Type &wanted : types)
      yields.push_back(as(fit(pick(), wanted.shape), wanted.element).id);
    pool_.resize(outside);
    return yields;
  };
  begin_if(condition.id);
  std::vector<ValueId> taken = side();
  begin_else();
  std::vector<ValueId> other = side();
  std::vector<std::pair<ValueId, ValueId>> yields;
  for (size_t i = 0; i < types.size(); ++i)
    yields.emplace_back(taken[i], other[i]);
  for (ValueId result : end_if(yields))
    keep({result, true, true});
}

Argument RandomKernelBuilder::data(Element element, Contents contents, int64_t count) {
  static constexpr float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1.0F, -1.5F, 0x1p-140F};
  const auto bits_of = [&](float value) {
    return element == Element::F64 ? interpreter::bits_of(element, double(value))
                                   : interpreter::bits_of(element, value);
  };
  unsigned bytes = ir::byte_size(element);
  Bytes data(static_cast<size_t>(count) * bytes);
  for (size_t at = 0; at < data.size(); at += bytes) {
    uint64_t bits = random_.next();
    if (element == Element::I1) {
      bits &= 1;
    } else if (contents == Contents::Small) {
      bits = bits_of(static_cast<float>(below(2 * small_input + 1) - small_input));
    } else if (ir::is_float(element)) {
      int64_t kind = below(4);
      if (kind == 0)
        bits = bits_of(special[below(8)]);
      else if (kind < 3)
        bits = bits_of(random_.normal() * 8);
    } else if (chance(25)) {
      bits = static_cast<uint64_t>(below(9) - 4);
    } else if (chance(10)) {
      bits = uint64_t{1} << (8 * bytes - 1);
    }
    std::memcpy(data.data() + at, &bits, bytes);
  }
  return {data};
}

RandomKernel RandomKernelBuilder::build() {
  statements(4 + static_cast<int>(below(11)), 0);
  for (int i = 0; i < 4; ++i)
    stored(pick());
  RandomKernel kernel;
  kernel.grid = grid_;
  kernel.arguments = {i32(known_scalar), i64(below(2) == 0 ? -5 : int64_t{5} << 33)};
  for (const Buffer &buffer : inputs_)
    kernel.arguments.push_back(data(buffer.element, Contents::Bits, input_elements));
  for (const Buffer &buffer : small_inputs_)
    kernel.arguments.push_back(data(buffer.element, Contents::Small, input_elements));
  for (const Buffer &buffer : outputs_) {
    if (ir::is_float(buffer.element))
      kernel.floats.push_back({kernel.arguments.size(), buffer.element});
    kernel.arguments.push_back(data(buffer.element, Contents::Bits, grid_[0] * output_elements));
  }
  kernel.function = done();
  return kernel;
}

RandomKernel random_kernel(uint64_t seed) {
  static constexpr int waves[] = {1, 2, 4, 8};
  return RandomKernelBuilder(seed, waves[Random(seed).next() % 4]).build();
}

} // namespace nereid::codegen::testing
