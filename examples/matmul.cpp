// C = leaky_relu(A B) of f16 matrices of any size, summed up in f32. A program computes one tile of C.
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct MatmulConfig {
  int block_m = 128;
  int block_n = 128;
  int block_k = 64;
  int group_m = 4; // tiles down which programs go before the next column of tiles
  int waves = 4;
  int stages = 2;
  float slope = 0.25F; // of the leaky relu
  NEREID_CONFIG(MatmulConfig, block_m, block_n, block_k, group_m, waves, stages, slope)
};

// a is [m, k], b [n, k] (that is, transposed), out [m, n]; all are row-major.
void matmul(const MatmulConfig &c, Ptr<const f16> a, Ptr<const f16> b, Ptr<f16> out, Int m, Int n, Int k) {
  // Programs that run at a time share rows of A and B in the caches: they go down group_m tiles, then to the
  // next column.
  Int tiles_m = cdiv(m, c.block_m);
  Int tiles_n = cdiv(n, c.block_n);
  Int group_size = tiles_n * c.group_m;
  Int group_first = program_id(0) / group_size * c.group_m;
  Int group_m = min(tiles_m - group_first, c.group_m); // the last group may be lower
  Int in_group = program_id(0) % group_size;
  Int first_row = (group_first + in_group % group_m) * c.block_m;
  Int first_column = in_group / group_m * c.block_n;

  Tile<i32> a_row = first_row + rows(c.block_m);
  Tile<i32> b_row = first_column + rows(c.block_n);
  Var sum = zeros<f32>({c.block_m, c.block_n});
  for (Int first_k : range(0, k, c.block_k)) {
    Tile<i32> column = first_k + cols(c.block_k);
    Tile<f16> x = load(a + (a_row * k + column), (a_row < m) & (column < k));
    Tile<f16> y = load(b + (b_row * k + column), (b_row < n) & (column < k));
    sum += dot(x, trans(y));
  }

  Tile<f32> activated = where(sum > 0, sum, c.slope * sum);
  Tile<i32> column = first_column + cols(c.block_n);
  store(out + (a_row * n + column), activated.to<f16>(), (a_row < m) & (column < n));
}

int main() {
  const int m = 300, n = 272, k = 208;
  std::vector<f16> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i)
    a[i] = f16(std::sin(0.37F * static_cast<float>(i)));
  for (int i = 0; i < n * k; ++i)
    b[i] = f16(std::cos(0.11F * static_cast<float>(i)));
  Device device = Device::best();
  Buffer<f16> a_buffer = device.upload(a).value();
  Buffer<f16> b_buffer = device.upload(b).value();
  Buffer<f16> c_buffer = device.allocate<f16>(m * n).value();

  MatmulConfig config;
  Kernel kernel("matmul", matmul);
  Grid grid{static_cast<uint32_t>(cdiv(m, config.block_m) * cdiv(n, config.block_n))};
  Result<LaunchInfo> launched = kernel(device.stream(), grid, config, a_buffer, b_buffer, c_buffer, m, n, k);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  std::vector<f16> c = c_buffer.to_host().value();
  int wrong = 0;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double exact = 0;
      for (int i = 0; i < k; ++i)
        exact += double{float(a[row * k + i])} * float(b[column * k + i]);
      exact = exact > 0 ? exact : config.slope * exact;
      wrong += std::fabs(float(c[row * n + column]) - exact) > 1e-3 + 1e-3 * std::fabs(exact);
    }
  std::printf("matmul: %d x %d x %d on %s, %d wrong\n", m, n, k, device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
