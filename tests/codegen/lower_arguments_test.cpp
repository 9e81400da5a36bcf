// Arguments of a kernel: the first ones arrive in registers, and all have their values.

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::ValueId;

/// Stores the sum of all numbers.
ir::Function sum_of(const std::vector<Element> &elements) {
  KernelBuilder b(1);
  std::vector<ValueId> numbers;
  for (Element element : elements)
    numbers.push_back(b.scalar_argument(element));
  ValueId z = b.pointer(Element::I64), sum = b.integer(Element::I64, 0);
  for (ValueId number : numbers)
    sum = b.add(sum, b.cast(number, Element::I64));
  b.store(z, sum, {}, "");
  return b.done();
}

std::string preloaded(const ir::Function &function) {
  const std::string text = assembly(function), name = ".amdhsa_user_sgpr_kernarg_preload_length ";
  const size_t at = text.find(name) + name.size();
  return text.substr(at, text.find('\n', at) - at);
}

TEST(LowerArguments, ArePreloadedAsFarAsTheyFit) {
  const auto e = [](size_t count, Element element) { return std::vector<Element>(count, element); };
  EXPECT_EQ(preloaded(sum_of({})), "2");
  EXPECT_EQ(preloaded(sum_of(e(3, Element::I32))), "6") << "the pointer is aligned";
  EXPECT_EQ(preloaded(sum_of(e(6, Element::I64))), "14");
  EXPECT_EQ(preloaded(sum_of(e(7, Element::I64))), "14") << "without the pointer";
  EXPECT_EQ(preloaded(sum_of(e(13, Element::I32))), "13") << "no half of a pointer";
  EXPECT_EQ(preloaded(sum_of(e(20, Element::I32))), "14");
}

TEST(LowerArguments, HaveTheirValuesInRegistersAndInMemory) {
  const std::vector<Element> elements = {Element::I32, Element::I64, Element::I32, Element::I32,
                                         Element::I64, Element::I64, Element::I32, Element::I64,
                                         Element::I32, Element::I32};
  std::vector<Argument> arguments;
  for (size_t i = 0; i < elements.size(); ++i) {
    const int32_t value = 1 << (3 * i);
    arguments.push_back(elements[i] == Element::I32 ? i32(value) : i64(int64_t{value} << 33));
  }
  arguments.push_back(buffer(std::vector<int64_t>(1)));
  expect_same(sum_of(elements), {1, 1, 1}, arguments);
}

TEST(LowerArguments, OfEveryElementLieAtTheirSize) {
  const std::vector<Element> elements = {Element::I1,  Element::F16, Element::I1,  Element::BF16,
                                         Element::U32, Element::F16, Element::U64, Element::BF16,
                                         Element::I1,  Element::U64};
  using Given = InterpretArgument;
  const std::vector<Argument> arguments = {{Scalar{Given::i1(true), 1}},
                                           {Scalar{Given::f16(f16(-3.0F)), 2}},
                                           {Scalar{Given::i1(false), 1}},
                                           {Scalar{Given::bf16(bf16(1e6F)), 2}},
                                           {Scalar{Given::u32(0xfedcba98), 4}},
                                           {Scalar{Given::f16(f16(40.0F)), 2}},
                                           {Scalar{Given::u64(0x8000000000000001), 8}},
                                           {Scalar{Given::bf16(bf16(-7.0F)), 2}},
                                           {Scalar{Given::i1(true), 1}},
                                           {Scalar{Given::u64(0x700000000), 8}},
                                           buffer(std::vector<int64_t>(elements.size()))};
  KernelBuilder b(1);
  std::vector<ValueId> numbers;
  for (Element element : elements)
    numbers.push_back(b.scalar_argument(element));
  ValueId z = b.pointer(Element::I64);
  for (size_t i = 0; i < numbers.size(); ++i)
    b.store(b.ptr_add(z, b.number(static_cast<int64_t>(i))), b.cast(numbers[i], Element::I64), {}, "");
  const ir::Function function = b.done();
  expect_same(function, {1, 1, 1}, arguments);
  Result<Outcome> outcome = run_compiled(function, {1, 1, 1}, arguments);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->values<int64_t>(elements.size()),
            (std::vector<int64_t>{1, -3, 0, 999424, 0xfedcba98, 40, INT64_MIN + 1, -7, 1, 0x700000000}));
}

} // namespace
} // namespace nereid::codegen::testing
