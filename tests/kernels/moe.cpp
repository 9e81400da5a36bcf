// Mixtures of experts against the reference with the same points of quantisation.
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/moe.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_moe.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

constexpr Backend all_backends[] = {Backend::Interpreted, Backend::Checked};

template <class T> void append(std::vector<T> &all, const std::vector<T> &more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Row of the stored order that holds row `row` of all gates and then all ups.
int64_t stored_row(GateLayout layout, int64_t inner, int64_t row) {
  if (layout == GateLayout::Separated)
    return row;
  const int64_t i = row % inner, is_up = row / inner;
  return i / 16 * 32 + is_up * 16 + i % 16;
}

/// Rows of n entries in stored order.
template <class T>
std::vector<T> in_stored_order(const std::vector<T> &rows, GateLayout layout, int64_t inner, int64_t n) {
  std::vector<T> result(rows.size());
  for (int64_t row = 0; row < 2 * inner; ++row)
    std::copy_n(rows.begin() + row * n, n, result.begin() + stored_row(layout, inner, row) * n);
  return result;
}

struct Weights {
  host::Experts experts;
  Buffer<uint8_t> up, up_scales, down, down_scales;
  Buffer<uint16_t> up_bias, down_bias;

  Weights(const Device &device, const MoeLayer &layer) {
    experts = {.width = layer.width,
               .inner = layer.inner,
               .gate = static_cast<host::Gate>(layer.activation),
               .rule = layer.rule == QuantRule::Even ? host::Rule::Even : host::Rule::Ceil};
    std::vector<uint8_t> codes[2], scales[2];
    std::vector<uint16_t> stored_bias;
    const int64_t inner = layer.inner, width = layer.width;
    for (int expert = 0; expert < layer.experts; ++expert) {
      const host::MxMatrix up_matrix = host::normal_mx(2 * inner, width, 10 + expert);
      const host::MxMatrix down_matrix = host::normal_mx(width, inner, 1000 + expert);
      append(codes[0], host::shuffle_b(in_stored_order(up_matrix.codes, layer.gates, inner, width / 2),
                                       2 * inner, width)
                           .value());
      append(scales[0],
             host::shuffle_scales(in_stored_order(up_matrix.scales, layer.gates, inner, width / 32),
                                  2 * inner, width, 255)
                 .value());
      append(codes[1], host::shuffle_b(down_matrix.codes, width, inner).value());
      append(scales[1], host::shuffle_scales(down_matrix.scales, width, inner, 255).value());
      experts.up.push_back(up_matrix);
      experts.down.push_back(down_matrix);
      if (layer.bias) {
        const auto bias = host::normal_bf16(2 * inner, 2000 + expert);
        append(experts.up_bias, bias);
        append(stored_bias, in_stored_order(bias, layer.gates, inner, 1));
        append(experts.down_bias, host::normal_bf16(width, 3000 + expert));
      }
    }
    up = device.upload(codes[0]).value();
    up_scales = device.upload(scales[0]).value();
    down = device.upload(codes[1]).value();
    down_scales = device.upload(scales[1]).value();
    if (layer.bias) {
      up_bias = device.upload(stored_bias).value();
      down_bias = device.upload(experts.down_bias).value();
    }
  }
  MoeWeights memory() const { return {up, up_scales, up_bias, down, down_scales, down_bias, {}}; }
};

/// A value of the activation that lies on a boundary of codes may fall to either side: half a step of its
/// group's scale times a weight. Such values are rare, so that the sum over `inner` stays within this of its
/// size.
constexpr double tolerance = 5e-2;

void expect_near(const std::vector<uint16_t> &found, const std::vector<double> &expected) {
  double square = 0;
  for (double value : expected)
    square += value * value;
  const double size = std::sqrt(square / static_cast<double>(expected.size()));
  int64_t wrong = 0;
  for (size_t i = 0; i < found.size(); ++i)
    wrong += !(std::fabs(host::bf16_to_float(found[i]) - expected[i]) <=
               tolerance * (std::fabs(expected[i]) + size));
  EXPECT_EQ(wrong, 0) << "of " << found.size();
}

void expect_mixture(Backend backend, const MoeLayer &layer, int64_t m, bool skip_some = false) {
  SCOPED_TRACE(name_of(backend) + " " + std::to_string(m) + " rows, " + std::to_string(layer.width) + " x " +
               std::to_string(layer.inner));
  const Device &device = device_of(backend);
  const Weights weights(device, layer);
  const auto x = host::normal_bf16(m * layer.width, 1);
  const auto random = host::normal_bf16(m * layer.experts, 2);
  std::vector<float> logits;
  for (uint16_t bits : random)
    logits.push_back(host::bf16_to_float(bits));
  host::Routed routed = host::route({.scores = static_cast<host::Scores>(layer.scoring),
                                     .experts = layer.experts,
                                     .top_k = layer.top_k,
                                     .scale = layer.scale},
                                    logits, {});
  if (skip_some)
    for (size_t i = 0; i < routed.ids.size(); i += 3)
      routed.ids[i] = -1;
  const auto device_x = device.upload(x).value();
  const auto device_logits = device.upload(logits).value();
  auto out = device.allocate<uint16_t>(m * layer.width).value();
  ASSERT_TRUE(out.fill(0xffff).ok());
  const Result<Mxfp4Moe> moe = Mxfp4Moe::create(device, layer, m, options_of(backend));
  ASSERT_TRUE(moe.ok()) << moe.error().text();
  const Stream stream = device.stream();
  if (skip_some) {
    const auto ids = device.upload(routed.ids).value();
    const auto id_weights = device.upload(routed.weights).value();
    const auto status =
        moe->run(stream, weights.memory(), {device_x, device_logits, out}, ids, id_weights, m);
    ASSERT_TRUE(status.ok()) << status.error().text();
    ASSERT_TRUE(stream.synchronize().ok());
  } else {
    const auto status = (*moe)(stream, weights.memory(), {device_x, device_logits, out}, m);
    ASSERT_TRUE(status.ok()) << status.error().text();
    ASSERT_TRUE(stream.synchronize().ok());
  }
  expect_near(out.to_host().value(), host::mixture(weights.experts, x, routed, m));
}

} // namespace

TEST(Moe, IsRightForEveryActivationAndLayout) {
  for (Backend backend : all_backends) {
    expect_mixture(backend, {.width = 192, .inner = 96, .experts = 5, .top_k = 2}, 9);
    expect_mixture(backend,
                   {.width = 320,
                    .inner = 192,
                    .experts = 4,
                    .top_k = 3,
                    .activation = Activation::Swiglu,
                    .gates = GateLayout::Interleaved,
                    .bias = true,
                    .rule = QuantRule::Ceil},
                   5);
    expect_mixture(backend,
                   {.width = 96,
                    .inner = 352,
                    .experts = 3,
                    .top_k = 1,
                    .activation = Activation::Gelu,
                    .scatter = Scatter::Add,
                    .scoring = Scoring::Softmax,
                    .scale = 2.5F},
                   1);
  }
}

TEST(Moe, LeavesOutSkippedExperts) {
  for (Backend backend : all_backends)
    for (Scatter scatter : {Scatter::Store, Scatter::Add})
      expect_mixture(
          backend, {.width = 160, .inner = 64, .experts = 6, .top_k = 3, .bias = true, .scatter = scatter}, 7,
          /*skip_some=*/true);
}

TEST(Moe, IsRightForManyRows) {
  expect_mixture(Backend::Compiled, {.width = 256, .inner = 128, .experts = 3, .top_k = 2}, 300);
  expect_mixture(Backend::Compiled,
                 {.width = 256, .inner = 128, .experts = 8, .top_k = 2, .scatter = Scatter::Add}, 130);
}

TEST(Moe, RefusesLayersAndRowsThatItCannotTake) {
  const Device &device = test_device();
  const auto message = [&](const MoeLayer &layer) {
    const Result<Mxfp4Moe> moe = Mxfp4Moe::create(device, layer, 4);
    return moe.ok() ? std::string("taken") : moe.error().message;
  };
  EXPECT_EQ(message({.width = 48, .inner = 64}),
            "Mxfp4Moe: width 48 and inner 64 are not positive multiples of 32");
  EXPECT_EQ(message({.width = 64, .inner = 64, .experts = 2, .top_k = 3}), "Mxfp4Moe: top 3 of 2 experts");
  const Mxfp4Moe moe = Mxfp4Moe::create(device, {.width = 64, .inner = 64, .experts = 2}, 4).value();
  for (int64_t m : {0, 5})
    EXPECT_EQ(moe(device.stream(), {}, {}, m).error().message,
              "Mxfp4Moe: " + std::to_string(m) + " rows, its workspace is for 1 to 4");
}

TEST(MoeUp, RefusesAnotherLayoutOfGatesOrBlocks) {
  const ProblemSize size{4, 64, 64};
  const Device &device = test_device();
  MoeUpOperands operands;
  operands.gates = GateLayout::Interleaved;
  const MoeUpConfig config = moe_up_kernel.complete({}, size).value();
  EXPECT_EQ(moe_up_kernel.launch({device.stream()}, config, size, operands).error().message,
            "moe_up: gates and ups of the operand are interleaved, its config has gates=separated");
  operands.rows.block_m = 32;
  EXPECT_EQ(moe_up_kernel.launch({device.stream()}, config, size, operands).error().message,
            "moe_up: the rows are sorted in blocks of 32, its config has block_m=16");
  EXPECT_EQ(moe_up_kernel.complete({.gates = GateLayout::Pairs}, size).error().message,
            "moe_up: gates=pairs");
}
