// Kernels of a user from the parts of the library: epilogues, and two products in one loop.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "jit/kernel.h"
#include "kernels/epilogues.h"
#include "kernels/host/formats.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

enum class Activation : int { Identity, Silu, Gelu };
constexpr auto nereid_config_names(Activation) {
  return std::to_array<std::string_view>({"identity", "silu", "gelu"});
}

struct LayerConfig {
  TileConfig tile{.block_m = 32, .block_n = 64, .waves = 2};
  Activation activation = Activation::Identity;
  NEREID_CONFIG(LayerConfig, tile, activation)
};

Position2D tile_of(const TileConfig &config) {
  return {program_id(1) * config.block_m, program_id(0) * config.block_n};
}

/// activation(alpha A B + bias) as bf16.
void biased_layer(const LayerConfig &layer, Ptr<const bf16> a, Ptr<const u8> b, Ptr<const u8> b_scales,
                  Ptr<const bf16> bias, Ptr<bf16> out, Int m, Int n, Int k, Float alpha) {
  const TileConfig &tile = layer.tile;
  const Position2D at = tile_of(tile);
  const Tile<f32> sum =
      multiply(tile, rows_view(a, m, k, {}), weights_view(b, b_scales, n, k, {}), at, k_steps(tile, {}, k));
  const Tile<f32> x = alpha * sum + load_bias(bias, n, program_id(0) * tile.block_n, tile.block_n);
  const Tile<f32> y = layer.activation == Activation::Silu   ? silu(x)
                      : layer.activation == Activation::Gelu ? gelu(x)
                                                             : x;
  View2D(out, {m, n}).store(at, y.to<bf16>());
}

/// silu(A G) (A U) as MXFP4, for the next layer.
void gated_layer(const LayerConfig &layer, Ptr<const bf16> a, Ptr<const u8> gate, Ptr<const u8> gate_scales,
                 Ptr<const u8> up, Ptr<const u8> up_scales, Ptr<u8> codes, Ptr<u8> scales, Int m, Int n,
                 Int k) {
  const TileConfig &tile = layer.tile;
  const Position2D at = tile_of(tile);
  const View2D x = rows_view(a, m, k, {});
  const MxView2D g = weights_view(gate, gate_scales, n, k, {});
  const MxView2D u = weights_view(up, up_scales, n, k, {});
  Var gates = zeros<f32>({tile.block_m, tile.block_n});
  Var ups = zeros<f32>({tile.block_m, tile.block_n});
  for (Int k0 : range(0, k, tile.block_k)) {
    const MxTile rows = quantize(x.load({at.row, k0}, {tile.block_m, tile.block_k}), e2m1);
    gates += dot_scaled(rows, g.load({at.column, k0}, {tile.block_n, tile.block_k}).transposed());
    ups += dot_scaled(rows, u.load({at.column, k0}, {tile.block_n, tile.block_k}).transposed());
  }
  const Tile<f32> product = silu(gates) * ups;
  MxView2D(codes, scales, {m, n}, {.scales = MxOrder::Shuffled})
      .store(at, quantize(product.to<bf16>(), e2m1));
}

double silu_of(double x) { return x / (1 + std::exp(-x)); }
double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

uint32_t programs(int64_t size, int64_t block) { return static_cast<uint32_t>(blocks(size, block)); }

class Epilogues : public ::testing::TestWithParam<Backend> {
protected:
  static constexpr int64_t m = 37, n = 160, k = 288;
  const Device &device = test_device();
  LaunchOptions options = options_of(GetParam());
  Grid grid(const LayerConfig &config) const {
    return {programs(n, config.tile.block_n), programs(m, config.tile.block_m), 1};
  }
};

} // namespace

TEST_P(Epilogues, BiasAlphaAndActivation) {
  const host::Problem problem = host::random_problem(m, n, k, 1);
  const std::vector<uint16_t> bias = host::normal_bf16(n, 2, 4.0);
  const auto a = device.upload(problem.a).value();
  const auto b = device.upload(problem.b).value();
  const auto b_scales = device.upload(problem.b_scales).value();
  const auto bias_buffer = device.upload(bias).value();
  static const Kernel kernel("biased_layer", biased_layer);
  constexpr float alpha = 0.125F;
  const std::function<double(double)> functions[] = {[](double x) { return x; }, silu_of, gelu_of};
  for (Activation activation : {Activation::Identity, Activation::Silu, Activation::Gelu})
    for (int mfma : {16, 32}) {
      std::vector<double> exact(problem.exact.size());
      for (size_t i = 0; i < exact.size(); ++i)
        exact[i] = functions[static_cast<int>(activation)](
            alpha * problem.exact[i] + static_cast<double>(host::bf16_to_float(bias[i % n])));
      Buffer<uint16_t> c = device.allocate<uint16_t>(m * n).value();
      ASSERT_TRUE(c.fill(0xffff).ok());
      LayerConfig config{.activation = activation};
      config.tile.mfma = mfma;
      const Stream stream = device.stream();
      const Result<LaunchInfo> launched =
          kernel.launch(options, stream, grid(config), config, a, b, b_scales, bias_buffer, c,
                        static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k), alpha);
      ASSERT_TRUE(launched.ok()) << launched.error().text();
      ASSERT_TRUE(stream.synchronize().ok());
      EXPECT_EQ(host::compare(c.to_host().value(), exact).wrong, 0) << static_cast<int>(activation) << mfma;
    }
}

TEST_P(Epilogues, GatedProductAsTheNextOperand) {
  const host::Problem gate = host::random_problem(m, n, k, 3), up = host::random_problem(m, n, k, 3 + 1);
  // Both products are of the first problem's A.
  const host::MxMatrix quantised = host::quantize_even(gate.a, m, k);
  const host::MxMatrix up_b = [&] {
    host::MxMatrix matrix(n, k);
    matrix.codes = host::unshuffle_b(up.b, n, k).value();
    matrix.scales = host::unshuffle_scales(up.b_scales, n, k).value();
    return matrix;
  }();
  const std::vector<double> ups = host::gemm(quantised, up_b);
  std::vector<double> exact(ups.size());
  for (size_t i = 0; i < exact.size(); ++i)
    exact[i] = silu_of(gate.exact[i]) * ups[i];

  const auto a = device.upload(gate.a).value();
  const auto gate_b = device.upload(gate.b).value(), gate_scales = device.upload(gate.b_scales).value();
  const auto up_codes = device.upload(up.b).value(), up_scales = device.upload(up.b_scales).value();
  Buffer<uint8_t> codes = device.allocate<uint8_t>(m * n / 2).value();
  Buffer<uint8_t> scales = device.allocate<uint8_t>(host::shuffled_scale_bytes(m, n)).value();
  ASSERT_TRUE(codes.fill(0xa5).ok());
  ASSERT_TRUE(scales.fill(127).ok());
  static const Kernel kernel("gated_layer", gated_layer);
  const LayerConfig config;
  const Stream stream = device.stream();
  const Result<LaunchInfo> launched =
      kernel.launch(options, stream, grid(config), config, a, gate_b, gate_scales, up_codes, up_scales, codes,
                    scales, static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k));
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());

  // A group's largest value is within an eighth of its scale's reach; each value within half a step of its
  // code.
  host::MxMatrix quantised_c(m, n);
  quantised_c.codes = codes.to_host().value();
  quantised_c.scales = host::unshuffle_scales(scales.to_host().value(), m, n).value();
  int64_t wrong = 0;
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      const double unit = std::ldexp(1.0, quantised_c.scales[row * (n / 32) + column / 32] - 127);
      const double value = host::e2m1_to_float(quantised_c.code(row, column)) * unit;
      const double wanted = exact[row * n + column];
      wrong += std::fabs(value - wanted) > unit + 0.02 * std::fabs(wanted) || std::fabs(wanted) > 7.2 * unit;
    }
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Epilogues, ::testing::ValuesIn(backends),
                         [](const auto &info) { return nereid::kernels::test::name_of(info.param); });
