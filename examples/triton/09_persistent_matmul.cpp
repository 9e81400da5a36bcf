// After Triton's tutorial 9: a matmul with at most one program a compute unit. Each takes tile after tile, so
// that a launch of many tiles has no tail of programs that come and go, and the grouped order holds over all
// of them.
#include <algorithm>

#include "host.h"

using namespace nereid;

struct MatmulConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 64;
  int group_m = 8;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(MatmulConfig, block_m, block_n, block_k, group_m, waves, stages)
};

struct TileIndex {
  Int row, column;
};

/// Tile `number` in the grouped order: down group_m tiles, then to the next column of tiles.
TileIndex grouped(const Int &number, const Int &tiles_m, const Int &tiles_n, int group_m) {
  Int group_tiles = group_m * tiles_n;
  Int first_row = number / group_tiles * group_m;
  Int height = min(tiles_m - first_row, group_m);
  Int in_group = number % group_tiles;
  return {first_row + in_group % height, in_group / height};
}

// a [m, k] times the transpose of b [n, k], all row-major.
void persistent_matmul(const MatmulConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f16> c, Int m,
                       Int n, Int k) {
  for (const Int &size : {m, n, k})
    assume((size > 0) & (size <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
  Int tiles_m = cdiv(m, config.block_m);
  Int tiles_n = cdiv(n, config.block_n);
  for (Int number : range(program_id(0), tiles_m * tiles_n, num_programs(0))) {
    TileIndex tile = grouped(number, tiles_m, tiles_n, config.group_m);
    Tile<i32> a_row = tile.row * config.block_m + rows(config.block_m);
    Tile<i32> b_row = tile.column * config.block_n + rows(config.block_n);
    Var sum = zeros<f32>({config.block_m, config.block_n});
    for (Int first_k : range(0, k, config.block_k)) {
      Tile<i32> depth = first_k + cols(config.block_k);
      Tile<f16> x = load(a + (a_row * k + depth), (a_row < m) & (depth < k));
      Tile<f16> y = load(b + (b_row * k + depth), (b_row < n) & (depth < k));
      sum += dot(x, trans(y));
    }
    Tile<i32> column = tile.column * config.block_n + cols(config.block_n);
    store(c + (a_row * n + column), sum.to<f16>(), (a_row < m) & (column < n));
  }
}

Result<int> run(const Device &device) {
  const int m = 1000, n = 1104, k = 80; // 288 tiles, more than the compute units
  const std::vector<f16> a = ports::uniform<f16>(m * k, 1), b = ports::uniform<f16>(n * k, 2);
  NEREID_TRY(const Buffer<f16> a_buffer, device.upload(a));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b));
  NEREID_TRY(const Buffer<f16> c_buffer, device.allocate<f16>(m * n));

  const MatmulConfig config;
  const int tiles = cdiv(m, config.block_m) * cdiv(n, config.block_n);
  const int programs = std::min(tiles, static_cast<int>(device.properties().compute_units));
  Kernel kernel("persistent_matmul", persistent_matmul);
  NEREID_CHECK(kernel(device.stream(), {programs}, config, a_buffer, b_buffer, c_buffer, m, n, k));

  std::vector<double> exact;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i)
        sum += double{float(a[row * k + i])} * float(b[column * k + i]);
      exact.push_back(sum);
    }
  NEREID_TRY(const std::vector<f16> c, c_buffer.to_host());
  return ports::count_wrong(c, exact, 0x1p-11 + 1e-5); // a rounding to f16, and those of the sums
}

int main() {
  const Device device = Device::best();
  return ports::report("09_persistent_matmul: 1000 x 1104 x 80", device, run(device));
}
