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
void matmul(const MatmulConfig &c, Ptr<const f16> a_pointer, Ptr<const f16> b_pointer, Ptr<f16> out_pointer,
            Int m, Int n, Int k) {
  View2D a(a_pointer, {m, k});
  View2D b(b_pointer, {n, k});
  View2D out(out_pointer, {m, n});

  // Programs that run at a time share rows of A and B in the caches: they go down group_m tiles, then to the
  // next column.
  Int tiles_m = cdiv(m, c.block_m);
  Int tiles_n = cdiv(n, c.block_n);
  Int group_size = tiles_n * c.group_m;
  Int group_first = program_id(0) / group_size * c.group_m;
  Int group_m = min(tiles_m - group_first, c.group_m); // the last group may be lower
  Int in_group = program_id(0) % group_size;
  Int row0 = (group_first + in_group % group_m) * c.block_m;
  Int col0 = in_group / group_m * c.block_n;

  Var acc = zeros<f32>({c.block_m, c.block_n});
  for (Int k0 : range(0, k, c.block_k)) {
    Tile<f16> x = a.load({row0, k0}, {c.block_m, c.block_k});
    Tile<f16> y = b.load({col0, k0}, {c.block_n, c.block_k});
    acc += dot(x, trans(y));
  }
  Tile<f32> activated = where(acc > 0, acc, c.slope * acc);
  out.store({row0, col0}, activated.to<f16>());
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
  Kernel<matmul> kernel(
      [](const MatmulConfig &c, int m, int n, int) { return Grid{cdiv(m, c.block_m) * cdiv(n, c.block_n)}; });
  Result<LaunchInfo> launched = kernel(device.stream(), config, a_buffer, b_buffer, c_buffer, m, n, k);
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
