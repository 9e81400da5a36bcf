// Tiles that nearly fill the registers, or do not fit them, are compiled or refused within seconds.
#include <cmath>
#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {
namespace {

/// Of the processor, all threads. Cliffs are tens of seconds and more; on a calm machine all of these are
/// below 3.
#ifdef __SANITIZE_ADDRESS__
constexpr double max_seconds = 200;
#else
constexpr double max_seconds = 10;
#endif

struct TileConfig {
  int block = 1024;
  int waves = 1;
  NEREID_CONFIG(TileConfig, block, waves)
};

template <class T> void difference(const TileConfig &c, Ptr<const T> x, Ptr<T> z) {
  const Tile<i32> i = arange(0, c.block);
  store(z + i, load(x + (i + 1)) - load(x + i));
}

void numbers(const TileConfig &c, Ptr<i32> z) {
  const Tile<i32> i = arange(0, c.block);
  store(z + i, i);
}

void softmax(const TileConfig &c, Ptr<const f32> x, Ptr<f32> y, Int columns) {
  const Tile<i32> column = arange(0, c.block);
  const Tile<i32> at = program_id(0) * columns + column;
  const Tile<f32> value = load(x + at, column < columns, -INFINITY);
  const Tile<f32> weight = exp(value - max(value, axis(0)));
  store(y + at, weight / sum(weight, axis(0)), column < columns);
}

template <class T> void running_sum(const TileConfig &c, Ptr<const T> x, Ptr<T> z) {
  const Tile<i32> i = arange(0, c.block);
  store(z + i, cumsum(load(x + i), 0));
}

/// What stays in registers while its maximum is found.
template <class T> void below_maximum(const TileConfig &c, Ptr<const T> x, Ptr<T> z) {
  const Tile<i32> i = arange(0, c.block);
  const Tile<T> value = load(x + i);
  store(z + i, value - max(value, axis(0)));
}

struct ReduceConfig {
  int rows = 128;
  int columns = 128;
  int slices = 16;
  int waves = 1;
  NEREID_CONFIG(ReduceConfig, rows, columns, slices, waves)
};

/// The sum of slices, one after the other.
void add_slices(const ReduceConfig &c, Ptr<const f32> x, Ptr<bf16> z) {
  const Tile<i32> at = rows(c.rows) * c.columns + cols(c.columns);
  Var sum = zeros<f32>({c.rows, c.columns});
  for (int slice = 0; slice < c.slices; ++slice)
    sum += load(x + (at + slice * c.rows * c.columns));
  store(z + at, sum.get().to<bf16>());
}

struct AttentionConfig {
  int queries = 128;
  int keys = 128;
  int width = 128;
  int waves = 4;
  NEREID_CONFIG(AttentionConfig, queries, keys, width, waves)
};

void attention(const AttentionConfig &c, Ptr<const bf16> q, Ptr<const bf16> k, Ptr<const bf16> v,
               Ptr<bf16> out, Int length) {
  const Tile<i32> column = cols(c.width);
  const Tile<i32> q_at = (program_id(0) * c.queries + rows(c.queries)) * c.width + column;
  const Tile<bf16> query = load(q + q_at);
  Var highest = full<f32>({c.queries, 1}, -INFINITY);
  Var weights = zeros<f32>({c.queries, 1});
  Var sums = zeros<f32>({c.queries, c.width});
  for (Int first : range(0, length, c.keys)) {
    const Tile<i32> at = (first + rows(c.keys)) * c.width + column;
    const Tile<f32> scores = dot(query, trans(load(k + at)));
    const Tile<f32> now = max(highest, max(scores, keep_axis(1)));
    const Tile<f32> weight = exp(scores - now);
    const Tile<f32> old = exp(highest - now);
    weights = weights * old + sum(weight, keep_axis(1));
    sums = sums * old + dot(weight.to<bf16>(), load(v + at));
    highest = now;
  }
  store(out + q_at, (sums / weights).to<bf16>());
}

/// Seconds of the processor that compiling takes; a refusal has to say whose fault it is and what to do.
template <class K, class C> double seconds_of(const K &kernel, const C &config, size_t arguments) {
  const std::vector<ArgumentFacts> facts(arguments, {.divisibility = 16});
  const std::clock_t start = std::clock();
  const auto compiled = kernel.compile(config, facts, Device::simulator());
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const std::string outcome = compiled ? to_json((*compiled)->resources()) : compiled.error().text();
  if (!compiled) {
    EXPECT_EQ(compiled.error().owner, Owner::User) << outcome;
    EXPECT_FALSE(compiled.error().remedy.empty()) << outcome;
  }
  if (std::getenv("NEREID_SHOW_TIMES"))
    std::printf("%s: %.2f s, %s\n", kernel.name().c_str(), seconds, outcome.c_str());
  return seconds;
}

TEST(CompileTime, DifferencesOfLargeTiles) {
  for (int block : {1024, 8192, 16384, 24576, 32768}) {
    EXPECT_LT(seconds_of(Kernel("difference_i8", difference<i8>), TileConfig{block}, 2), max_seconds)
        << block;
    if (block <= 24576) {
      EXPECT_LT(seconds_of(Kernel("difference_i16", difference<i16>), TileConfig{block}, 2), max_seconds)
          << block;
    }
    EXPECT_LT(seconds_of(Kernel("difference_f32", difference<f32>), TileConfig{block}, 2), max_seconds)
        << block;
  }
}

TEST(CompileTime, NumbersOfLargeTiles) {
  for (int block = 1 << 12; block <= 1 << 20; block *= 4)
    EXPECT_LT(seconds_of(Kernel("numbers", numbers), TileConfig{block}, 1), max_seconds) << block;
}

TEST(CompileTime, RowsThatStayInRegisters) {
  for (int block = 2048; block <= 8192; block *= 2) {
    EXPECT_LT(seconds_of(Kernel("softmax", softmax), TileConfig{block}, 3), max_seconds) << block;
    EXPECT_LT(seconds_of(Kernel("running_sum", running_sum<f32>), TileConfig{block}, 2), max_seconds)
        << block;
  }
}

TEST(CompileTime, HalvesThatNearlyTakeTheRegisters) {
  EXPECT_LT(seconds_of(Kernel("difference_i16", difference<i16>), TileConfig{32768}, 2), max_seconds);
  EXPECT_LT(seconds_of(Kernel("below_bf16", below_maximum<bf16>), TileConfig{32768}, 2), max_seconds);
  EXPECT_LT(seconds_of(Kernel("below_f16", below_maximum<f16>), TileConfig{65536, 2}, 2), max_seconds);
}

TEST(CompileTime, RowsOfBytesAndHalves) {
  for (int block : {16384, 32768}) {
    EXPECT_LT(seconds_of(Kernel("sum_i8", running_sum<i8>), TileConfig{block}, 2), max_seconds) << block;
    EXPECT_LT(seconds_of(Kernel("below_i8", below_maximum<i8>), TileConfig{block}, 2), max_seconds) << block;
    EXPECT_LT(seconds_of(Kernel("below_f16", below_maximum<f16>), TileConfig{block}, 2), max_seconds)
        << block;
  }
}

TEST(CompileTime, CodeThatSpillsIsRight) {
  const TileConfig config{32768};
  const Device device = Device::simulator();
  std::vector<int8_t> in(config.block), expected;
  for (int i = 0; i < config.block; ++i)
    in[i] = static_cast<int8_t>((i * 37 + i / 251) % 101 - 60);
  for (const int8_t value : in)
    expected.push_back(static_cast<int8_t>(value - 40));
  const Buffer<int8_t> x = device.upload(in).value();
  const Buffer<int8_t> z = device.allocate<int8_t>(in.size()).value();
  const Kernel kernel("below_i8", below_maximum<i8>);
  const auto run = kernel(device.stream(), {1}, config, x, z);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_GT(run->resources().spills, 0u);
  EXPECT_EQ(z.to_host().value(), expected);
}

TEST(CompileTime, SumsOfManySlices) {
  for (int rows : {64, 128})
    for (int waves : {1, 2, 4})
      for (int slices : {4, 16})
        EXPECT_LT(seconds_of(Kernel("add_slices", add_slices),
                             ReduceConfig{.rows = rows, .slices = slices, .waves = waves}, 2),
                  max_seconds)
            << rows << " rows, " << slices << " slices, " << waves << " waves";
}

TEST(CompileTime, Attention) {
  for (const AttentionConfig &config : {AttentionConfig{64, 64, 64}, AttentionConfig{128, 64, 128}})
    EXPECT_LT(seconds_of(Kernel("attention", attention), config, 5), max_seconds)
        << config.queries << "x" << config.keys << " width " << config.width;
}

} // namespace
} // namespace nereid::test
