// What a launch refuses, how it ends, and what it takes as arguments.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

class Faults : public testing::TestWithParam<bool> {
protected:
  LaunchOptions options() const {
    LaunchOptions options;
    options.interpret = GetParam();
    return options;
  }
};

TEST_P(Faults, OutOfBoundsIsTheUsersWithTheLine) {
  const Device device = Device::simulator();
  const Kernel kernel("copy_unmasked", copy_unmasked);
  auto x = device.upload(std::vector<float>(300, 1.0f)).value();
  auto z = device.allocate<float>(300).value();
  auto run = kernel.launch(options(), device.stream(), {2}, AddConfig{.block = 256}, x, z);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User) << run.error().text();
  EXPECT_NE(run.error().where.file.find("sample_kernels.h"), std::string::npos) << run.error().text();
  // The device goes on.
  auto good = kernel.launch(options(), device.stream(), {1}, AddConfig{.block = 256}, x, z);
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_EQ(z.to_host().value()[255], 1.0f);
}

TEST_P(Faults, AnAddressOutsideNamesTheArgument) {
  const Device device = Device::simulator();
  const Kernel kernel("add", add);
  const auto x = device.upload(std::vector<float>(1024, 1.0F)).value();
  const auto small = device.upload(std::vector<float>(1000, 1.0F)).value();
  const auto z = device.allocate<float>(1024).value();
  const AddConfig config;
  const auto message = [&](const auto &...buffers) {
    const Result<LaunchInfo> run = kernel.launch(options(), device.stream(), {1}, config, buffers..., 1024);
    EXPECT_FALSE(run);
    return run ? "" : run.error().message;
  };
  EXPECT_NE(message(x, small, z).find("; argument 1 points 4000 bytes before that address"),
            std::string::npos)
      << message(x, small, z);
  EXPECT_NE(message(x, x, small).find("; argument 2 points 4000 bytes before that address"),
            std::string::npos)
      << message(x, x, small);
  // Far away from every allocation the nearest is of no interest.
  const std::string null = message(Buffer<float>(), x, z);
  EXPECT_NE(null.find("; argument 0 is null"), std::string::npos) << null;
  EXPECT_EQ(null.find("nearest"), std::string::npos) << null;
}

TEST_P(Faults, AnAddressBeforeTheBufferNamesTheArgumentToo) {
  const Device device = Device::simulator();
  const Kernel kernel(
      "before", +[](const AddConfig &, Ptr<const f32> x, Ptr<f32> z, Int first) {
        const Tile<i32> i = arange(0, 64);
        store(z + i, load(x + (first + i)));
      });
  const auto x = device.upload(std::vector<float>(64, 1.0F)).value();
  const auto z = device.allocate<float>(64).value();
  for (const auto &[first, argument] : {std::pair(-5, "; argument 0 points 20 bytes after that address"),
                                        {2000000000, "; argument 0 points 8000000000 bytes before that"}}) {
    auto run = kernel.launch(options(), device.stream(), {1}, AddConfig{.waves = 1}, x, z, first);
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find(argument), std::string::npos) << run.error().text();
    if (GetParam())
      continue;
    const Error &error = run.error();
    EXPECT_EQ(error.remedy.find("Mask the access, e.g. load(p, i < n)"), 0u) << error.remedy;
    EXPECT_EQ(error.remedy.find("32-bit arithmetic may have wrapped: NEREID_INTERPRET=1 finds") !=
                  std::string::npos,
              first > 0)
        << error.remedy;
    // Addresses come after all words.
    EXPECT_GT(error.message.find("0x"), error.message.find("lane ")) << error.message;
  }
}

TEST_P(Faults, AMisalignedPointerIsNoQuestionOfSizes) {
  const Device device = Device::simulator();
  const Kernel kernel(
      "counting", +[](const AddConfig &, Ptr<i32> out) { atomic_add(out + arange(0, 64), 1); });
  const auto out = device.allocate<int>(128).value();
  auto run = kernel.launch(options(), device.stream(), {1}, AddConfig{.waves = 1},
                           DevicePointer<int>{out.address() + 2});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User);
  EXPECT_NE(run.error().message.find("; argument 0 is that address"), std::string::npos)
      << run.error().text();
  EXPECT_NE(run.error().message.find("no multiple of 4"), std::string::npos) << run.error().text();
  EXPECT_NE(run.error().remedy.find("Align"), std::string::npos) << run.error().text();
  EXPECT_EQ(run.error().remedy.find("mask"), std::string::npos) << run.error().text();
}

TEST(Launch, GridsThatNoDeviceTakesAreRefused) {
  const Device device = Device::simulator();
  const Kernel kernel("asserting", asserting);
  const auto out = device.allocate<int>(1).value();
  const auto refusal = [&](Grid grid) {
    auto run = kernel(device.stream(), grid, AddConfig{}, out, 7);
    EXPECT_FALSE(run);
    EXPECT_TRUE(run || run.error().owner == Owner::User);
    return run ? "" : run.error().message;
  };
  EXPECT_EQ(refusal({1, 65536, 1}), "kernel 'asserting': the grid is 1 x 65536 x 1: y is more than 65535");
  EXPECT_EQ(refusal({1, 1, 65536}), "kernel 'asserting': the grid is 1 x 1 x 65536: z is more than 65535");
  EXPECT_EQ(refusal({uint32_t{1} << 31, 1, 1}),
            "kernel 'asserting': the grid is 2147483648 x 1 x 1: x is more than 2^31 - 1");
  EXPECT_EQ(refusal({0, 1, 1}), "kernel 'asserting': the grid is 0 x 1 x 1: it has no programs");
  EXPECT_EQ(refusal({-3, 1, 1}), "kernel 'asserting': the grid is -3 x 1 x 1: x is negative");
  EXPECT_EQ(refusal({1, 1, -1}), "kernel 'asserting': the grid is 1 x 1 x -1: z is negative");
  // Each in 32 bits, and their product in 64, is one that would do.
  EXPECT_EQ(refusal({(int64_t{1} << 32) + 1, 1, 1}),
            "kernel 'asserting': the grid is 4294967297 x 1 x 1: x is more than 2^31 - 1");
  EXPECT_EQ(refusal({1, int64_t{1} << 32, int64_t{1} << 32}),
            "kernel 'asserting': the grid is 1 x 4294967296 x 4294967296: y is more than 65535");
  EXPECT_EQ(
      refusal({Grid::max_x, 1, 1}),
      "kernel 'asserting': 2147483647 programs of 256 work-items in x are more than 2^32 - 1 work-items");
  EXPECT_TRUE((Grid{Grid::max_x, Grid::max_y_or_z, Grid::max_y_or_z}.check()));
  EXPECT_TRUE(kernel(device.stream(), {1, 300, 2}, AddConfig{}, out, 7));
}

TEST(Launch, PointersMovedOutOfTheAddressSpaceAreRefused) {
  const Device device = Device::simulator();
  const Kernel kernel("asserting", asserting);
  const auto out = device.allocate<int>(4).value();
  for (const DevicePointer<int> pointer : {out.at(SIZE_MAX / 4 + 1), out.at() + INT64_MAX}) {
    auto run = kernel(device.stream(), {1}, AddConfig{}, pointer, 7);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().owner, Owner::User);
    EXPECT_EQ(run.error().message,
              "kernel 'asserting': argument 0 was moved beyond the address space of 2^64 bytes");
  }
}

/// Runs through n iterations.
void endless(const AddConfig &, Ptr<i32> out, Int n) {
  for (Int i : range(0, n))
    store(out + i % 16, i);
}

TEST(Budget, EndsALaunchAndSaysWhatRaisesIt) {
  const Kernel kernel("endless", endless);
  const auto run = [&](const Device &device) {
    const auto out = device.allocate<int>(16).value();
    return kernel(device.stream(), {1}, AddConfig{.waves = 1}, out, 2000);
  };
  auto ended = run(Device::simulator({.budget = 1000}));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().owner, Owner::User);
  EXPECT_NE(ended.error().message.find("the launch executed its 1000 instructions"), std::string::npos)
      << ended.error().text();
  EXPECT_NE(ended.error().remedy.find("NEREID_SIM_BUDGET"), std::string::npos) << ended.error().text();
  EXPECT_TRUE(run(Device::simulator()));
  {
    ScopedEnvironment budget("NEREID_SIM_BUDGET", "1000");
    EXPECT_FALSE(run(Device::simulator()));
    EXPECT_TRUE(run(Device::simulator({.budget = 1000000})));
  }
  for (const char *bad : {"0", "many", "-1", "10k", "99999999999999999999"}) {
    ScopedEnvironment budget("NEREID_SIM_BUDGET", bad);
    auto refused = run(Device::simulator());
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().owner, Owner::User);
    EXPECT_EQ(refused.error().message, fmt::format("NEREID_SIM_BUDGET is '{}'", bad));
  }
}

TEST(Arguments, IntegersOfTheSameBitsServeForElementsWithoutATypeOfTheHost) {
  using jit::MemoryFor;
  static_assert(MemoryFor<uint16_t, bf16> && MemoryFor<uint16_t, f16> && MemoryFor<uint8_t, i1>);
  static_assert(MemoryFor<bf16, bf16> && MemoryFor<std::byte, bf16> && MemoryFor<float, f32>);
  static_assert(!MemoryFor<int16_t, bf16> && !MemoryFor<f16, bf16> && !MemoryFor<bf16, uint16_t>);
  static_assert(!MemoryFor<uint32_t, f32> && !MemoryFor<uint8_t, int8_t> && !MemoryFor<uint16_t, f32>);
  const Device device = Device::simulator();
  const Kernel kernel(
      "select",
      +[](const AddConfig &, Ptr<const i1> mask, Ptr<const bf16> a, Ptr<const f16> b, Ptr<bf16> out) {
        const Tile<i32> i = arange(0, 4);
        store(out + i, where(load(mask + i), load(a + i), load(b + i).to<bf16>()));
      });
  const auto mask = device.upload(std::vector<uint8_t>{1, 0, 255, 0}).value();
  const auto a = device.upload(std::vector<uint16_t>(4, 0x3f80)).value(); // 1 in bf16
  const auto b = device.upload(std::vector<uint16_t>(4, 0x4000)).value(); // 2 in f16
  const auto out = device.allocate<uint16_t>(4).value();
  for (const bool interpret : {false, true}) {
    auto run = kernel.launch({interpret}, device.stream(), {1}, AddConfig{.waves = 1}, mask, a.at(), b, out);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(out.to_host().value(), (std::vector<uint16_t>{0x3f80, 0x4000, 0x3f80, 0x4000}));
  }
}

TEST_P(Faults, AFailedAssertionSaysItsMessage) {
  const Device device = Device::simulator();
  const Kernel kernel("asserting", asserting);
  auto out = device.allocate<int>(1).value();
  auto good = kernel.launch(options(), device.stream(), {1}, AddConfig{}, out, 99);
  ASSERT_TRUE(good) << good.error().text();
  auto run = kernel.launch(options(), device.stream(), {1}, AddConfig{}, out, 101);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User) << run.error().text();
  EXPECT_NE(run.error().message.find("n is below one hundred"), std::string::npos) << run.error().text();
  EXPECT_NE(run.error().where.file.find("sample_kernels.h"), std::string::npos) << run.error().text();
}

INSTANTIATE_TEST_SUITE_P(On, Faults, testing::Bool(),
                         [](const auto &info) { return info.param ? "Interpreter" : "Simulator"; });

} // namespace
} // namespace nereid::test
