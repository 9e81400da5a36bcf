// After Triton's tutorial 8: many products of different sizes in one launch. A fixed number of programs takes
// the tiles of all products in turn, and so no product waits for another to end.
#include "host.h"

using namespace nereid;

struct GroupedConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 64;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(GroupedConfig, block_m, block_n, block_k, waves, stages)
};

// Product g has the sizes[g] = {m, n, k}; its row-major A [m, k], B [k, n] and C [m, n] begin at the elements
// starts[g] = {a, b, c} of a, b and c.
void grouped_gemm(const GroupedConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f16> c,
                  Ptr<const i32> sizes, Ptr<const i64> starts, Int products) {
  Var next = program_id(0); // the tile that this program takes next, of those of all products
  Var tiles_before = 0;     // of the products before this one
  for (Int g : range(0, products)) {
    Int m = load(sizes + 3 * g), n = load(sizes + 3 * g + 1), k = load(sizes + 3 * g + 2);
    for (const Int &size : {m, n, k})
      assume((size > 0) & (size <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
    Ptr<const f16> a_start = a + load(starts + 3 * g);
    Ptr<const f16> b_start = b + load(starts + 3 * g + 1);
    Ptr<f16> c_start = c + load(starts + 3 * g + 2);
    Int tiles_n = cdiv(n, config.block_n);
    Int tiles = cdiv(m, config.block_m) * tiles_n;
    for (Int tile : range(next - tiles_before, tiles, num_programs(0))) {
      Tile<i32> row = tile / tiles_n * config.block_m + rows(config.block_m);
      Tile<i32> column = tile % tiles_n * config.block_n + cols(config.block_n);
      Var sum = zeros<f32>({config.block_m, config.block_n});
      for (Int first_k : range(0, k, config.block_k)) {
        Tile<i32> a_k = first_k + cols(config.block_k);
        Tile<i32> b_k = first_k + rows(config.block_k);
        Tile<f16> x = load(a_start + (row * k + a_k), (row < m) & (a_k < k));
        Tile<f16> y = load(b_start + (b_k * n + column), (b_k < k) & (column < n));
        sum += dot(x, y);
      }
      store(c_start + (row * n + column), sum.to<f16>(), (row < m) & (column < n));
      next += num_programs(0);
    }
    tiles_before += tiles;
  }
}

struct Product {
  int m, n, k;
};

Result<int> run(const Device &device) {
  const std::vector<Product> products{{128, 192, 64}, {40, 72, 100}, {1, 64, 32}, {200, 64, 48}};
  std::vector<int32_t> sizes;
  std::vector<int64_t> starts;
  int64_t a_size = 0, b_size = 0, c_size = 0;
  for (const auto &[m, n, k] : products) {
    sizes.insert(sizes.end(), {m, n, k});
    starts.insert(starts.end(), {a_size, b_size, c_size});
    a_size += m * k;
    b_size += k * n;
    c_size += m * n;
  }
  const std::vector<f16> a = ports::uniform<f16>(a_size, 1), b = ports::uniform<f16>(b_size, 2);
  NEREID_TRY(const Buffer<f16> a_buffer, device.upload(a));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b));
  NEREID_TRY(const Buffer<f16> c_buffer, device.allocate<f16>(c_size));
  NEREID_TRY(const Buffer<int32_t> size_buffer, device.upload(sizes));
  NEREID_TRY(const Buffer<int64_t> start_buffer, device.upload(starts));

  const int programs = 5;
  Kernel kernel("grouped_gemm", grouped_gemm);
  NEREID_CHECK(kernel(device.stream(), {programs}, {}, a_buffer, b_buffer, c_buffer, size_buffer,
                      start_buffer, static_cast<int>(products.size())));

  std::vector<double> exact;
  for (size_t g = 0; g < products.size(); ++g) {
    const auto &[m, n, k] = products[g];
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += double{float(a[starts[3 * g] + row * k + i])} * float(b[starts[3 * g + 1] + i * n + column]);
        exact.push_back(sum);
      }
  }
  NEREID_TRY(const std::vector<f16> c, c_buffer.to_host());
  return ports::count_wrong(c, exact, 0x1p-11 + 1e-5); // a rounding to f16, and those of the sums
}

int main() {
  const Device device = Device::best();
  return ports::report("08_grouped_gemm: 4 products", device, run(device));
}
