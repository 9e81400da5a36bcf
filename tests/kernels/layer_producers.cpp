// The kernels that end in a quantisation, against the reference of a decoder layer's parts.
#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/layer.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_act_quant.h"
#include "kernels/mxfp4_rmsnorm_quant.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

constexpr Backend all_backends[] = {Backend::Interpreted, Backend::Checked};

host::Rule host_rule(QuantRule rule) { return rule == QuantRule::Even ? host::Rule::Even : host::Rule::Ceil; }

std::vector<float> floats(const std::vector<uint16_t> &values) {
  std::vector<float> result;
  for (uint16_t bits : values)
    result.push_back(host::bf16_to_float(bits));
  return result;
}

/// Input in bf16 or as slices, and its values.
struct Input {
  Buffer<uint16_t> bf16;
  Buffer<float> slices;
  std::vector<float> values;
  DeviceMemory memory;

  Input(const Device &device, InputSource source, int split_k, int64_t count, uint64_t seed,
        double deviation = 2) {
    const auto random = host::normal_bf16(count * split_k, seed, deviation);
    if (source == InputSource::Bf16) {
      bf16 = device.upload(random).value();
      values = floats(random);
      memory = bf16;
    } else {
      slices = device.upload(floats(random)).value();
      values = host::sum_of_slices(floats(random), count);
      memory = slices;
    }
  }
};

/// Poisoned codes and scales, and what was written to them in plain order.
struct Output {
  int64_t m, k;
  bool shuffled;
  Buffer<uint8_t> codes, scales;

  Output(const Device &device, int64_t rows, int64_t columns, bool in_shuffled_order)
      : m(rows), k(columns), shuffled(in_shuffled_order), codes(device.allocate<uint8_t>(m * k / 2).value()),
        scales(device.allocate<uint8_t>(shuffled ? host::shuffled_scale_bytes(m, k) : m * (k / 32)).value()) {
    EXPECT_TRUE(codes.fill(0xa5).ok());
    EXPECT_TRUE(scales.fill(shuffled ? 127 : 0xa5).ok());
  }
  host::MxMatrix plain() const {
    host::MxMatrix result(m, k);
    result.codes = codes.to_host().value();
    const std::vector<uint8_t> stored = scales.to_host().value();
    result.scales = shuffled ? host::unshuffle_scales(stored, m, k).value() : stored;
    if (shuffled) { // padding stays padding
      EXPECT_EQ(host::shuffle_scales(result.scales, m, k, 127).value(), stored);
    }
    return result;
  }
};

void expect_normed(Backend backend, int64_t m, int64_t k, const Partial<RmsNormQuantConfig> &given,
                   double deviation = 2) {
  SCOPED_TRACE(name_of(backend) + " " + std::to_string(m) + "x" + std::to_string(k) + " " +
               config_text(given));
  const Device &device = device_of(backend);
  const ProblemSize size{m, 0, k};
  const Result<RmsNormQuantConfig> complete = rmsnorm_quant_kernel.complete(given, size);
  ASSERT_TRUE(complete.ok()) << complete.error().text();
  const RmsNormQuantConfig &config = *complete;
  const Input x(device, config.source, config.split_k, m * k, 1, deviation);
  const auto residual = host::normal_bf16(m * k, 2), weight = host::normal_bf16(k, 3);
  const auto device_residual = device.upload(residual).value(), device_weight = device.upload(weight).value();
  auto sum = device.allocate<uint16_t>(m * k).value();
  const Output output(device, m, k, config.shuffled);
  const Stream stream = device.stream();
  const auto launched = rmsnorm_quant_kernel.launch(
      {stream, options_of(backend)}, config, size,
      {x.memory, device_residual, device_weight, output.codes, output.scales, sum, 1e-5F});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());

  const host::Normed expected =
      host::add_rmsnorm(x.values, config.residual ? residual : std::vector<uint16_t>(), weight, k, 1e-5F);
  // The sum of K squares, a division, a root and two products, each within half a unit or one.
  EXPECT_EQ(host::wrong_codes(output.plain(), expected.y, host_rule(config.rule), 2e-6), 0);
  if (config.residual) {
    EXPECT_EQ(sum.to_host().value(), expected.sum);
  }
}

void expect_activated(Backend backend, int64_t m, int64_t k, const Partial<ActQuantConfig> &given) {
  SCOPED_TRACE(name_of(backend) + " " + std::to_string(m) + "x" + std::to_string(k) + " " +
               config_text(given));
  const Device &device = device_of(backend);
  const ProblemSize size{m, 0, k};
  const Result<ActQuantConfig> complete = act_quant_kernel.complete(given, size);
  ASSERT_TRUE(complete.ok()) << complete.error().text();
  const ActQuantConfig &config = *complete;
  const Input x(device, config.source, config.split_k, m * k * 2, 1);
  const Output output(device, m, k, config.shuffled);
  const Stream stream = device.stream();
  const auto launched = act_quant_kernel.launch({stream, options_of(backend)}, config, size,
                                                {x.memory, config.gates, output.codes, output.scales});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());

  std::vector<float> expected(m * k);
  const int64_t run = config.gates == GateLayout::Separated     ? k
                      : config.gates == GateLayout::Interleaved ? 16
                                                                : 1;
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < k; ++column) {
      const float *gate = &x.values[row * k * 2 + column / run * run * 2 + column % run];
      expected[row * k + column] =
          static_cast<float>(host::activate(static_cast<host::Gate>(config.activation), gate[0], gate[run]));
    }
  // gelu cancels where the gate is far below zero: 1 + erf is right to a unit of 1, times gate and up.
  EXPECT_EQ(host::wrong_codes(output.plain(), expected, host_rule(config.rule), 2e-6,
                              config.activation == Activation::Gelu ? 1e-5 : 0),
            0);
}

} // namespace

TEST(RmsNormQuant, IsExactForItsY) {
  int which = 0;
  for (Backend backend : all_backends)
    for (const auto &[m, k] :
         {std::pair<int64_t, int64_t>{1, 32}, {3, 192}, {2, 1664}, {33, 192}, {2, 2880}, {1, 7168}})
      for (bool slices : {false, true}) {
        const int number = which++;
        expect_normed(backend, m, k,
                      {.block_m = k <= 192 ? 4 : 1,
                       .source = slices ? InputSource::Slices : InputSource::Bf16,
                       .split_k = slices ? 3 : 1,
                       .residual = number % 5 != 0,
                       .rule = number % 3 == 0 ? QuantRule::Ceil : QuantRule::Even,
                       .shuffled = number % 4 < 2});
      }
}

TEST(RmsNormQuant, IsExactForEveryTile) {
  for (Backend backend : all_backends) {
    expect_normed(backend, 70, 512, {.block_m = 32, .width = 512, .waves = 8, .shuffled = true});
    expect_normed(backend, 5, 2880, {.block_m = 2, .width = 3072, .waves = 1});
    expect_normed(backend, 300, 64, {.block_m = 16, .width = 64, .waves = 1, .rule = QuantRule::Ceil});
  }
}

/// Of rows of 192 the squares of 1e17 add up within f32, the others beyond it.
TEST(RmsNormQuant, RowsWhoseSquaresOverflowAreZero) {
  for (Backend backend : all_backends)
    for (double deviation : {1e17, 1e20, 1e37}) {
      expect_normed(backend, 3, 192, {.block_m = 4}, deviation);
      expect_normed(backend, 2, 192, {.source = InputSource::Slices, .split_k = 3, .residual = false},
                    deviation);
    }
}

TEST(RmsNormQuant, RefusesWhatItCannotHold) {
  const ProblemSize size{4, 0, 2880};
  EXPECT_EQ(rmsnorm_quant_kernel.complete({.width = 2048}, size).error().message,
            "mxfp4_rmsnorm_quant: width=2048 does not hold a row of K=2880");
  EXPECT_EQ(rmsnorm_quant_kernel.complete({}, ProblemSize{4, 0, 16416}).error().message,
            "mxfp4_rmsnorm_quant: K=16416 is too long for a program, which holds 16384 columns");
  EXPECT_EQ(rmsnorm_quant_kernel.complete({.split_k = 2}, size).error().message,
            "mxfp4_rmsnorm_quant: split_k=2 with source=bf16");
}

TEST(ActQuant, IsExactForItsY) {
  int which = 0;
  for (Backend backend : all_backends)
    for (const auto &[m, k] :
         {std::pair<int64_t, int64_t>{1, 32}, {3, 192}, {33, 192}, {2, 1664}, {130, 64}, {1, 7168}})
      for (GateLayout gates : {GateLayout::Separated, GateLayout::Interleaved, GateLayout::Pairs}) {
        const int number = which++;
        const bool slices = number % 4 == 1;
        expect_activated(backend, m, k,
                         {.activation = static_cast<Activation>((number + number / 3) % 3),
                          .gates = gates,
                          .source = slices ? InputSource::Slices : InputSource::Bf16,
                          .split_k = slices ? 2 : 1,
                          .rule = number % 5 == 0 ? QuantRule::Ceil : QuantRule::Even,
                          .shuffled = number % 4 < 2});
      }
}

TEST(ActQuant, EveryActivationOfEveryLayout) {
  for (Backend backend : all_backends)
    for (Activation activation : {Activation::Silu, Activation::Gelu, Activation::Swiglu})
      for (GateLayout gates : {GateLayout::Separated, GateLayout::Interleaved, GateLayout::Pairs})
        expect_activated(backend, 17, 160, {.activation = activation, .gates = gates});
}

TEST(ActQuant, RefusesAnotherLayoutOfGates) {
  const Device &device = test_device();
  const auto x = device.allocate<uint16_t>(4 * 64 * 2).value();
  const Output output(device, 4, 64, false);
  const ProblemSize size{4, 0, 64};
  const ActQuantConfig config = act_quant_kernel.complete({}, size).value();
  const auto launched = act_quant_kernel.launch({device.stream()}, config, size,
                                                {x, GateLayout::Pairs, output.codes, output.scales});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().message,
            "mxfp4_act_quant: gates and ups of the operand are pairs, its config has gates=separated");
  EXPECT_EQ(launched.error().owner, Owner::User);
}
