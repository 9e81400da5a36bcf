// After Triton's tutorial 8: many products of different sizes in one launch. A fixed number of programs takes
// the tiles of all products in turn, and so no product waits for another to end.
#include <array>

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

// Product g has the sizes[g] = {m, n, k}; its row-major A [m, k], B [k, n] and C [m, n] are at addresses[g] =
// {a, b, c}, multiples of 16 bytes.
void grouped_gemm(const GroupedConfig &config, Ptr<const u64> addresses, Ptr<const i32> sizes, Int products) {
  Var next = program_id(0); // the tile that this program takes next, of those of all products
  Var tiles_before = 0;     // of the products before this one
  for (Int g : range(0, products)) {
    Int m = load(sizes + 3 * g), n = load(sizes + 3 * g + 1), k = load(sizes + 3 * g + 2);
    for (const Int &size : {m, n, k})
      assume((size > 0) & (size <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
    auto matrix = [&](int number) {
      Tile<u64> address = load(addresses + 3 * g + number);
      assume(address % 16 == 0);
      return address;
    };
    Ptr<const f16> a = as_pointer<const f16>(matrix(0));
    Ptr<const f16> b = as_pointer<const f16>(matrix(1));
    Ptr<f16> c = as_pointer<f16>(matrix(2));
    Int tiles_n = cdiv(n, config.block_n);
    Int tiles = cdiv(m, config.block_m) * tiles_n;
    for (Int tile : range(next - tiles_before, tiles, num_programs(0))) {
      Tile<i32> row = tile / tiles_n * config.block_m + rows(config.block_m);
      Tile<i32> column = tile % tiles_n * config.block_n + cols(config.block_n);
      Var sum = zeros<f32>({config.block_m, config.block_n});
      for (Int first_k : range(0, k, config.block_k)) {
        Tile<i32> a_k = first_k + cols(config.block_k);
        Tile<i32> b_k = first_k + rows(config.block_k);
        Tile<f16> x = load(a + (row * k + a_k), (row < m) & (a_k < k));
        Tile<f16> y = load(b + (b_k * n + column), (b_k < k) & (column < n));
        sum += dot(x, y);
      }
      store(c + (row * n + column), sum.to<f16>(), (row < m) & (column < n));
      next += num_programs(0);
    }
    tiles_before += tiles;
  }
}

struct Product {
  int m, n, k;
  std::vector<f16> a, b;
  Buffer<f16> a_buffer, b_buffer, c_buffer;

  static Result<Product> random(const Device &device, int m, int n, int k, uint32_t seed) {
    std::vector<f16> a = ports::uniform<f16>(m * k, seed), b = ports::uniform<f16>(k * n, seed + 1);
    NEREID_TRY(Buffer<f16> a_buffer, device.upload(a));
    NEREID_TRY(Buffer<f16> b_buffer, device.upload(b));
    NEREID_TRY(Buffer<f16> c_buffer, device.allocate<f16>(m * n));
    return Product{
        m, n, k, std::move(a), std::move(b), std::move(a_buffer), std::move(b_buffer), std::move(c_buffer)};
  }
  std::vector<double> exact() const {
    std::vector<double> c;
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += double{float(a[row * k + i])} * float(b[i * n + column]);
        c.push_back(sum);
      }
    return c;
  }
};

Result<int> run(const Device &device) {
  std::vector<Product> products;
  std::vector<int32_t> sizes;
  std::vector<uint64_t> addresses;
  for (const auto &[m, n, k] : {std::array{128, 192, 64}, {40, 72, 100}, {1, 64, 32}, {200, 64, 48}}) {
    NEREID_TRY(Product product, Product::random(device, m, n, k, m));
    sizes.insert(sizes.end(), {m, n, k});
    addresses.insert(addresses.end(),
                     {product.a_buffer.address(), product.b_buffer.address(), product.c_buffer.address()});
    products.push_back(std::move(product));
  }
  NEREID_TRY(const Buffer<int32_t> size_buffer, device.upload(sizes));
  NEREID_TRY(const Buffer<uint64_t> address_buffer, device.upload(addresses));

  const int programs = 5;
  Kernel kernel("grouped_gemm", grouped_gemm);
  NEREID_CHECK(kernel(device.stream(), {programs}, {}, address_buffer, size_buffer,
                      static_cast<int>(products.size())));

  int wrong = 0;
  for (const Product &product : products) {
    NEREID_TRY(const std::vector<f16> c, product.c_buffer.to_host());
    wrong +=
        ports::count_wrong(c, product.exact(), 0x1p-11 + 1e-5); // a rounding to f16, and those of the sums
  }
  return wrong;
}

int main() {
  const Device device = Device::best();
  return ports::report("08_grouped_gemm: 4 products", device, run(device));
}
