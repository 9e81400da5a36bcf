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
                  Ptr<const u8> b_scales, Ptr<f32> out, Int m, Int n, Int k) {
  // With bounds of the sizes, masks are the range check of the loads and no branches.
  assume((m > 0) & (m <= 1 << 20));
  assume((n > 0) & (n <= 1 << 20));
  assume((k > 0) & (k <= 1 << 20));
  // k is a multiple of 32, and so a row's bytes are one of 16.
  Int row_groups = k >> 5;
  Int row_bytes = row_groups << 4;
  Tile<i32> a_row = program_id(1) * c.block_m + rows(c.block_m);
  Tile<i32> b_row = program_id(0) * c.block_n + rows(c.block_n);
  Var sum = zeros<f32>({c.block_m, c.block_n});
  for (Int first_k : range(0, k, c.block_k)) {
    Tile<i32> byte = (first_k >> 1) + cols(c.block_k / 2);
    Tile<i32> group = (first_k >> 5) + cols(c.block_k / 32);
    Tile<u8> x = load(a_codes + (a_row * row_bytes + byte), (a_row < m) & (byte < row_bytes));
    Tile<u8> x_scale = load(a_scales + (a_row * row_groups + group), (a_row < m) & (group < row_groups));
    Tile<u8> y = load(b_codes + (b_row * row_bytes + byte), (b_row < n) & (byte < row_bytes));
    Tile<u8> y_scale = load(b_scales + (b_row * row_groups + group), (b_row < n) & (group < row_groups));
    sum += dot_scaled(x, x_scale, e2m1, trans(y), y_scale, e2m1);
  }
  Tile<i32> column = program_id(0) * c.block_n + cols(c.block_n);
  store(out + (a_row * n + column), sum, (a_row < m) & (column < n));
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
  Kernel kernel("mxfp4_matmul", mxfp4_matmul);
  Grid grid{static_cast<uint32_t>(cdiv(n, config.block_n)), static_cast<uint32_t>(cdiv(m, config.block_m))};
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
