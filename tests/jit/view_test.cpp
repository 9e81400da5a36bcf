// Views of matrices of odd sizes and strides: their values, compiled and interpreted.
#include <numeric>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {
namespace {

struct CopyConfig {
  int rows = 8;
  int columns = 16;
  int waves = 1;
  NEREID_CONFIG(CopyConfig, rows, columns, waves)
};

class View : public ::testing::TestWithParam<bool> {
protected:
  const Device device = Device::simulator();
  const Stream stream = device.stream();
  LaunchOptions options() const {
    LaunchOptions chosen;
    chosen.interpret = GetParam();
    return chosen;
  }
  static std::vector<float> numbers(int n) {
    std::vector<float> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
  }
};

/// Tiles of one matrix to another; what lies beyond the first is -1.
void copy(const CopyConfig &c, Ptr<const f32> from, Ptr<f32> to, Int rows, Int columns, Int from_stride,
          Int to_stride) {
  const Position2D at{program_id(1) * c.rows, program_id(0) * c.columns};
  const Tile<f32> tile = View2D(from, {rows, columns}, from_stride).load(at, {c.rows, c.columns}, -1.0F);
  View2D(to, {rows + 1, columns}, to_stride).store(at, tile);
}

TEST_P(View, CopiesMatricesOfEverySizeAndStride) {
  const Kernel<copy> kernel([](const CopyConfig &c, int rows, int columns, int, int) {
    return Grid{cdiv(columns, c.columns), cdiv(rows + 1, c.rows)};
  });
  struct Case {
    int rows, columns, from_stride, to_stride;
  };
  for (const auto &[rows, columns, from_stride, to_stride] :
       {Case{1, 1, 1, 1}, Case{7, 15, 15, 15}, Case{8, 16, 16, 16}, Case{9, 17, 19, 23}, Case{16, 48, 64, 48},
        Case{5, 130, 131, 130}}) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    // The last row ends with its last column: reading on would be out of bounds.
    const std::vector<float> in = numbers((rows - 1) * from_stride + columns);
    const size_t size = static_cast<size_t>(rows * to_stride + columns);
    const Buffer<float> x = device.upload(in).value();
    const Buffer<float> y = device.upload(std::vector<float>(size, 0.5F)).value();
    const CopyConfig config;
    const Grid grid = kernel.grid(config, x, y, rows, columns, from_stride, to_stride).value();
    const auto run =
        kernel.launch(options(), stream, grid, config, x, y, rows, columns, from_stride, to_stride);
    ASSERT_TRUE(run) << run.error().text();
    std::vector<float> expected(size, 0.5F);
    for (int row = 0; row <= rows; ++row)
      for (int column = 0; column < columns; ++column)
        expected[row * to_stride + column] = row < rows ? in[row * from_stride + column] : -1.0F;
    EXPECT_EQ(y.to_host().value(), expected);
  }
}

/// Sums of columns 3 to 3 + `width` of matrices, added to one row a matrix.
void sums(const CopyConfig &c, Ptr<const f32> from, Ptr<f32> to, Int rows, Int columns, Int width) {
  const View2D matrix = View2D(from, {rows, columns}).matrix(program_id(0)).columns(3, width);
  const Tile<f32> tile = matrix.load({0, 0}, {c.rows, c.columns});
  View2D(to, {num_programs(0), width}).atomic_add({program_id(0), 0}, sum(tile, keep_axis(0)));
}

TEST_P(View, HasMatricesOneAfterAnotherAndPartsOfThem) {
  constexpr int matrices = 3, rows = 5, columns = 21, width = 11;
  const std::vector<float> in = numbers(matrices * rows * columns);
  const Buffer<float> x = device.upload(in).value();
  const Buffer<float> y = device.upload(std::vector<float>(matrices * width, 1000.0F)).value();
  const auto run =
      Kernel<sums>().launch(options(), stream, {matrices}, CopyConfig{}, x, y, rows, columns, width);
  ASSERT_TRUE(run) << run.error().text();
  std::vector<float> expected(matrices * width, 1000.0F);
  for (int matrix = 0; matrix < matrices; ++matrix)
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < width; ++column)
        expected[matrix * width + column] += in[(matrix * rows + row) * columns + 3 + column];
  EXPECT_EQ(y.to_host().value(), expected);
}

/// A microscaled copy: quantised, stored, loaded and multiplied with the identity.
void through_codes(const CopyConfig &c, Ptr<const f32> x, Ptr<const bf16> identity, Ptr<u8> codes,
                   Ptr<u8> scales, Ptr<f32> out, Int rows, Int k) {
  const MxView2D quantised(codes, scales, {rows, k});
  const View2D from(x, {rows, k});
  const Tile<bf16> one = View2D(identity, {32, 32}).load({0, 0}, {32, 32});
  for (Int k0 : range(0, k, 32)) {
    quantised.store({0, k0}, quantize(from.load({0, k0}, {c.rows, 32}), e2m1));
    const MxTile tile = quantised.load({0, k0}, {c.rows, 32});
    View2D(out, {rows, k}).store({0, k0}, dot_scaled(tile, one));
  }
}

TEST_P(View, StoresAndLoadsMicroscaledTiles) {
  constexpr int rows = 13, k = 96;
  const float values[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  std::vector<float> in(rows * k);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = i % 32 == 0 ? 6.0F : values[i * 5 % 8] * (i % 3 == 0 ? -1.0F : 1.0F);
  std::vector<bf16> one(32 * 32, bf16(0.0F));
  for (size_t i = 0; i < 32; ++i)
    one[i * 33] = bf16(1.0F);
  const Buffer<float> x = device.upload(in).value();
  const Buffer<bf16> identity = device.upload(one).value();
  const Buffer<uint8_t> codes = device.allocate<uint8_t>(rows * k / 2).value();
  const Buffer<uint8_t> scales = device.allocate<uint8_t>(rows * k / 32).value();
  const Buffer<float> y = device.allocate<float>(rows * k).value();
  const auto run = Kernel<through_codes>().launch(options(), stream, {1}, CopyConfig{.rows = 16}, x, identity,
                                                  codes, scales, y, rows, k);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(y.to_host().value(), in);
}

/// x y' of quantised operands in every order of memory that both sides may have.
struct MxConfig {
  int block = 32;
  int k = 256;
  bool shuffled_codes = false;
  bool shuffled_scales = false;
  int waves = 1;
  NEREID_CONFIG(MxConfig, block, k, shuffled_codes, shuffled_scales, waves)
};

void copy_tile(const MxConfig &c, Ptr<const u8> codes, Ptr<const u8> scales, Ptr<u8> codes_out,
               Ptr<u8> scales_out, Int rows, Int k) {
  const Position2D at{program_id(1) * c.block, program_id(0) * c.k};
  const auto order = [](bool shuffled) { return shuffled ? MxOrder::Shuffled : MxOrder::RowMajor; };
  const MxView2D from(codes, scales, {rows, k},
                      {.codes = order(c.shuffled_codes), .scales = order(c.shuffled_scales)});
  MxView2D(codes_out, scales_out, {rows, k}).store(at, from.load(at, {c.block, c.k}));
}

TEST_P(View, LoadsShuffledCodesAndScales) {
  constexpr int rows = 80, k = 544, padded_rows = 256, padded_groups = 24;
  std::vector<uint8_t> codes(rows * k / 2), scales(rows * k / 32);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint8_t>(i * 37 + i / 251);
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = static_cast<uint8_t>(100 + i % 40);
  // The orders as docs/kernels.md has them.
  std::vector<uint8_t> shuffled_codes(codes.size()), shuffled_scales(padded_rows * padded_groups, 0xff);
  for (int n = 0; n < rows; ++n) {
    for (int byte = 0; byte < k / 2; ++byte)
      shuffled_codes[n / 16 * 16 * (k / 2) + byte / 16 * 256 + n % 16 * 16 + byte % 16] =
          codes[n * (k / 2) + byte];
    for (int c = 0; c < k / 32; ++c)
      shuffled_scales[n % 32 / 16 + c % 8 / 4 * 2 + n % 16 * 4 + c % 4 * 64 + c / 8 * 256 +
                      n / 32 * 32 * padded_groups] = scales[n * (k / 32) + c];
  }
  for (const auto &[block, block_k] :
       {std::pair{32, 256}, {16, 256}, {48, 256}, {32, 128}, {16, 64}, {64, 512}})
    for (const auto &[codes_are, scales_are] :
         {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
      const MxConfig config{
          .block = block, .k = block_k, .shuffled_codes = codes_are, .shuffled_scales = scales_are};
      SCOPED_TRACE(config_text(config));
      const Buffer<uint8_t> c = device.upload(codes_are ? shuffled_codes : codes).value();
      const Buffer<uint8_t> s = device.upload(scales_are ? shuffled_scales : scales).value();
      const Buffer<uint8_t> c_out = device.allocate<uint8_t>(codes.size()).value();
      const Buffer<uint8_t> s_out = device.allocate<uint8_t>(scales.size()).value();
      const Grid grid{cdiv(k, block_k), cdiv(rows, block)};
      const auto run =
          Kernel<copy_tile>().launch(options(), stream, grid, config, c, s, c_out, s_out, rows, k);
      ASSERT_TRUE(run) << run.error().text();
      EXPECT_EQ(c_out.to_host().value(), codes);
      EXPECT_EQ(s_out.to_host().value(), scales);
    }
}

/// Number 1 of two matrices, and then the values that it has in its format.
void load_second(const MxConfig &c, Ptr<const u8> codes, Ptr<const u8> scales, Ptr<u8> codes_out, Int rows,
                 Int k) {
  const MxTile tile = MxView2D(codes, scales, {rows, k}, {.scales = MxOrder::Shuffled})
                          .matrix(1)
                          .load({0, 0}, {c.block, c.k});
  View2D(codes_out, {rows, k / 2}).store({0, 0}, tile.codes);
  View2D(codes_out + rows * (k / 2), {rows, k / 32}).store({0, 0}, tile.scales);
}

TEST_P(View, MicroscaledMatricesLieOneAfterAnother) {
  constexpr int rows = 24, k = 64, padded = 256 * 8;
  std::vector<uint8_t> codes(2 * rows * k / 2), scales(2 * padded);
  std::iota(codes.begin(), codes.end(), uint8_t{3});
  for (int c = 0; c < k / 32; ++c)
    for (int n = 0; n < rows; ++n)
      scales[padded + n % 32 / 16 + n % 16 * 4 + c * 64] = static_cast<uint8_t>(100 + n + 40 * c);
  const Buffer<uint8_t> c = device.upload(codes).value(), s = device.upload(scales).value();
  const Buffer<uint8_t> out = device.allocate<uint8_t>(rows * (k / 2 + k / 32)).value();
  const auto run =
      Kernel<load_second>().launch(options(), stream, {1}, MxConfig{.k = 64}, c, s, out, rows, k);
  ASSERT_TRUE(run) << run.error().text();
  std::vector<uint8_t> expected(codes.begin() + rows * k / 2, codes.end());
  for (int n = 0; n < rows; ++n)
    for (int group = 0; group < k / 32; ++group)
      expected.push_back(static_cast<uint8_t>(100 + n + 40 * group));
  EXPECT_EQ(out.to_host().value(), expected);
}

struct GatherConfig {
  int rows = 16, columns = 32, waves = 1;
  bool is_small = false, even_rows = false;
  NEREID_CONFIG(GatherConfig, rows, columns, waves, is_small, even_rows)
};

/// Rows by number to rows by another number, and added to a third matrix.
void move_rows(const GatherConfig &c, Ptr<const f32> from, Ptr<const i32> numbers, Ptr<f32> to, Ptr<f32> sums,
               Int rows, Int columns) {
  const ViewOptions options{.even_rows = c.even_rows, .is_small = c.is_small};
  const Int first = program_id(0) * c.columns;
  const Tile<i32> place = program_id(1) * c.rows + arange(0, c.rows);
  const Tile<i32> number = load(numbers + place);
  const Tile<f32> tile = View2D(from, {rows, columns}, options).gather(number, first, c.columns);
  View2D(to, {num_programs(1) * c.rows, columns}, options).scatter(col(place), first, tile);
  View2D(sums, {rows, columns}, options).scatter_add(number, first, tile, Order::Relaxed);
}

TEST_P(View, GathersAndScattersRowsByNumber) {
  constexpr int rows = 11, columns = 45;
  for (const GatherConfig &c :
       {GatherConfig{}, GatherConfig{16, 64, 4, true}, GatherConfig{16, 32, 2, true, true}}) {
    SCOPED_TRACE(config_text(c));
    const int beyond = c.even_rows ? 3 : rows; // no row beyond the last, where that is promised
    const std::vector<int32_t> numbers = {0, 10, -1, 3,  3,  7,  1, beyond, 5,  6,      INT32_MIN,
                                          2, 9,  8,  4,  10, -7, 0, 4,      10, beyond, 2,
                                          2, 2,  1,  -1, 8,  5,  7, 9,      3,  6};
    const std::vector<float> in = this->numbers(rows * columns);
    std::vector<float> expected(numbers.size() * columns), sums(in.size(), 1.0F);
    for (size_t i = 0; i < numbers.size(); ++i)
      for (size_t k = 0; k < columns && numbers[i] >= 0 && numbers[i] < rows; ++k) {
        const size_t at = static_cast<size_t>(numbers[i]) * columns + k;
        expected[i * columns + k] = in[at];
        sums[at] += in[at];
      }
    const Buffer<float> x = device.upload(in).value(),
                        y = device.upload(std::vector<float>(expected.size(), 0.5F)).value(),
                        z = device.upload(std::vector<float>(in.size(), 1.0F)).value();
    const Buffer<int32_t> of_rows = device.upload(numbers).value();
    const Grid grid{cdiv(columns, c.columns), 2};
    const auto run = Kernel<move_rows>().launch(options(), stream, grid, c, x, of_rows, y, z, rows, columns);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(y.to_host().value(), expected);
    EXPECT_EQ(z.to_host().value(), sums);
  }
}

/// Codes and scales of rows by number, one after the other.
void gather_codes(const MxConfig &c, Ptr<const u8> codes, Ptr<const u8> scales, Ptr<const i32> numbers,
                  Ptr<u8> codes_out, Ptr<u8> scales_out, Int rows, Int k) {
  const Int first_k = program_id(0) * c.k;
  const MxTile tile = MxView2D(codes, scales, {rows, k}, {.is_small = c.waves > 1})
                          .gather(load(numbers + arange(0, c.block)), first_k, c.k);
  MxView2D(codes_out, scales_out, {c.block, k}).store({0, first_k}, tile);
}

TEST_P(View, GathersMicroscaledRowsByNumber) {
  constexpr int rows = 9, k = 160, block = 32;
  std::vector<uint8_t> codes(rows * k / 2), scales(rows * k / 32);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint8_t>(i * 37 + i / 251);
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = static_cast<uint8_t>(100 + i);
  std::vector<int32_t> numbers(block);
  for (int i = 0; i < block; ++i)
    numbers[static_cast<size_t>(i)] = i * 5 % 11 - 1; // -1 and 9 are no rows
  for (const int waves : {1, 4}) {
    const Buffer<uint8_t> c = device.upload(codes).value(), s = device.upload(scales).value();
    const Buffer<int32_t> of_rows = device.upload(numbers).value();
    const Buffer<uint8_t> c_out = device.allocate<uint8_t>(block * k / 2).value(),
                          s_out = device.allocate<uint8_t>(block * k / 32).value();
    const auto run =
        Kernel<gather_codes>().launch(options(), stream, {cdiv(k, 128)}, MxConfig{.k = 128, .waves = waves},
                                      c, s, of_rows, c_out, s_out, rows, k);
    ASSERT_TRUE(run) << run.error().text();
    const std::vector<uint8_t> got_codes = c_out.to_host().value(), got_scales = s_out.to_host().value();
    for (size_t i = 0; i < block; ++i) {
      const int32_t row = numbers[i];
      const bool is_row = row >= 0 && row < rows;
      for (size_t byte = 0; byte < k / 2; ++byte)
        EXPECT_EQ(got_codes[i * k / 2 + byte], is_row ? codes[static_cast<size_t>(row) * k / 2 + byte] : 0);
      for (size_t group = 0; group < k / 32 && is_row; ++group)
        EXPECT_EQ(got_scales[i * k / 32 + group], scales[static_cast<size_t>(row) * k / 32 + group]);
    }
  }
}

TEST(ViewPromise, ASizeThatIsTooLargeIsReportedByTheInterpreter) {
  const Device device = Device::simulator();
  const Buffer<float> x = device.allocate<float>(16).value();
  LaunchOptions options;
  options.interpret = true;
  const auto run = Kernel<copy>().launch(options, device.stream(), {1}, CopyConfig{}, x, x, -1, 4, 4, 4);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User) << run.error().text();
  EXPECT_NE(run.error().where.file.find("view_test.cpp"), std::string::npos) << run.error().text();
}

INSTANTIATE_TEST_SUITE_P(Backends, View, testing::Values(false, true),
                         [](const auto &info) { return info.param ? "interpreter" : "simulator"; });

} // namespace
} // namespace nereid::test
