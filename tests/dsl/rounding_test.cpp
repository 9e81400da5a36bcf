#include <cmath>

#include "dsl/elements.h"
#include "tests/dsl/interpreter_support.h"
#include "tests/dsl/trace_support.h"
#include "tests/support/exact_numbers.h"

namespace nereid::test {
namespace {

using ir::Element;

/// Runs the operations on bit patterns of the inputs' elements.
std::vector<uint64_t> run_bits(const Elementwise &kernel, Element result,
                               const std::vector<std::vector<uint64_t>> &inputs) {
  std::vector<std::vector<uint8_t>> memory;
  for (size_t i = 0; i < inputs.size(); ++i)
    memory.push_back(packed(*ir::element_named(kernel.inputs[i]), inputs[i]));
  memory.push_back(std::vector<uint8_t>(inputs[0].size() * ir::byte_size(result)));
  std::vector<TestBuffer> buffers(memory.begin(), memory.end());
  const Status status = run_text(kernel.text(inputs[0].size()), buffers);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return unpacked(result, memory.back());
}

TEST(Casts, EveryPairConvertsEveryEdgeAsTheReferenceDoes) {
  for (Element from : all_elements)
    for (Element to : all_elements) {
      const std::string source(ir::facts(from).name), target(ir::facts(to).name);
      const std::vector<uint64_t> input = edge_bits(from);
      const std::vector<uint64_t> out =
          run_bits({{source}, target, "$r = cast $0 : " + target + "[n]"}, to, {input});
      unsigned wrong = 0;
      for (size_t i = 0; i < input.size() && wrong < 3; ++i) {
        const uint64_t wanted = converted(from, input[i], to);
        if (out[i] == wanted || (is_nan(to, out[i]) && is_nan(to, wanted)))
          continue;
        ++wrong;
        ADD_FAILURE() << std::hex << source << " " << input[i] << " to " << target << ": " << out[i]
                      << ", not " << wanted;
      }
    }
}

TEST(Fma, OfSmallFloatsRoundsOnce) {
  for (Element element : {Element::F16, Element::BF16}) {
    const std::string name(ir::facts(element).name);
    const std::vector<std::vector<uint64_t>> operands = fma_operands(element, 200000);
    const std::vector<uint64_t> out =
        run_bits({{name, name, name}, name, "$r = fma $0, $1, $2 : " + name + "[n]"}, element, operands);
    unsigned wrong = 0;
    for (size_t i = 0; i < out.size() && wrong < 5; ++i) {
      const Exact a = exact_of(element, operands[0][i]), b = exact_of(element, operands[1][i]),
                  c = exact_of(element, operands[2][i]);
      const uint64_t wanted = rounded(exact_fma(a, b, c), element);
      if (out[i] == wanted)
        continue;
      ++wrong;
      ADD_FAILURE() << std::hex << name << " fma(" << operands[0][i] << ", " << operands[1][i] << ", "
                    << operands[2][i] << ") is " << out[i] << ", not " << wanted;
    }
  }
}

TEST(Fma, OfSmallFloatsKeepsSpecialValues) {
  const float infinity = INFINITY;
  for (Element element : {Element::F16, Element::BF16}) {
    const std::string name(ir::facts(element).name);
    const auto one = [&](float a, float b, float c) {
      return interpreter::float_of(
          element, run_bits({{name, name, name}, name, "$r = fma $0, $1, $2 : " + name + "[n]"}, element,
                            {{interpreter::bits_of(element, a)},
                             {interpreter::bits_of(element, b)},
                             {interpreter::bits_of(element, c)}})[0]);
    };
    EXPECT_EQ(one(infinity, 2, 1), infinity);
    EXPECT_EQ(one(1, 2, -infinity), -infinity);
    EXPECT_TRUE(std::isnan(one(infinity, 1, -infinity)));
    EXPECT_TRUE(std::isnan(one(0, infinity, 1)));
    EXPECT_TRUE(std::isnan(one(1, NAN, 1)));
    EXPECT_FALSE(std::signbit(one(1, 1, -1)));
    EXPECT_TRUE(std::signbit(one(-0.0F, 1, -0.0F)));
  }
}

// Constants and the host's own types round once too: 1 + 2^-8 is a tie of bf16, above it by less than f32
// sees.
constexpr double above_a_tie = 1 + 0x1p-8 + 0x1p-40;
static_assert(bf16(above_a_tie).bits == 0x3f81 && bf16(1 + 0x1p-8).bits == 0x3f80);
static_assert(f16(1 + 0x1p-11 + 0x1p-40).bits == 0x3c01 && f16(1 + 0x1p-11).bits == 0x3c00);
static_assert(bf16((int64_t{1} << 40) + (int64_t{1} << 32) + 1).bits == bf16(0x1.02p40F).bits);
static_assert(bf16(1).bits == 0x3f80 && bf16(1e300).bits == 0x7f80 && f16(-65519.999).bits == 0xfbff);

TEST(Constants, RoundOnce) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              store(in.h, bf16(above_a_tie));
              store(in.h, above_a_tie);
              store(in.h, (int64_t{1} << 40) + (int64_t{1} << 32) + 1);
              store(in.p,
                    (int64_t{1} << 62) + (int64_t{1} << 38) + 1); // above a tie of f32, in a double no more
            }),
            R"(  %7 = constant {bits = 0x3f81} : bf16
  store %3, %7
  store %3, %7
  %8 = constant {bits = 0x5381} : bf16
  store %3, %8
  %9 = constant {bits = 0x5e800001} : f32
  store %0, %9
)");
}

} // namespace
} // namespace nereid::test
