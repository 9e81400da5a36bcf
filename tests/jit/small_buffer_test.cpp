// Accesses of buffers of less than 2^31 bytes, of whose offsets nothing else is known: no branches, loads of
// loops are issued ahead, and the values are right, also of negative strides and of larger buffers.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

bool has_branches(const CompiledKernel &compiled) {
  const std::vector<Remark> remarks = compiled.remarks().value();
  return std::any_of(remarks.begin(), remarks.end(),
                     [](const Remark &remark) { return remark.kind == RemarkKind::MaskBranches; });
}

/// Masked, with offsets of which only the size of the buffer says that they are small.
void gather(const AddConfig &c, Ptr<const f32> x, Ptr<const i32> index, Ptr<f32> z, Int n, Int stride) {
  const Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  const Tile<i1> in_range = i < n;
  const Tile<i32> from = load(index + i, in_range);
  store(z + i, load(x + from * stride, in_range), in_range);
}

constexpr AddConfig gather_config{.block = 256, .waves = 1};

TEST(SmallBuffer, AMaskedGatherTakesNoBranch) {
  const Device device = Device::simulator();
  const Kernel kernel("gather", gather);
  const ArgumentFacts small{.pointer_range = 32};
  const auto plain = kernel.compile(gather_config, {}, device).value();
  const auto ranged = kernel.compile(gather_config, {small, small, small}, device).value();
  EXPECT_NE(plain->key(), ranged->key());
  EXPECT_TRUE(has(plain->isa().value(), "saveexec"));
  EXPECT_TRUE(has_branches(*plain));
  const std::string isa = ranged->isa().value();
  EXPECT_FALSE(has(isa, "saveexec") || has(isa, "s_cbranch")) << isa;
  EXPECT_TRUE(has(isa, "buffer_load_dword"));
  EXPECT_FALSE(has_branches(*ranged));
}

TEST(SmallBuffer, AGatherOfNegativeOffsetsIsRight) {
  const Device device = Device::simulator({.checks = "all"});
  constexpr int n = 500, stride = -3;
  std::vector<float> x(1600);
  std::vector<int> index(n);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  for (int i = 0; i < n; ++i)
    index[i] = -(i * 7919 % 533);
  const auto x_buffer = device.upload(x).value();
  const auto index_buffer = device.upload(index).value();
  const auto z = device.allocate<float>(n).value();
  const Kernel kernel("gather", gather);
  const auto launched = kernel(device.stream(), {2}, gather_config, x_buffer, index_buffer, z, n, stride);
  ASSERT_TRUE(launched) << launched.error().text();
  EXPECT_TRUE(has(launched->compiled->ir(), "pointer_range = 32"));
  const std::vector<float> result = z.to_host().value();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(result[i], static_cast<float>(index[i] * stride)) << i;
}

/// z[i stride] = i, for what lies far apart.
void scatter(const AddConfig &c, Ptr<f32> z, Int n, Int stride) {
  const Tile<i32> i = arange(0, c.block);
  store(z + i.to<i64>() * Long(stride), i.to<f32>(), i < n);
}

TEST(SmallBuffer, ALargerBufferTakesTheOtherVariant) {
  const Device device = Device::simulator();
  constexpr int n = 64, stride = 1 << 24; // 64 MiB
  const auto far = device.allocate<float>(size_t{n} * stride).value();
  const auto written =
      Kernel("scatter", scatter)(device.stream(), {1}, AddConfig{.block = 64, .waves = 1}, far, n, stride);
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_FALSE(has(written->compiled->ir(), "pointer_range"));
  std::vector<int> index(n);
  for (int i = 0; i < n; ++i)
    index[i] = n - 1 - i;
  const auto index_buffer = device.upload(index).value();
  const auto z = device.allocate<float>(n).value();
  const Kernel kernel("gather", gather);
  // An i32 reaches 2^31 elements, which are 8 GiB.
  const auto launched = kernel(device.stream(), {1}, gather_config, far, index_buffer, z, n, stride);
  ASSERT_TRUE(launched) << launched.error().text();
  EXPECT_TRUE(has_branches(*launched->compiled));
  const std::vector<float> result = z.to_host().value();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(result[i], static_cast<float>(n - 1 - i)) << i;
}

struct ProductConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 64;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(ProductConfig, block_m, block_n, block_k, waves, stages)
};

/// c = a b, of any strides.
void product(const ProductConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f32> c, Int m, Int n, Int k,
             Int a_row, Int a_column, Int b_row, Int b_column, Int c_row) {
  const Tile<i32> row = program_id(0) * config.block_m + rows(config.block_m);
  const Tile<i32> column = program_id(1) * config.block_n + cols(config.block_n);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  for (Int first : range(0, k, config.block_k)) {
    const Tile<i32> a_k = first + cols(config.block_k), b_k = first + rows(config.block_k);
    sum += dot(load(a + (row * a_row + a_k * a_column), (row < m) & (a_k < k)),
               load(b + (b_k * b_row + column * b_column), (b_k < k) & (column < n)));
  }
  store(c + (row * c_row + column), sum, (row < m) & (column < n));
}

/// As Triton's tutorial writes it: pointers step, rows and columns beyond the matrix are others.
void stepping_product(const ProductConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f32> c, Int m,
                      Int n, Int k, Int a_row, Int a_column, Int b_row, Int b_column, Int c_row) {
  const Tile<i32> row = program_id(0) * config.block_m + rows(config.block_m);
  const Tile<i32> column = program_id(1) * config.block_n + cols(config.block_n);
  const Tile<i32> a_k = cols(config.block_k), b_k = rows(config.block_k);
  Var a_at = a + (row % m * a_row + a_k * a_column);
  Var b_at = b + (b_k * b_row + column % n * b_column);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  for (Int i : range(0, cdiv(k, config.block_k))) {
    sum += dot(load(a_at, a_k < k - i * config.block_k), load(b_at, b_k < k - i * config.block_k));
    a_at += config.block_k * a_column;
    b_at += config.block_k * b_row;
  }
  store(c + (row * c_row + column), sum, (row < m) & (column < n));
}

using Product =
    KernelOf<ProductConfig, Ptr<const f16>, Ptr<const f16>, Ptr<f32>, Int, Int, Int, Int, Int, Int, Int, Int>;

/// A matrix of small whole numbers in memory of `pitch` elements a row, whose rows may go backwards.
struct Matrix {
  int rows, columns, pitch;
  bool backwards = false;

  float at(int row, int column) const { return static_cast<float>((row * 7 + column * 3 + rows) % 5 - 2); }
  int stride() const { return backwards ? -pitch : pitch; }
  size_t start() const { return backwards ? static_cast<size_t>((rows - 1) * pitch) : 0; }
  std::vector<f16> memory() const {
    std::vector<f16> result(static_cast<size_t>(std::max(rows, 1) * pitch), f16(99.0F));
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        result[start() + row * stride() + column] = f16(at(row, column));
    return result;
  }
};

void expect_product(const std::vector<float> &c, const Matrix &a, const Matrix &b) {
  int wrong = 0;
  for (int row = 0; row < a.rows; ++row)
    for (int column = 0; column < b.columns; ++column) {
      float sum = 0;
      for (int k = 0; k < a.columns; ++k)
        sum += a.at(row, k) * b.at(k, column);
      wrong += c[row * b.columns + column] != sum;
    }
  EXPECT_EQ(wrong, 0);
}

constexpr int m = 100, n = 80;

Result<LaunchInfo> multiply(const Device &device, const Product &kernel, const ProductConfig &config,
                            const Matrix &a, const Matrix &b, bool by_address, LaunchOptions options = {}) {
  NEREID_TRY(const Buffer<f16> a_buffer, device.upload(a.memory()));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b.memory()));
  NEREID_TRY(Buffer<float> c, device.allocate<float>(m * n));
  NEREID_CHECK(c.fill(77));
  const Grid grid{cdiv(m, config.block_m), cdiv(n, config.block_n)};
  const auto launch = [&](const auto &a_memory, const auto &b_memory) {
    return kernel.launch(options, device.stream(), grid, config, a_memory, b_memory, c, m, n, a.columns,
                         a.stride(), 1, b.stride(), 1, n);
  };
  NEREID_TRY(LaunchInfo info, by_address ? launch(a_buffer.at(a.start()), b_buffer.at(b.start()))
                                         : launch(a_buffer, b_buffer));
  expect_product(c.to_host().value(), a, b);
  return info;
}

void expect_ahead(const Product &kernel, int k, const ProductConfig &config, const char *plan) {
  static const Device device = Device::simulator({.checks = "all"});
  SCOPED_TRACE(kernel.name() + " k " + std::to_string(k) + " " + config_text(config));
  const Matrix a{m, k, 208}, b{k, n, 96};
  const auto info = multiply(device, kernel, config, a, b, false);
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_FALSE(has_branches(*info->compiled));
  EXPECT_TRUE(has(info->compiled->plan().value(), plan)) << info->compiled->plan().value();
  const auto interpreted = multiply(device, kernel, config, a, b, false, {.interpret = true});
  EXPECT_TRUE(interpreted) << interpreted.error().text();
}

TEST(SmallBuffer, LoopsOfAnyStridesRunAhead) {
  for (const int k : {208, 64, 0})
    expect_ahead(Product("product", product), k, {}, "LDS pipeline");
  expect_ahead(Product("product", product), 208, {.block_m = 16, .waves = 1}, "register prefetch, 2");
  // Columns modulo n are loaded one by one.
  for (const int k : {208, 64, 0})
    expect_ahead(Product("stepping", stepping_product), k, {}, "register prefetch, 2");
}

/// Of memory of which nothing is known.
TEST(SmallBuffer, PipelinesOfNegativeStridesAreRight) {
  const Device device = Device::simulator({.checks = "all"});
  const Product kernel("product", product);
  for (const bool a_backwards : {false, true})
    for (const bool b_backwards : {false, true})
      for (const int k : {128, 208}) {
        SCOPED_TRACE(k);
        const Matrix a{m, k, 208, a_backwards}, b{k, n, 96, b_backwards};
        const auto info = multiply(device, kernel, {}, a, b, true);
        ASSERT_TRUE(info) << info.error().text();
        EXPECT_TRUE(has(info->compiled->plan().value(), "LDS pipeline")) << info->compiled->plan().value();
      }
}

/// The first element of the tile is not that of the buffer.
void reversed_product(const ProductConfig &config, Ptr<const f16> a, Ptr<const f16> b, Ptr<f32> c, Int m,
                      Int n, Int k, Int a_row, Int a_column, Int b_row, Int b_column, Int c_row) {
  product(config, a + (m - 1) * a_row, b, c, m, n, k, -a_row, a_column, b_row, b_column, c_row);
}

TEST(SmallBuffer, RowsFromTheLastToTheFirst) {
  const Device device = Device::simulator({.checks = "all"});
  const Product kernel("reversed", reversed_product);
  for (const ProductConfig &config : {ProductConfig{}, ProductConfig{.block_m = 16, .waves = 1}}) {
    const auto c = device.allocate<float>(m * n).value();
    const Matrix a{m, 208, 208, true}, b{208, n, 96};
    const auto a_buffer = device.upload(a.memory()).value(), b_buffer = device.upload(b.memory()).value();
    const Grid grid{cdiv(m, config.block_m), cdiv(n, config.block_n)};
    const auto info =
        kernel(device.stream(), grid, config, a_buffer, b_buffer, c, m, n, 208, 208, 1, 96, 1, n);
    ASSERT_TRUE(info) << info.error().text();
    EXPECT_FALSE(has_branches(*info->compiled));
    expect_product(c.to_host().value(), a, b);
  }
}

} // namespace
} // namespace nereid::test
