#include <cmath>

#include <gtest/gtest.h>

#include "dsl/interpreter/numbers.h"
#include "tests/codegen/lower_harness.h"
#include "tests/support/exact_numbers.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

constexpr int64_t count = 512;

template <class T> std::vector<T> interesting_integers(uint64_t seed) {
  Random random(seed);
  std::vector<T> values = random.bits<T>(count);
  const T edges[] = {0, 1, static_cast<T>(-1), static_cast<T>(T(1) << (8 * sizeof(T) - 1)), 31, 32, 63, 64,
                     7, 8};
  for (size_t i = 0; i < std::size(edges); ++i)
    for (size_t j = 0; j < std::size(edges); ++j)
      values[i * std::size(edges) + j] = seed % 2 == 0 ? edges[i] : edges[j];
  return values;
}

/// One kernel with all the operations: result k goes to z + k * count.
template <class T> void all_integer_operations(Element element) {
  KernelBuilder b(2);
  ir::ValueId x = b.pointer(element), y = b.pointer(element), z = b.pointer(element),
              c = b.pointer(Element::I1);
  ir::ValueId i = b.arange(0, count);
  ir::ValueId p = b.load(b.ptr_add(x, i), {}, {}, ""), q = b.load(b.ptr_add(y, i), {}, {}, "");
  int64_t results = 0, comparisons = 0;
  auto keep = [&](ir::ValueId value) {
    b.store(b.ptr_add(z, b.add(i, b.number(results++ * count))), value, {}, "");
  };
  for (Opcode op : {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Min, Opcode::Max, Opcode::And, Opcode::Or,
                    Opcode::Xor, Opcode::Shl, Opcode::Shr})
    keep(b.binary(op, p, q));
  ir::ValueId divisor = b.where(b.binary(Opcode::Eq, q, b.integer(element, 0)), b.integer(element, 3), q);
  keep(b.binary(Opcode::Div, p, divisor));
  keep(b.binary(Opcode::Rem, p, divisor));
  keep(b.binary(Opcode::CeilDiv, p, divisor));
  keep(b.binary(Opcode::CeilDiv, p, b.integer(element, 7)));
  keep(b.binary(Opcode::CeilDiv, p, b.integer(element, 64)));
  keep(b.binary(Opcode::Div, p, b.integer(element, 7)));
  keep(b.binary(Opcode::Rem, p, b.integer(element, 8)));
  if (ir::facts(element).bits == 32)
    keep(b.binary(Opcode::MulHi, p, q));
  for (Opcode op : {Opcode::Neg, Opcode::Not, Opcode::Abs, Opcode::Popcount, Opcode::Clz})
    keep(b.unary(op, p));
  for (Opcode op : {Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge})
    b.store(b.ptr_add(c, b.add(i, b.number(comparisons++ * count))), b.binary(op, p, q), {}, "");
  expect_same(b.done(), {1, 1, 1},
              {buffer(interesting_integers<T>(2)), buffer(interesting_integers<T>(3)),
               buffer(std::vector<T>(results * count)), buffer(std::vector<uint8_t>(comparisons * count))});
}

TEST(LowerElementwise, SignedIntegers) {
  all_integer_operations<uint8_t>(Element::I8);
  all_integer_operations<uint16_t>(Element::I16);
  all_integer_operations<uint32_t>(Element::I32);
  all_integer_operations<uint64_t>(Element::I64);
}

TEST(LowerElementwise, UnsignedIntegers) {
  all_integer_operations<uint8_t>(Element::U8);
  all_integer_operations<uint16_t>(Element::U16);
  all_integer_operations<uint32_t>(Element::U32);
  all_integer_operations<uint64_t>(Element::U64);
}

Argument float_data(Element element, uint64_t seed) {
  Random random(seed);
  std::vector<float> values = random.normals(count);
  const float edges[] = {0.0f,   -0.0f,   1.0f,  -1.0f, INFINITY, -INFINITY, NAN,
                         1e-40f, -1e-40f, 3e38f, 0.5f,  2.5f,     1e-6f};
  for (size_t i = 0; i < std::size(edges); ++i)
    for (size_t j = 0; j < std::size(edges); ++j)
      values[i * std::size(edges) + j] = seed % 2 == 0 ? edges[i] : edges[j];
  if (element == Element::F32)
    return buffer(values);
  std::vector<uint16_t> narrow;
  for (float value : values)
    narrow.push_back(element == Element::BF16 ? interpreter::bf16_bits(value) : interpreter::f16_bits(value));
  return buffer(narrow);
}

Argument empty_floats(Element element, int64_t n) { return {Bytes(n * ir::byte_size(element))}; }

TEST(LowerElementwise, FloatArithmeticIsExact) {
  for (Element element : {Element::F32, Element::BF16, Element::F16}) {
    KernelBuilder b(2);
    ir::ValueId x = b.pointer(element), y = b.pointer(element), z = b.pointer(element),
                c = b.pointer(Element::I1);
    ir::ValueId i = b.arange(0, count);
    ir::ValueId p = b.load(b.ptr_add(x, i), {}, {}, ""), q = b.load(b.ptr_add(y, i), {}, {}, "");
    int64_t results = 0, comparisons = 0;
    auto keep = [&](ir::ValueId value) {
      b.store(b.ptr_add(z, b.add(i, b.number(results++ * count))), value, {}, "");
    };
    for (Opcode op : {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Div, Opcode::Min, Opcode::Max})
      keep(b.binary(op, p, q));
    keep(b.fma(p, q, p));
    keep(b.add(b.mul(p, q), p));
    for (Opcode op : {Opcode::Neg, Opcode::Abs, Opcode::Floor, Opcode::Ceil, Opcode::Round, Opcode::Trunc})
      keep(b.unary(op, p));
    for (Opcode op : {Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge})
      b.store(b.ptr_add(c, b.add(i, b.number(comparisons++ * count))), b.binary(op, p, q), {}, "");
    expect_same(b.done(), {1, 1, 1},
                {float_data(element, 2), float_data(element, 3), empty_floats(element, results * count),
                 buffer(std::vector<uint8_t>(comparisons * count))},
                {{2, element}});
  }
}

/// The offsets of this program's `count` elements.
ir::ValueId offsets_of_program(KernelBuilder &b) {
  return b.add(b.mul(b.program_id(0), b.number(count)), b.arange(0, count));
}

/// Bit patterns for whole programs: the last one is repeated.
uint32_t fill_programs(std::vector<uint64_t> &bits) {
  const auto programs = static_cast<uint32_t>((bits.size() + count - 1) / count);
  bits.resize(programs * count, bits.back());
  return programs;
}

TEST(LowerElementwise, EveryCastOfEveryEdge) {
  for (Element from : test::all_elements) {
    KernelBuilder b(1);
    ir::ValueId x = b.pointer(from);
    std::vector<uint64_t> bits = test::edge_bits(from);
    const uint32_t programs = fill_programs(bits);
    std::vector<Argument> arguments = {buffer(test::packed(from, bits))};
    std::vector<FloatBuffer> floats;
    std::vector<ir::ValueId> outputs;
    for (Element to : test::all_elements)
      outputs.push_back(b.pointer(to));
    ir::ValueId i = offsets_of_program(b);
    ir::ValueId value = b.load(b.ptr_add(x, i), {}, {}, "");
    for (size_t k = 0; k < std::size(test::all_elements); ++k) {
      const Element to = test::all_elements[k];
      b.store(b.ptr_add(outputs[k], i), b.cast(value, to), {}, "");
      arguments.push_back({Bytes(bits.size() * ir::byte_size(to))});
      if (ir::is_float(to))
        floats.push_back({k + 1, to, 0});
    }
    expect_same(b.done(), {programs, 1, 1}, arguments, floats);
  }
}

TEST(LowerElementwise, FmaOfSmallFloatsRoundsOnce) {
  for (Element element : {Element::F16, Element::BF16}) {
    KernelBuilder b(1);
    std::vector<std::vector<uint64_t>> operands = test::fma_operands(element, 1 << 15);
    const ir::ValueId pointers[] = {b.pointer(element), b.pointer(element), b.pointer(element),
                                    b.pointer(element)};
    ir::ValueId i = offsets_of_program(b);
    std::vector<ir::ValueId> values;
    std::vector<Argument> arguments;
    for (size_t k = 0; k < 3; ++k) {
      values.push_back(b.load(b.ptr_add(pointers[k], i), {}, {}, ""));
      arguments.push_back(buffer(test::packed(element, operands[k])));
    }
    b.store(b.ptr_add(pointers[3], i), b.fma(values[0], values[1], values[2]), {}, "");
    arguments.push_back({Bytes(operands[0].size() * 2)});
    expect_same(b.done(), {(1 << 15) / count, 1, 1}, arguments, {{3, element}});
  }
}

TEST(LowerElementwise, CeilingDivisionWithPromisedRangesIsAnAddAndADivision) {
  const auto kernel = [](int64_t highest) {
    KernelBuilder b(1);
    ir::ValueId z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
    b.assume(b.binary(Opcode::Ge, n, b.number(0)));
    b.assume(b.binary(Opcode::Le, n, b.number(highest)));
    b.store(z, b.binary(Opcode::CeilDiv, n, b.number(64)), {}, "");
    return b.done();
  };
  for (int64_t highest : {int64_t{INT32_MAX} - 63, int64_t{INT32_MAX}})
    for (int64_t n : {int64_t{0}, int64_t{1}, int64_t{64}, int64_t{65}, highest})
      expect_same(kernel(highest), {1, 1, 1},
                  {buffer(std::vector<int32_t>{-1}), i32(static_cast<int32_t>(n))});
}

TEST(LowerElementwise, BooleansAndSelections) {
  KernelBuilder b(2);
  ir::ValueId x = b.pointer(Element::I1), y = b.pointer(Element::I1), z = b.pointer(Element::I1),
              w = b.pointer(Element::F32);
  ir::ValueId p = b.load_tile(x, {256}), q = b.load_tile(y, {256});
  ir::ValueId mixed =
      b.binary(Opcode::Xor, b.binary(Opcode::And, p, q), b.unary(Opcode::Not, b.binary(Opcode::Or, p, q)));
  b.store_tile(z, mixed);
  b.store_tile(w, b.where(mixed, b.cast(b.arange(0, 256), Element::F32),
                          b.constant(ir::Type::tile(Element::F32, {256}), 0)));
  Random random(6);
  std::vector<uint8_t> u(256), v(256);
  for (size_t i = 0; i < u.size(); ++i) {
    u[i] = random.next() & 1;
    v[i] = random.next() & 1;
  }
  expect_same(b.done(), {1, 1, 1},
              {buffer(u), buffer(v), buffer(std::vector<uint8_t>(256)), buffer(std::vector<float>(256))});
}

TEST(LowerElementwise, InlineAssemblyMeansWhatItSays) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
  const ir::ValueId operands[] = {b.load_tile(x, {64})};
  auto twice = [](const std::vector<uint64_t> &bits) -> uint64_t {
    float value = 2 * std::bit_cast<float>(static_cast<uint32_t>(bits[0]));
    return std::bit_cast<uint32_t>(value);
  };
  b.store_tile(z, b.inline_asm(Element::F32, "v_add_f32 $0, $1, $1", "=v,v", twice, operands));
  Random random(7);
  expect_same(b.done(), {1, 1, 1}, {buffer(random.normals(64)), buffer(std::vector<float>(64))});
}

TEST(LowerElementwise, ProductsThatAreZeroKeepTheirSignInF16) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::I64), y = b.pointer(Element::U8), z = b.pointer(Element::F16);
  ir::ValueId a = b.cast(b.load_tile(x, {64}), Element::F16), c = b.cast(b.load_tile(y, {64}), Element::F16);
  b.store_tile(z, b.mul(a, c));
  std::vector<int64_t> integers(64);
  std::vector<uint8_t> bytes(64);
  for (size_t i = 0; i < 64; ++i) {
    integers[i] = static_cast<int64_t>(i % 7) - 3;
    bytes[i] = static_cast<uint8_t>(i % 3);
  }
  expect_same(b.done(), {1, 1, 1}, {buffer(integers), buffer(bytes), buffer(std::vector<uint16_t>(64))});
}

TEST(LowerElementwise, ScaledConversions) {
  for (ir::Format format : {ir::Format::E2M1, ir::Format::E4M3, ir::Format::E5M2}) {
    Element packed = format == ir::Format::E2M1 ? Element::U8 : Element::U16;
    KernelBuilder b(2);
    ir::ValueId x = b.pointer(Element::F32), y = b.pointer(Element::F32), z = b.pointer(packed);
    ir::ValueId scale = b.constant(ir::Type::tile(Element::F32, {count}), 0x3e800000);
    b.store_tile(z, b.cvt_scaled(format, b.load_tile(x, {count}), b.load_tile(y, {count}), scale));
    expect_same(b.done(), {1, 1, 1},
                {float_data(Element::F32, 2), float_data(Element::F32, 3), empty_floats(packed, count)});
  }
}

} // namespace
} // namespace nereid::codegen::testing
