// A mixture of experts in MXFP4: routing, sorting by expert, and both products, against a host reference.
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

#include "kernels/host/formats.h"
#include "kernels/host/moe.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_moe.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

/// The weights of a layer in plain order for the reference, and shuffled for the kernels.
struct Weights {
  host::Experts plain;
  std::vector<uint8_t> up, up_scales, down, down_scales;

  explicit Weights(const MoeLayer &layer) {
    plain = {.width = layer.width, .inner = layer.inner, .gate = host::Gate::Silu, .rule = host::Rule::Even};
    for (int expert = 0; expert < layer.experts; ++expert) {
      add(plain.up, up, up_scales, host::normal_mx(2 * layer.inner, layer.width, 2 * expert + 10));
      add(plain.down, down, down_scales, host::normal_mx(layer.width, layer.inner, 2 * expert + 11));
    }
  }

private:
  static void add(std::vector<host::MxMatrix> &all, std::vector<uint8_t> &codes, std::vector<uint8_t> &scales,
                  const host::MxMatrix &matrix) {
    const auto more = host::shuffle_b(matrix.codes, matrix.rows, matrix.k).value();
    const auto more_scales = host::shuffle_scales(matrix.scales, matrix.rows, matrix.k).value();
    codes.insert(codes.end(), more.begin(), more.end());
    scales.insert(scales.end(), more_scales.begin(), more_scales.end());
    all.push_back(matrix);
  }
};

Result<int> run() {
  const MoeLayer layer{.width = 320, .inner = 192, .experts = 8, .top_k = 2};
  const int64_t m = 20;
  const Weights weights(layer);
  const std::vector<uint16_t> x = host::normal_bf16(m * layer.width, 1);
  std::vector<float> logits;
  for (uint16_t bits : host::normal_bf16(m * layer.experts, 2))
    logits.push_back(host::bf16_to_float(bits));

  const Device device = Device::best();
  NEREID_TRY(const auto up, device.upload(weights.up));
  NEREID_TRY(const auto up_scales, device.upload(weights.up_scales));
  NEREID_TRY(const auto down, device.upload(weights.down));
  NEREID_TRY(const auto down_scales, device.upload(weights.down_scales));
  NEREID_TRY(const auto device_x, device.upload(x));
  NEREID_TRY(const auto device_logits, device.upload(logits));
  NEREID_TRY(auto out, device.allocate<uint16_t>(m * layer.width));

  NEREID_TRY(const Mxfp4Moe moe, Mxfp4Moe::create(device, layer, m));
  const Stream stream = device.stream();
  NEREID_CHECK(
      moe(stream, {up, up_scales, {}, down, down_scales, {}, {}}, {device_x, device_logits, out}, m));
  NEREID_CHECK(stream.synchronize());
  NEREID_TRY(const std::vector<uint16_t> y, out.to_host());

  const host::Routed routed = host::route({.experts = layer.experts, .top_k = layer.top_k}, logits, {});
  const std::vector<double> expected = host::mixture(weights.plain, x, routed, m);
  double square = 0, worst = 0;
  for (double value : expected)
    square += value * value;
  const double size = std::sqrt(square / static_cast<double>(expected.size()));
  for (size_t i = 0; i < y.size(); ++i)
    worst = std::fmax(worst,
                      std::fabs(host::bf16_to_float(y[i]) - expected[i]) / (std::fabs(expected[i]) + size));
  std::printf("moe_layer: %d rows, top %d of %d experts on %s, %s\n", static_cast<int>(m), layer.top_k,
              layer.experts, std::string(device.name()).c_str(), worst <= 5e-2 ? "right" : "wrong");
  return worst <= 5e-2 ? 0 : 1;
}

} // namespace

int main() {
  const Result<int> result = run();
  if (result.ok())
    return *result;
  std::fprintf(stderr, "%s\n", result.error().text().c_str());
  return 1;
}
