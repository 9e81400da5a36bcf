// MXFP4 quantisation of bf16 with the language's quantize: 32 values share one power of two as their scale.
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

#include "kernels/host/quantize.h"
#include "kernels/host/random.h"

using namespace nereid;

struct QuantConfig {
  int block_m = 16;
  int block_k = 256;
  int waves = 1;
  NEREID_CONFIG(QuantConfig, block_m, block_k, waves)
};

void quant(const QuantConfig &c, Ptr<const bf16> x, Ptr<u8> codes, Ptr<u8> scales, Int m, Int k) {
  Tile<i32> row = program_id(1) * c.block_m + rows(c.block_m);
  auto columns = [&](int per_byte) {
    return program_id(0) * (c.block_k / per_byte) + cols(c.block_k / per_byte);
  };
  Tile<bf16> tile = load(x + (row * k + columns(1)), (row < m) & (columns(1) < k));
  Quantized q = quantize(tile, e2m1);
  store(codes + (row * (k / 2) + columns(2)), q.codes, (row < m) & (columns(2) < k / 2));
  store(scales + (row * (k / 32) + columns(32)), q.scales, (row < m) & (columns(32) < k / 32));
}

int main() {
  const int m = 20;
  const int k = 608;
  std::vector<uint16_t> input = kernels::host::normal_bf16(m * k, 1);
  std::vector<bf16> values;
  for (uint16_t bits : input)
    values.push_back(bf16::from_bits(bits));
  Device device = Device::best();
  Buffer<bf16> x = device.upload(values).value();
  Buffer<uint8_t> codes = device.allocate<uint8_t>(m * k / 2).value();
  Buffer<uint8_t> scales = device.allocate<uint8_t>(m * k / 32).value();

  QuantConfig config;
  Kernel kernel("quant", quant);
  Grid grid{cdiv(k, config.block_k), cdiv(m, config.block_m)};
  Result<LaunchInfo> launched = kernel(device.stream(), grid, config, x, codes, scales, m, k);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  const kernels::host::MxMatrix expected = kernels::host::quantize_even(input, m, k);
  const bool right = codes.to_host().value() == expected.codes && scales.to_host().value() == expected.scales;
  std::printf("quant: %d x %d on %s, %s\n", m, k, device.name().c_str(), right ? "bit-exact" : "WRONG");
  return right ? 0 : 1;
}
