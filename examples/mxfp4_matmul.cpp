// C = A B of MXFP4 matrices: codes of 4 bits, of which 32 in a row share one power of two as their scale. The
// matrix instructions take codes and scales as they are.
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

#include "kernels/host/gemm.h"
#include "kernels/host/quantize.h"
#include "kernels/host/random.h"

using namespace nereid;

struct MatmulConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 256;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(MatmulConfig, block_m, block_n, block_k, waves, stages)
};

// The product of a [m, k] and the transpose of b [n, k] as out [m, n], all row-major. Codes of a matrix of k
// columns are [.., k / 2], the even k in the low half of a byte, its scales [.., k / 32].
void mxfp4_matmul(const MatmulConfig &c, Ptr<const u8> a_codes, Ptr<const u8> a_scales, Ptr<const u8> b_codes,
                  Ptr<const u8> b_scales, Ptr<f32> out_pointer, Int m, Int n, Int k) {
  MxView2D a(a_codes, a_scales, {m, k});
  MxView2D b(b_codes, b_scales, {n, k});
  View2D out(out_pointer, {m, n});
  Int row0 = program_id(1) * c.block_m;
  Int col0 = program_id(0) * c.block_n;
  Var acc = zeros<f32>({c.block_m, c.block_n});
  for (Int k0 : range(0, k, c.block_k)) {
    MxTile x = a.load({row0, k0}, {c.block_m, c.block_k});
    MxTile y = b.load({col0, k0}, {c.block_n, c.block_k});
    acc += dot_scaled(x, y.transposed());
  }
  out.store({row0, col0}, acc);
}

int main() {
  const int m = 100, n = 176, k = 800;
  const kernels::host::MxMatrix a = kernels::host::quantize_even(kernels::host::normal_bf16(m * k, 1), m, k);
  const kernels::host::MxMatrix b = kernels::host::quantize_even(kernels::host::normal_bf16(n * k, 2), n, k);
  Device device = Device::best();
  Buffer<uint8_t> a_codes = device.upload(a.codes).value();
  Buffer<uint8_t> a_scales = device.upload(a.scales).value();
  Buffer<uint8_t> b_codes = device.upload(b.codes).value();
  Buffer<uint8_t> b_scales = device.upload(b.scales).value();
  Buffer<float> c_buffer = device.allocate<float>(m * n).value();

  MatmulConfig config;
  Kernel<mxfp4_matmul> kernel;
  Grid grid{cdiv(n, config.block_n), cdiv(m, config.block_m)};
  Result<LaunchInfo> launched =
      kernel(device.stream(), grid, config, a_codes, a_scales, b_codes, b_scales, c_buffer, m, n, k);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  const std::vector<float> c = c_buffer.to_host().value();
  const std::vector<double> exact = kernels::host::gemm(a, b);
  int wrong = 0;
  for (int i = 0; i < m * n; ++i)
    wrong += std::fabs(c[i] - exact[i]) > 1e-3 + 1e-5 * std::fabs(exact[i]);
  std::printf("mxfp4_matmul: %d x %d x %d on %s, %d wrong\n", m, n, k, device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
