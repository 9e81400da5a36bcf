// Loops whose step only the launch knows: compiled code makes no iteration where it is not positive, the
// interpreter names the loop.
#include <limits>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

struct LoopConfig {
  int stages = 1;
  int waves = 1;
  int wave_split = 0;
  NEREID_CONFIG(LoopConfig, stages, waves, wave_split)
};
using Body = void (*)(const LoopConfig &, Ptr<const bf16>, Ptr<f32>, Int, Int);

constexpr int rows_of_x = 64;

void plain(const LoopConfig &, Ptr<const bf16>, Ptr<f32> z, Int last, Int step) {
  Var count = full<f32>({}, 1);
  for (Int i : range(0, last, step))
    count += i.to<f32>() + 1.0F;
  store(z, count);
}
void wide(const LoopConfig &, Ptr<const bf16>, Ptr<f32> z, Int last, Int step) {
  Var count = full<f32>({}, 1);
  for (Long i : range(0, last.to<i64>(), step.to<i64>()))
    count += i.to<f32>() + 1.0F;
  store(z, count);
}
/// Register prefetch where stages are more than one.
void loads(const LoopConfig &, Ptr<const bf16> x, Ptr<f32> z, Int last, Int step) {
  const Tile<i32> i = arange(0, 64);
  Var sum = full<f32>({64}, 1);
  for (Int row : range(0, last, step))
    sum += load(x + (row * 64 + i)).to<f32>();
  store(z + i, sum);
}
/// Split over the waves where wave_split is k.
void products(const LoopConfig &, Ptr<const bf16> x, Ptr<f32> z, Int last, Int step) {
  Var sum = zeros<f32>({16, 16});
  for (Int row : range(0, last, step)) {
    const Tile<bf16> a = load(x + (row * 64 + rows(16) * 32 + cols(32)));
    sum += dot(a, trans(a));
  }
  store(z + (rows(16) * 16 + cols(16)), sum + 1.0F);
}

struct Row {
  const char *name;
  Body body;
  LoopConfig config;
};

class RangeStep : public ::testing::TestWithParam<Row> {
protected:
  /// z after a launch.
  static Result<std::vector<float>> run(bool interpret, int last, int step) {
    const Device device = Device::simulator({.threads = 1, .budget = 10'000'000});
    std::vector<uint16_t> data(64 * (rows_of_x + 16));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<uint16_t>(0x3f80 + (i % 3 << 7)); // 1, 2, 4
    const auto x = device.upload(data).value();
    auto z = device.upload(std::vector<float>(256, 42)).value();
    NEREID_TRY(const LaunchInfo info,
               Kernel("loop", GetParam().body)
                   .launch({interpret}, device.stream(), {1}, GetParam().config, x, z, last, step));
    (void)info;
    return z.to_host();
  }
};

TEST_P(RangeStep, NotPositiveMakesNoIteration) {
  const auto none = run(false, 0, 5);
  ASSERT_TRUE(none.ok()) << none.error().text();
  for (const int step : {0, -1, -7, -16, std::numeric_limits<int>::min()}) {
    const auto compiled = run(false, rows_of_x, step);
    ASSERT_TRUE(compiled.ok()) << step << compiled.error().text();
    EXPECT_EQ(*compiled, *none) << step;
    const auto interpreted = run(true, rows_of_x, step);
    ASSERT_FALSE(interpreted.ok()) << step;
    EXPECT_NE(interpreted.error().message.find("the step of the loop is " + std::to_string(step)),
              std::string::npos)
        << interpreted.error().message;
    EXPECT_TRUE(interpreted.error().where.file.ends_with("range_step_test.cpp"));
  }
}

TEST_P(RangeStep, PositiveIsAsInterpreted) {
  for (const int step : {1, 3, 16, 64, std::numeric_limits<int>::max()}) {
    const auto compiled = run(false, rows_of_x, step), interpreted = run(true, rows_of_x, step);
    ASSERT_TRUE(compiled.ok()) << step << compiled.error().text();
    ASSERT_TRUE(interpreted.ok()) << step << interpreted.error().text();
    EXPECT_EQ(*compiled, *interpreted) << step;
  }
}

const Row rows[] = {
    {"Plain", plain, {}},
    {"Wide", wide, {}},
    {"Loads", loads, {}},
    {"Prefetched", loads, {.stages = 3}},
    {"Products", products, {.stages = 2, .waves = 2}},
    {"SplitOverWaves", products, {.stages = 2, .waves = 4, .wave_split = 2}},
};
INSTANTIATE_TEST_SUITE_P(Each, RangeStep, ::testing::ValuesIn(rows),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace nereid::test
