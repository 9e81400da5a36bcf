// One kernel by every way of running it: devices, waves, streams, odd addresses, checks.
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

struct Vectors {
  std::vector<float> x, y;
  Buffer<float> device_x, device_y, device_z;

  Vectors(const Device &device, int n) {
    for (int i = 0; i < n; ++i) {
      x.push_back(0.5f * static_cast<float>(i));
      y.push_back(1.0f / static_cast<float>(i + 1));
    }
    device_x = device.upload(x).value();
    device_y = device.upload(y).value();
    device_z = device.allocate<float>(x.size()).value();
    EXPECT_TRUE(device_z.fill(std::nanf("")));
  }
  void expect_sum() const {
    const std::vector<float> z = device_z.to_host().value();
    for (size_t i = 0; i < z.size(); ++i)
      ASSERT_EQ(z[i], x[i] + y[i]) << i;
  }
};

TEST(VectorAdd, RunsOnTheSimulator) {
  const Device device = Device::simulator();
  const int n = 5000;
  Vectors v(device, n);
  const Kernel kernel("add", add);
  const AddConfig config;
  auto run = kernel(device.stream(), {programs(n, config)}, config, v.device_x, v.device_y, v.device_z, n);
  ASSERT_TRUE(run) << run.error().text();
  v.expect_sum();
  EXPECT_EQ(run->kernel(), "add");
  EXPECT_EQ(run->config(), "block=1024,waves=4");
  EXPECT_EQ(run->grid, Grid{5});
  EXPECT_EQ(run->block()[0], 256u);
  EXPECT_FALSE(run->interpreted);
  EXPECT_GT(run->resources().vgpr, 0u);
  EXPECT_EQ(run->resources().scratch, 0u);
  EXPECT_EQ(run->resources().occupancy, 8u);
  ASSERT_TRUE(run->instructions);
  EXPECT_GT(run->instructions->vmem_load, 0u);
  EXPECT_GT(run->instructions->longest_wave, 0u);
  EXPECT_LT(run->instructions->longest_wave, run->instructions->total);
}

TEST(VectorAdd, RunsInTheInterpreter) {
  const Device device = Device::simulator();
  const int n = 3001;
  Vectors v(device, n);
  const Kernel kernel("add", add);
  const AddConfig config{.block = 256};
  LaunchOptions options;
  options.interpret = true;
  auto run = kernel.launch(options, device.stream(), {programs(n, config)}, config, v.device_x, v.device_y,
                           v.device_z, n);
  ASSERT_TRUE(run) << run.error().text();
  v.expect_sum();
  EXPECT_TRUE(run->interpreted);
  EXPECT_FALSE(run->instructions);
  EXPECT_EQ(run->resources(), Resources{});
}

TEST(VectorAdd, RunsWithEveryNumberOfWaves) {
  const Device device = Device::simulator();
  const int n = 2048 + 7;
  const Kernel kernel("add", add);
  for (int waves : {1, 2, 4, 8, 16}) {
    Vectors v(device, n);
    const AddConfig config{.block = 1024, .waves = waves};
    auto run = kernel(device.stream(), {programs(n, config)}, config, v.device_x, v.device_y, v.device_z, n);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(run->block()[0], 64u * static_cast<unsigned>(waves));
    v.expect_sum();
  }
}

TEST(VectorAdd, RunsOnSeveralStreamsAtOnce) {
  const Device device = Device::simulator();
  const Kernel kernel("add", add);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Stream stream = device.new_stream().value();
      const int n = 1000 + 333 * t;
      const AddConfig config{.block = 256 << (t % 2)};
      for (int repeat = 0; repeat < 3; ++repeat) {
        Vectors v(device, n);
        auto run = kernel(stream, {programs(n, config)}, config, v.device_x, v.device_y, v.device_z, n);
        ASSERT_TRUE(run) << run.error().text();
        ASSERT_TRUE(stream.synchronize());
        v.expect_sum();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(VectorAdd, RunsFromAnOddAddress) {
  const Device device = Device::simulator();
  const int n = 100;
  Vectors v(device, n + 1);
  const Kernel kernel("add", add);
  const AddConfig config{.block = 128, .waves = 1};
  auto run = kernel(device.stream(), {1}, config, v.device_x.at(1), v.device_y.at(1), v.device_z.at(1), n);
  ASSERT_TRUE(run) << run.error().text();
  const std::vector<float> z = v.device_z.to_host().value();
  EXPECT_TRUE(std::isnan(z[0]));
  for (size_t i = 1; i < z.size(); ++i)
    ASSERT_EQ(z[i], v.x[i] + v.y[i]) << i;
}

TEST(VectorAdd, ChecksOfTheSimulatorAreAskedForByTheDevice) {
  const Device device = Device::simulator({.checks = "undefined,wait"});
  const int n = 1000;
  Vectors v(device, n);
  const Kernel kernel("add", add);
  const AddConfig config;
  const auto sum_of = [&](const Buffer<float> &x) {
    return kernel(device.stream(), {programs(n, config)}, config, x, v.device_y, v.device_z, n);
  };
  auto defined = sum_of(v.device_x);
  ASSERT_TRUE(defined) << defined.error().text();
  v.expect_sum();
  const Buffer<float> raw = device.allocate<float>(n).value();
  auto undefined = sum_of(raw);
  ASSERT_FALSE(undefined);
  EXPECT_NE(undefined.error().message.find("undefined: what is stored from"), std::string::npos)
      << undefined.error().text();
}

TEST(VectorAdd, AnUnknownCheckIsAnErrorOfTheLaunch) {
  const Device device = Device::simulator({.checks = "undefined,speed"});
  Vectors v(device, 16);
  const Kernel kernel("add", add);
  const AddConfig config;
  auto run = kernel(device.stream(), {programs(16, config)}, config, v.device_x, v.device_y, v.device_z, 16);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User);
  EXPECT_NE(run.error().message.find("there is no check 'speed'"), std::string::npos) << run.error().text();
}

} // namespace
} // namespace nereid::test
