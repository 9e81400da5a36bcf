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
  View2D in(x, {m, k});
  MxView2D out(codes, scales, {m, k});
  Int row0 = program_id(1) * c.block_m;
  Int k0 = program_id(0) * c.block_k;
  MxTile tile = quantize(in.load({row0, k0}, {c.block_m, c.block_k}), e2m1);
  out.store({row0, k0}, tile);
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
  Kernel<quant> kernel;
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
