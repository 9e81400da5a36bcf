// After Triton's tutorial 3: C = A B in f16, summed in f32, with an activation on the way out. All matrices
// are row-major. Programs take the tiles of C in an order that finds A and B in the caches.
#include <array>

#include "host.h"

using namespace nereid;

enum class Activation { None, LeakyRelu };
constexpr auto nereid_config_names(Activation) {
  return std::to_array<std::string_view>({"none", "leaky_relu"});
}

struct MatmulConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 64;
  int group_m = 8;
  Activation activation = Activation::None;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(MatmulConfig, block_m, block_n, block_k, group_m, activation, waves, stages)
};

Tile<f32> leaky_relu(const Tile<f32> &x) { return where(x >= 0, x, 0.01F * x); }

// a [m, k], b [k, n], c [m, n].
void matmul(const MatmulConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f16> c, Int m, Int n, Int k) {
  for (const Int &size : {m, n, k})
    assume((size > 0) & (size <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
  // Down group_m tiles, then to the next column of tiles; the last group may be lower.
  Int tiles_m = cdiv(m, config.block_m);
  Int tiles_n = cdiv(n, config.block_n);
  Int group_tiles = config.group_m * tiles_n;
  Int first_m = program_id(0) / group_tiles * config.group_m;
  Int group_m = min(tiles_m - first_m, config.group_m);
  Int in_group = program_id(0) % group_tiles;

  Tile<i32> row = (first_m + in_group % group_m) * config.block_m + rows(config.block_m);
  Tile<i32> column = in_group / group_m * config.block_n + cols(config.block_n);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  for (Int first_k : range(0, k, config.block_k)) {
    Tile<i32> a_k = first_k + cols(config.block_k);
    Tile<i32> b_k = first_k + rows(config.block_k);
    Tile<f16> x = load(a + (row * k + a_k), (row < m) & (a_k < k));
    Tile<f16> y = load(b + (b_k * n + column), (b_k < k) & (column < n));
    sum += dot(x, y);
  }
  if (config.activation == Activation::LeakyRelu)
    sum = leaky_relu(sum);
  store(c + (row * n + column), sum.to<f16>(), (row < m) & (column < n));
}

Result<int> run(const Device &device, Activation activation) {
  const int m = 200, n = 272, k = 240;
  const std::vector<f16> a = ports::uniform<f16>(m * k, 1), b = ports::uniform<f16>(k * n, 2);
  NEREID_TRY(const Buffer<f16> a_buffer, device.upload(a));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b));
  NEREID_TRY(const Buffer<f16> c_buffer, device.allocate<f16>(m * n));

  const MatmulConfig config{.activation = activation};
  const Grid grid{cdiv(m, config.block_m) * cdiv(n, config.block_n)};
  Kernel kernel("matmul", matmul);
  NEREID_CHECK(kernel(device.stream(), grid, config, a_buffer, b_buffer, c_buffer, m, n, k));

  std::vector<double> exact;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i)
        sum += double{float(a[row * k + i])} * float(b[i * n + column]);
      exact.push_back(activation == Activation::LeakyRelu && sum < 0 ? 0.01 * sum : sum);
    }
  NEREID_TRY(const std::vector<f16> c, c_buffer.to_host());
  return ports::count_wrong(c, exact, 0x1p-11 + 1e-5); // a rounding to f16, and those of the sums
}

Result<int> run(const Device &device) {
  NEREID_TRY(const int plain, run(device, Activation::None));
  NEREID_TRY(const int activated, run(device, Activation::LeakyRelu));
  return plain + activated;
}

int main() {
  const Device device = Device::best();
  return ports::report("03_matrix_multiplication: 200 x 272 x 240", device, run(device));
}
