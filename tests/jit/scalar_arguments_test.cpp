// Scalars of every element as arguments of a launch: their values, compiled and interpreted, and their facts.
#include <cmath>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {
namespace {

struct ScalarConfig {
  int waves = 1;
  NEREID_CONFIG(ScalarConfig, waves)
};

void store_all(const ScalarConfig &, Tile<i1> flag, Ptr<i64> out, Tile<f16> half, Tile<u32> word,
               Tile<bf16> brain, Tile<u64> wide, Tile<i1> other, Int last) {
  store(out, flag.to<i64>());
  store(out + 1, half.to<i64>());
  store(out + 2, word.to<i64>());
  store(out + 3, brain.to<i64>());
  store(out + 4, wide.to<i64>());
  store(out + 5, where(other, Int(7), Int(8)).to<i64>());
  store(out + 6, last.to<i64>());
}

TEST(ScalarArguments, HaveTheirValuesCompiledAndInterpreted) {
  const Device device = Device::simulator();
  const Kernel kernel("store_all", store_all);
  for (bool interpret : {false, true})
    for (bool flag : {false, true}) {
      Buffer<i64> out = device.allocate<i64>(7).value();
      LaunchOptions options;
      options.interpret = interpret;
      const auto run = kernel.launch(options, device.stream(), {1}, ScalarConfig{}, flag, out, f16(-2.5F),
                                     4000000000U, bf16(96.0F), uint64_t{1} << 63, !flag, -5);
      ASSERT_TRUE(run) << run.error().text();
      EXPECT_EQ(out.to_host().value(),
                (std::vector<i64>{flag, -2, 4000000000, 96, INT64_MIN, flag ? 8 : 7, -5}));
    }
}

struct LineConfig {
  int block = 256, waves = 2;
  NEREID_CONFIG(LineConfig, block, waves)
};

void line(const LineConfig &c, Tile<f64> slope, Ptr<const f64> x, Ptr<f64> y, Tile<f64> offset, Int n) {
  const Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  store(y + i, fma(slope, load(x + i, i < n), offset), i < n);
}

/// Doubles of the host, which no f32 holds.
TEST(ScalarArguments, AreDoublesAndBuffersOfThem) {
  const Device device = Device::simulator();
  const Kernel kernel("line", line);
  std::vector<double> x, expected;
  for (int i = 0; i < 1000; ++i)
    x.push_back(1 + std::ldexp(i, -45));
  for (const double v : x)
    expected.push_back(std::fma(1.0 / 3, v, -1e-200));
  const Buffer<double> in = device.upload(x).value();
  for (const bool interpret : {false, true}) {
    Buffer<double> out = device.allocate<double>(x.size()).value();
    LaunchOptions options;
    options.interpret = interpret;
    const auto run =
        kernel.launch(options, device.stream(), {4}, LineConfig{}, 1.0 / 3, in, out, -1e-200, 1000);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(out.to_host().value(), expected);
  }
}

void store_word(const ScalarConfig &, Ptr<u32> out, Tile<u32> word) { store(out, word + 1); }

TEST(ScalarArguments, UnsignedNumbersAreSpecialisedAsIntsAre) {
  const Device device = Device::simulator();
  const Kernel kernel("store_word", store_word);
  Buffer<u32> out = device.allocate<u32>(1).value();
  for (uint32_t word : {1U, 16U, 3U, 0xffffffffU}) {
    const auto run = kernel(device.stream(), {1}, ScalarConfig{}, out, word);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(out.to_host().value()[0], word + 1);
  }
  const std::vector<ArgumentFacts> one = kernel.facts(out, 1U), many = kernel.facts(out, 32U);
  EXPECT_EQ(one[1].constant, 1);
  EXPECT_EQ(many[1].divisibility, 16);
}

struct Affine {
  Float scale;
  Int shift;
  NEREID_PARAMETERS(scale, shift)
};
struct Rows {
  Ptr<const f32> data;
  Long stride;
  Affine then;
  NEREID_PARAMETERS(data, stride, then)
};

void affine_rows(const ScalarConfig &, Ptr<f32> out, Rows rows, Int columns, Affine last) {
  const Tile<i32> i = arange(0, 64);
  const Tile<i1> inside = i < columns;
  const Tile<f32> x = load(rows.data + program_id(0).to<i64>() * rows.stride + i, inside);
  const Tile<f32> y = (x * rows.then.scale + rows.then.shift.to<f32>()) * last.scale + last.shift.to<f32>();
  store(out + program_id(0) * columns + i, y, inside);
}

/// What the host gives for Affine and Rows.
struct HostAffine {
  float scale;
  int shift;
  NEREID_PARAMETERS(scale, shift)
};
struct HostRows {
  DevicePointer<const f32> data;
  int64_t stride;
  HostAffine then;
  NEREID_PARAMETERS(data, stride, then)
};

TEST(ScalarArguments, StructsAreTheirFields) {
  const Device device = Device::simulator();
  const Kernel kernel("affine_rows", affine_rows);
  std::vector<float> x(200), expected;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  for (size_t r = 0; r < 2; ++r)
    for (size_t c = 0; c < 50; ++c)
      expected.push_back((x[r * 100 + c] * 2 + 3) * 4 - 5);
  const Buffer<f32> in = device.upload(x).value();
  const HostAffine then{2.0F, 3};
  for (const bool interpret : {false, true}) {
    LaunchOptions options;
    options.interpret = interpret;
    Buffer<f32> out = device.allocate<f32>(100).value();
    const auto of_structs = kernel.launch(options, device.stream(), {2}, ScalarConfig{}, out,
                                          HostRows{{in.address()}, 100, then}, 50, HostAffine{4.0F, -5});
    ASSERT_TRUE(of_structs) << of_structs.error().text();
    EXPECT_EQ(out.to_host().value(), expected);
    out = device.allocate<f32>(100).value();
    const auto of_tuples =
        kernel.launch(options, device.stream(), {2}, ScalarConfig{}, out,
                      std::tuple(in.at(), int64_t{100}, std::tuple(2.0F, 3)), 50, std::tuple(4.0F, -5));
    ASSERT_TRUE(of_tuples) << of_tuples.error().text();
    EXPECT_EQ(out.to_host().value(), expected);
  }
}

TEST(ScalarArguments, FieldsOfStructsAreSpecialisedOneByOne) {
  const Device device = Device::simulator();
  const Kernel kernel("affine_rows", affine_rows);
  const Buffer<f32> in = device.allocate<f32>(64).value();
  const HostRows rows{{in.address()}, 32, {1.0F, 1}};
  const std::vector<ArgumentFacts> facts = kernel.facts(in, rows, 50, HostAffine{4.0F, 16});
  ASSERT_EQ(facts.size(), 8u); // out; data, stride, scale, shift; columns; scale, shift
  EXPECT_EQ(facts[2].divisibility, 16);
  EXPECT_EQ(facts[4].constant, 1);
  EXPECT_EQ(facts[7].divisibility, 16);
  const std::vector<ArgumentFacts> plain = kernel.facts(in, no_specialize(rows), 50, HostAffine{4.0F, 16});
  EXPECT_EQ(plain[2], ArgumentFacts{});
  EXPECT_EQ(plain[4], ArgumentFacts{});
  EXPECT_EQ(plain[7].divisibility, 16);
}

void sum_of_each(const ScalarConfig &, Ptr<const u64> addresses, Ptr<const i32> sizes, Ptr<f32> out) {
  const Tile<i32> i = arange(0, 256);
  const Tile<u64> address = load(addresses + program_id(0));
  const Ptr<const f32> data = as_pointer<const f32>(address);
  store(out + program_id(0), sum(load(data + i, i < load(sizes + program_id(0))), 0));
}

/// A lane of its own address each: the program's first element of every array.
void first_of_all(const ScalarConfig &, Ptr<const u64> addresses, Ptr<f32> out, Int n) {
  const Tile<i32> i = arange(0, 64);
  const Tile<u64> address = load(addresses + i, i < n);
  store(as_pointer<f32>(address), load(as_pointer<const f32>(address), i < n) + 1, i < n);
  store(out + i, load(as_pointer<const f32>(address), i < n), i < n);
}

/// An array of addresses stands for an array of arrays, as in a grouped product.
TEST(ScalarArguments, AddressesInMemoryArePointers) {
  const Device device = Device::simulator();
  const Kernel sums("sum_of_each", sum_of_each);
  const Kernel firsts("first_of_all", first_of_all);
  for (const bool interpret : {false, true}) {
    LaunchOptions options;
    options.interpret = interpret;
    std::vector<Buffer<f32>> arrays;
    std::vector<u64> addresses;
    std::vector<i32> sizes;
    std::vector<float> wanted, first;
    for (int n : {1, 7, 64, 200}) {
      arrays.push_back(
          device.upload(std::vector<f32>(static_cast<size_t>(n), static_cast<float>(n))).value());
      addresses.push_back(arrays.back().address());
      sizes.push_back(n);
      wanted.push_back(static_cast<float>(n * n));
      first.push_back(static_cast<float>(n + 1));
    }
    const Buffer<u64> of_arrays = device.upload(addresses).value();
    const Buffer<i32> of_sizes = device.upload(sizes).value();
    Buffer<f32> out = device.allocate<f32>(4).value();
    const auto run = sums.launch(options, device.stream(), {4}, ScalarConfig{}, of_arrays, of_sizes, out);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(out.to_host().value(), wanted);
    const auto run_first = firsts.launch(options, device.stream(), {1}, ScalarConfig{}, of_arrays, out, 4);
    ASSERT_TRUE(run_first) << run_first.error().text();
    EXPECT_EQ(out.to_host().value(), first);
    for (size_t i = 0; i < arrays.size(); ++i)
      EXPECT_EQ(arrays[i].to_host().value()[0], first[i]);
  }
}

/// An address that is none: the user's error, at the line of the load.
TEST(ScalarArguments, AWrongAddressIsFoundWhereItIsUsed) {
  const Device device = Device::simulator();
  const Kernel sums("sum_of_each", sum_of_each);
  const Buffer<u64> addresses = device.upload(std::vector<u64>{16}).value();
  const Buffer<i32> sizes = device.upload(std::vector<i32>{4}).value();
  const Buffer<f32> out = device.allocate<f32>(1).value();
  for (const bool interpret : {false, true}) {
    LaunchOptions options;
    options.interpret = interpret;
    const auto run = sums.launch(options, device.stream(), {1}, ScalarConfig{}, addresses, sizes, out);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().owner, Owner::User) << run.error().text();
    EXPECT_TRUE(run.error().where.file.ends_with("scalar_arguments_test.cpp")) << run.error().text();
  }
}

} // namespace
} // namespace nereid::test
