// A product with few tiles and a long k: split_k programs share a tile of C, each sums a part of k. The
// program that arrives last adds the parts in their order, whichever it is: every run gives the same bits.
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct SplitKConfig {
  int block_m = 16;
  int block_n = 64;
  int block_k = 128;
  int split_k = 8;
  int waves = 1;
  int stages = 2;
  NEREID_CONFIG(SplitKConfig, block_m, block_n, block_k, split_k, waves, stages)
};

// a [m, k] times the transpose of b [n, k] as c [m, n], all row-major. parts f32 [split_k, m, n] is scratch
// memory; arrivals i32, one a tile, is 0 before the launch and after it.
void split_k_matmul(const SplitKConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f16> c,
                    Ptr<f32> parts, Ptr<i32> arrivals, Int m, Int n, Int k) {
  for (const Int &size : {m, n, k})
    assume((size > 0) & (size <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
  Int split = program_id(2);
  Int part_k = cdiv(cdiv(k, config.block_k), config.split_k) * config.block_k;
  Int last_k = min(k, (split + 1) * part_k);

  Tile<i32> row = program_id(1) * config.block_m + rows(config.block_m);
  Tile<i32> b_row = program_id(0) * config.block_n + rows(config.block_n);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  for (Int first_k : range(split * part_k, last_k, config.block_k)) {
    Tile<i32> depth = first_k + cols(config.block_k);
    Tile<f16> x = load(a + (row * k + depth), (row < m) & (depth < last_k));
    Tile<f16> y = load(b + (b_row * k + depth), (b_row < n) & (depth < last_k));
    sum += dot(x, trans(y));
  }

  Tile<i32> column = program_id(0) * config.block_n + cols(config.block_n);
  Tile<i32> place = row * n + column;
  Tile<i1> in_bounds = (row < m) & (column < n);
  Long part_size = Long(m) * n;
  store(parts + split * part_size + place, sum, in_bounds);
  // The atomic makes the part visible before the count, and the parts of the others after it.
  Ptr<i32> arrived = arrivals + (program_id(1) * num_programs(0) + program_id(0));
  Int before = atomic_add(arrived, 1);
  when(before == config.split_k - 1, [&] {
    Var total = zeros<f32>({config.block_m, config.block_n});
    for (Int i : range(0, config.split_k, 1, {.unroll = 16}))
      total += load(parts + i * part_size + place, in_bounds);
    store(c + place, total.to<f16>(), in_bounds);
    store(arrived, 0);
  });
}

Result<bool> run(const Device &device) {
  const int m = 8, n = 96, k = 4096;
  std::vector<f16> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i)
    a[i] = f16(std::sin(0.37F * static_cast<float>(i)));
  for (int i = 0; i < n * k; ++i)
    b[i] = f16(std::cos(0.11F * static_cast<float>(i)));
  const SplitKConfig config;
  const Grid grid{cdiv(n, config.block_n), cdiv(m, config.block_m), config.split_k};
  NEREID_TRY(const Buffer<f16> a_buffer, device.upload(a));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b));
  NEREID_TRY(const Buffer<f16> c_buffer, device.allocate<f16>(m * n));
  NEREID_TRY(const Buffer<float> parts, device.allocate<float>(config.split_k * m * n));
  NEREID_TRY(const Buffer<int32_t> arrivals, device.upload(std::vector<int32_t>(grid.x * grid.y)));

  Kernel kernel("split_k_matmul", split_k_matmul);
  std::vector<std::vector<f16>> results;
  for (int time = 0; time < 2; ++time) {
    NEREID_CHECK(
        kernel(device.stream(), grid, config, a_buffer, b_buffer, c_buffer, parts, arrivals, m, n, k));
    NEREID_TRY(std::vector<f16> result, c_buffer.to_host());
    results.push_back(std::move(result));
  }

  bool right = true;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double exact = 0;
      for (int i = 0; i < k; ++i)
        exact += double{float(a[row * k + i])} * float(b[column * k + i]);
      const f16 first = results[0][row * n + column], second = results[1][row * n + column];
      right &= std::fabs(float(first) - exact) <= 1e-3 * (1 + std::fabs(exact)) && first.bits == second.bits;
    }
  return right;
}

int main() {
  const Device device = Device::best();
  const Result<bool> right = run(device);
  if (!right) {
    std::fprintf(stderr, "%s\n", right.error().text().c_str());
    return 1;
  }
  std::printf("split_k: 8 x 96 x 4096 in 8 parts on %s, %s\n", device.name().c_str(),
              *right ? "right" : "WRONG");
  return *right ? 0 : 1;
}
