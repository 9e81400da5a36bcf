#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "tests/codegen/lower_random_kernel.h"
#include "tests/codegen/lower_random_sizes.h"

namespace nereid::codegen::testing {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

static int64_t count_of(const ir::Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Element RandomKernelBuilder::any_element() { return static_cast<Element>(below(arithmetic_elements)); }

static int64_t power_of_two_in(int64_t size) { return size & -size; }

static ir::Shape powers_of_two_in(ir::Shape shape) {
  for (int64_t &size : shape)
    size = power_of_two_in(size);
  return shape;
}

int64_t RandomKernelBuilder::any_count(int64_t most) {
  int64_t count = 1;
  while (count < most && !chance(8))
    count *= 2;
  if (const int64_t odd = one_of({3, 5, 7}); chance(25) && count * 4 >= odd * 2)
    count = std::max<int64_t>(1, count / 8) * odd;
  return std::min(count, most);
}

ir::Shape RandomKernelBuilder::any_shape(int64_t count) {
  ir::Shape shape(static_cast<size_t>(count == 1 ? below(5) : 1 + below(4)), 1);
  if (shape.empty())
    return shape;
  const auto any = [&]() -> int64_t & {
    return shape[static_cast<size_t>(below(static_cast<int64_t>(shape.size())))];
  };
  for (int64_t rest = power_of_two_in(count); rest > 1; rest /= 2)
    any() *= 2;
  any() *= count / power_of_two_in(count);
  return shape;
}

int64_t RandomKernelBuilder::any_side(int bits) {
  const int64_t side = int64_t{1} << below(bits);
  return side <= 8 && chance(20) ? side * one_of({3, 5, 7}) : side;
}

/// Odd factors are reduced away.
RandomValue RandomKernelBuilder::without_odd_factors(RandomValue value) {
  for (size_t d = 0; d < type(value.id).shape.size(); ++d) {
    ir::Shape shape = type(value.id).shape;
    const int64_t low = power_of_two_in(shape[d]);
    if (low == shape[d])
      continue;
    const int64_t odd = shape[d] / low;
    shape[d] = low;
    shape.insert(shape.begin() + static_cast<int64_t>(d), odd);
    const Element element = type(value.id).element;
    const Opcode op =
        element == Element::I1 ? Opcode::ReduceAny : one_of({Opcode::ReduceMax, Opcode::ReduceMin});
    value.id = reduce(op, reshape(value.id, shape), static_cast<int>(d), false);
    value.open_nan |= ir::is_float(element);
  }
  return value;
}

/// Of a shape of powers of two to one that has odd factors in addition: by copies.
RandomValue RandomKernelBuilder::with_odd_factors(RandomValue value, const ir::Shape &shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    ir::Shape parts = type(value.id).shape;
    if (parts[d] == shape[d])
      continue;
    parts.insert(parts.begin() + static_cast<int64_t>(d), 1);
    value.id = reshape(value.id, parts);
    parts[d] = shape[d] / parts[d + 1];
    value.id = broadcast(value.id, parts);
    parts[d + 1] = shape[d];
    parts.erase(parts.begin() + static_cast<int64_t>(d));
    value.id = reshape(value.id, parts);
  }
  return value;
}

RandomValue RandomKernelBuilder::as(RandomValue value, Element element) {
  Element from = type(value.id).element;
  if (from == element)
    return value;
  const bool bits_known = !value.open_nan && ir::facts(from).bits == ir::facts(element).bits;
  if (bits_known && from != Element::I1 && chance(50))
    return {bitcast(value.id, element)};
  return {cast(value.id, element), value.open_nan || ir::is_float(from)};
}

/// Rounded to fp8 or bf8, and back.
RandomValue RandomKernelBuilder::through_small_float(RandomValue value) {
  const Element element = type(value.id).element;
  if (element == Element::I1)
    return value;
  const ValueId narrow = cast(value.id, one_of({Element::FP8, Element::BF8}));
  return {cast(narrow, element), value.open_nan || ir::is_float(element), value.product};
}

RandomValue RandomKernelBuilder::scatter(RandomValue value) {
  ir::Shape shape = type(value.id).shape;
  int64_t count = count_of(shape);
  if (shape != powers_of_two_in(shape))
    return value;
  ir::Shape other = any_shape(count);
  if (other.empty())
    return value;
  value.id = reshape(value.id, other);
  std::vector<int64_t> order(other.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + static_cast<size_t>(below(static_cast<int64_t>(order.size() - i)))]);
  value.id = reshape(permute(value.id, order), shape);
  return value;
}

RandomValue RandomKernelBuilder::fit(RandomValue value, const ir::Shape &shape) {
  if (shape != powers_of_two_in(shape) && type(value.id).shape == shape)
    return value;
  return with_odd_factors(fit_powers_of_two(without_odd_factors(value), powers_of_two_in(shape)), shape);
}

RandomValue RandomKernelBuilder::fit_powers_of_two(RandomValue value, const ir::Shape &shape) {
  int64_t from = count_of(type(value.id).shape), to = count_of(shape);
  if (chance(25))
    value = scatter(value);
  const bool inner = chance(50);
  if (from > to) {
    int64_t parts = from / to;
    value.id = reshape(value.id, inner ? ir::Shape{to, parts} : ir::Shape{parts, to});
    if (parts == 2 && inner && chance(50)) {
      value.id = split(value.id).first;
    } else {
      Element element = type(value.id).element;
      Opcode op = element == Element::I1 ? Opcode::ReduceAny
                  : chance(50)           ? Opcode::ReduceMax
                                         : Opcode::ReduceMin;
      value.id = reduce(op, value.id, inner ? 1 : 0, false);
      value.open_nan |= ir::is_float(element); // of several NaNs any may come out
    }
  } else if (from < to) {
    int64_t copies = to / from;
    if (from == 1 && chance(50)) {
      value.id = broadcast(reshape(value.id, {}), shape);
    } else {
      value.id = reshape(value.id, inner ? ir::Shape{from, 1} : ir::Shape{1, from});
      value.id = broadcast(value.id, inner ? ir::Shape{from, copies} : ir::Shape{copies, from});
    }
  }
  value.id = reshape(value.id, shape);
  return value;
}

RandomValue RandomKernelBuilder::small(Element element, const ir::Shape &shape, int64_t largest) {
  if (largest >= small_input && chance(50))
    for (const Buffer &buffer : small_inputs_)
      if (buffer.element == element) {
        ValueId from = address(buffer.pointer, place(shape), below(64));
        return {load(type(from).shape == shape ? from : broadcast(from, shape), {}, {}, "")};
      }
  ValueId whole = as(fit(pick(), shape), Element::I32).id;
  whole = binary(Opcode::And, whole, number(largest));
  if (chance(50))
    whole = binary(Opcode::Sub, whole, number(largest / 2));
  return {cast(whole, element)};
}

RandomValue RandomKernelBuilder::mask(const ir::Shape &shape) {
  if (chance(30) && !shape.empty()) {
    // A prefix of one dimension.
    size_t d = static_cast<size_t>(below(static_cast<int64_t>(shape.size())));
    ValueId index = arange(0, shape[d]);
    for (size_t other = 0; other < shape.size(); ++other)
      if (other != d)
        index = expand_dims(index, static_cast<int>(other));
    ValueId bound = chance(50) ? scalars_[0] : number(below(shape[d] + 1));
    return {broadcast(binary(one_of({Opcode::Lt, Opcode::Ge}), index, bound), shape)};
  }
  RandomValue value = fit(pick(), shape);
  if (type(value.id).element == Element::I1)
    return value;
  if (ir::is_float(type(value.id).element))
    return {binary(one_of({Opcode::Lt, Opcode::Ne, Opcode::Ge}), value.id,
                   fit(as(pick(), type(value.id).element), shape).id)};
  ValueId low = binary(Opcode::And, value.id, integer(type(value.id).element, 1 + below(3)));
  return {cast(low, Element::I1)};
}

RandomValue RandomKernelBuilder::elementwise() {
  RandomValue a = pick();
  const ir::Shape shape = type(a.id).shape;
  if (chance(15))
    return as(a, any_element());
  if (chance(5))
    return through_small_float(a);
  Element element = type(a.id).element;
  const bool is_float = ir::is_float(element), is_bool = element == Element::I1;
  if (chance(20)) {
    if (is_float && chance(70))
      return {unary(one_of({Opcode::Neg, Opcode::Abs, Opcode::Floor, Opcode::Ceil, Opcode::Round}), a.id),
              true, a.product};
    if (is_float)
      return {unary(Opcode::Neg, a.id), a.open_nan, a.product};
    return {unary(is_bool ? Opcode::Not : one_of({Opcode::Neg, Opcode::Abs, Opcode::Not}), a.id)};
  }
  RandomValue b = as(fit(pick(), shape), element);
  if (chance(15)) {
    RandomValue condition = mask(shape);
    return {where(condition.id, a.id, b.id), a.open_nan || b.open_nan, a.product || b.product};
  }
  if (chance(20)) {
    if (is_bool)
      return {binary(one_of({Opcode::Eq, Opcode::Ne}), a.id, b.id)};
    return {
        binary(one_of({Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge}), a.id, b.id)};
  }
  if (is_bool)
    return {binary(one_of({Opcode::And, Opcode::Or, Opcode::Xor}), a.id, b.id)};
  if (is_float) {
    if (a.product || b.product)
      return {binary(one_of({Opcode::Max, Opcode::Min, Opcode::Mul}), a.id, b.id), true};
    if (chance(15))
      return {fma(a.id, b.id, as(fit(pick(), shape), element).id), true};
    return {binary(one_of({Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Div, Opcode::Max, Opcode::Min}),
                   a.id, b.id),
            true};
  }
  Opcode op =
      one_of({Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Div, Opcode::Rem, Opcode::CeilDiv, Opcode::Max,
              Opcode::Min, Opcode::And, Opcode::Or, Opcode::Xor, Opcode::Shl, Opcode::Shr, Opcode::MulHi});
  if (op == Opcode::MulHi && element != Element::I32 && element != Element::U32)
    op = Opcode::Mul;
  if (chance(10))
    b.id = integer(element, 1 + below(70), shape);
  if ((op == Opcode::Shl || op == Opcode::Shr) && chance(70))
    b.id = binary(Opcode::And, b.id, integer(element, 63));
  if (ir::is_division(op))
    b.id = where(binary(Opcode::Eq, b.id, integer(element, 0)), integer(element, 3), b.id);
  return {binary(op, a.id, b.id)};
}

RandomValue RandomKernelBuilder::viewed_value() {
  RandomValue value = pick();
  const ir::Shape shape = type(value.id).shape;
  int64_t count = count_of(shape);
  const bool odd = shape != powers_of_two_in(shape);
  switch (below(6)) {
  case 0:
    value.id = reshape(odd ? without_odd_factors(value).id : value.id,
                       any_shape(odd ? count_of(powers_of_two_in(shape)) : count));
    value.open_nan |= odd && ir::is_float(type(value.id).element);
    break;
  case 1: {
    std::vector<int64_t> order(shape.size());
    std::iota(order.rbegin(), order.rend(), 0);
    value.id = permute(value.id, order);
    break;
  }
  case 2:
    if (shape.size() < 4)
      value.id = expand_dims(value.id, static_cast<int>(below(static_cast<int64_t>(shape.size()) + 1)));
    break;
  case 3:
    if (count < max_elements_ && shape.size() < 4) {
      RandomValue other = as(fit(pick(), shape), type(value.id).element);
      value = {join(value.id, other.id), value.open_nan || other.open_nan, value.product || other.product};
    }
    break;
  case 4:
    if (!shape.empty() && (odd ? shape.back() % 2 == 0 : count > 1)) {
      ir::Shape pairs = {count / 2, 2};
      if (odd) {
        pairs = shape;
        pairs.back() /= 2;
        pairs.push_back(2);
      }
      auto [first, second] = split(reshape(value.id, pairs));
      RandomValue other = value;
      value.id = first;
      other.id = second;
      keep(other);
    }
    break;
  default:
    value = fit(value, any_shape(any_count(max_elements_)));
  }
  return value;
}

RandomValue RandomKernelBuilder::reduced() {
  RandomValue value = pick();
  ir::Shape shape = type(value.id).shape;
  if (shape.empty())
    return value;
  int axis = static_cast<int>(below(static_cast<int64_t>(shape.size())));
  const bool kept = chance(40);
  Element element = type(value.id).element;
  if (element == Element::I1)
    return {reduce(Opcode::ReduceAny, value.id, axis, kept)};
  if (chance(25))
    return {reduce(Opcode::ArgMax, value.id, axis, kept)};
  if (!ir::is_float(element) && chance(20))
    return {cumsum(value.id, axis)};
  if (chance(40)) {
    // Sums of floats stay whole and below what the element represents without a gap.
    int64_t most = element == Element::BF16 ? 256 : element == Element::F16 ? 2048 : 1 << 24;
    if (!ir::is_float(element))
      return {reduce(Opcode::ReduceSum, value.id, axis, kept)};
    int64_t largest = std::min<int64_t>(7, most / shape[static_cast<size_t>(axis)]);
    if (largest < 1)
      return value;
    largest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(largest + 1))) - 1;
    return {reduce(Opcode::ReduceSum, small(element, shape, largest).id, axis, kept)};
  }
  return {reduce(chance(50) ? Opcode::ReduceMax : Opcode::ReduceMin, value.id, axis, kept), true,
          value.product};
}

RandomValue RandomKernelBuilder::product() {
  Element element = chance(50) ? Element::BF16 : Element::F16;
  int64_t m = any_side(6), n = any_side(6), k = 2 * any_side(6);
  if (chance(25)) {
    ValueId a = as(fit(pick(), {m, k}), Element::I8).id, b = as(fit(pick(), {n, k}), Element::I8).id;
    ValueId result = dot(a, permute(b, {1, 0}));
    return {chance(40) ? add(as(fit(pick(), {m, n}), Element::I32).id, result) : result};
  }
  ValueId a = small(element, {m, k}, 7).id;
  ValueId b = chance(50) ? small(element, {k, n}, 7).id : permute(small(element, {n, k}, 7).id, {1, 0});
  ValueId result = dot(a, b);
  if (chance(40))
    result = add(small(Element::F32, {m, n}, 127).id, result);
  return {result, false, true};
}

RandomValue RandomKernelBuilder::scaled_product() {
  int64_t m = any_side(6), n = any_side(6), k = chance(20) ? 96 : 32 << below(3);
  auto scales = [&](int64_t rows) {
    ValueId any = as(fit(pick(), {rows, k / 32}), Element::U8).id;
    return add(binary(Opcode::And, any, integer(Element::U8, 3)), integer(Element::U8, 125));
  };
  // Byte formats have magnitudes from 1 to 2, so that all sums are exact.
  auto codes = [&](int64_t rows, ir::Format format) {
    const bool byte = ir::facts(format).bits == 8;
    ValueId any = as(fit(pick(), {rows, byte ? k : k / 2}), Element::U8).id;
    if (!byte)
      return any;
    const bool e4m3 = format == ir::Format::E4M3;
    ValueId mantissa = binary(Opcode::And, any, integer(Element::U8, e4m3 ? 0x87 : 0x83));
    return binary(Opcode::Or, mantissa, integer(Element::U8, e4m3 ? 0x38 : 0x3c));
  };
  auto side = [&](int64_t rows, ir::Format format, bool is_a) {
    const bool scaled = ir::facts(format).scaled;
    ScaledOperand made{0, {}, format};
    made.codes = scaled ? codes(rows, format)
                        : small(format == ir::Format::BF16 ? Element::BF16 : Element::F16, {rows, k}, 7).id;
    if (ir::facts(format).bits == 8 && chance(40))
      made.codes = bitcast(made.codes, format == ir::Format::E4M3 ? Element::FP8 : Element::BF8);
    if (!is_a)
      made.codes = permute(made.codes, {1, 0});
    if (scaled)
      made.scales = scales(rows);
    return made;
  };
  auto any_format = [&] {
    return one_of({ir::Format::E2M1, ir::Format::E2M1, ir::Format::E4M3, ir::Format::E5M2});
  };
  ir::Format format_a = any_format(), format_b = any_format();
  if (chance(25))
    (chance(50) ? format_a : format_b) = one_of({ir::Format::BF16, ir::Format::F16});
  const ScaledOperand a = side(m, format_a, true), b = side(n, format_b, false);
  ValueId result = dot_scaled(a, b);
  if (chance(40))
    result = add(small(Element::F32, {m, n}, 127).id, result);
  return {result, false, true};
}

void RandomKernelBuilder::quantized() {
  RandomValue value = pick();
  if (const Element element = type(value.id).element; !ir::is_float(element) || element == Element::F64)
    value = as(value, one_of({Element::BF16, Element::F16, Element::F32}));
  if (value.open_nan)
    value = small(Element::F32, type(value.id).shape, 127);
  int64_t rows = any_count(8), groups = chance(20) ? 3 : 1 << below(3);
  value = fit(value, {rows, 32 * groups});
  const ir::Format format = one_of({ir::Format::E2M1, ir::Format::E2M1, ir::Format::E4M3, ir::Format::E5M2});
  auto [codes, scales] =
      quantize(value.id, format, one_of({ir::ScaleRule::Even, ir::ScaleRule::Floor, ir::ScaleRule::Ceil}));
  keep({codes});
  keep({scales});
  if (format == ir::Format::E2M1 && chance(40)) {
    int64_t n = any_side(6);
    ValueId b = permute(as(fit(pick(), {n, 16 * groups}), Element::U8).id, {1, 0});
    ValueId low = add(binary(Opcode::And, scales, integer(Element::U8, 3)), integer(Element::U8, 125));
    ValueId scales_b = integer(Element::U8, 126, {n, groups});
    keep({dot_scaled({codes, low, ir::Format::E2M1}, {b, scales_b, ir::Format::E2M1}), false, true});
  }
}

} // namespace nereid::codegen::testing
