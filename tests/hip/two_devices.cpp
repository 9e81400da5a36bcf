// Two GPUs: copies between them, and launches on memory of the other one.
#include <gtest/gtest.h>

#include "tests/hip/hip_support.h"
#include "tests/jit/each_device.h"

namespace nereid::test {
namespace {

TEST(TwoGpus, CopyBetweenTheirBuffers) {
  const Device one = Device::hip(0).value(), two = Device::hip(1).value();
  EXPECT_FALSE(one == two);
  const Buffer<int> from = one.upload(std::vector<int>{1, 2, 3, 4}).value();
  Buffer<int> to = two.allocate<int>(3).value();
  const Stream stream = two.new_stream().value();
  ASSERT_TRUE(to.copy_from_async(stream, from, 2, 1, 2));
  ASSERT_TRUE(to.fill_async(stream, 9, 0, 1));
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(to.to_host().value(), (std::vector<int>{9, 3, 4}));
  EXPECT_USER_ERROR(to.copy_from_async(one.stream(), from, 1), "another device than the stream");
  const Device simulator = Device::simulator();
  const Buffer<int> elsewhere = simulator.upload(std::vector<int>{1}).value();
  EXPECT_USER_ERROR(to.copy_from_async(stream, elsewhere, 1), "from a simulator to a GPU");
}

TEST(TwoGpus, LaunchOnEachOthersMemoryOnceTheyMay) {
  const Device one = passing_hip_device(0).value(), two = passing_hip_device(1).value();
  const int n = 700;
  const AddConfig config{.block = 512};
  const Kernel kernel("add", add);
  const Buffer<float> x = one.upload(std::vector<float>(n, 2.0F)).value();
  const Buffer<float> z = two.allocate<float>(n).value();
  const auto launch = [&] { return kernel(two.stream(), {programs(n, config)}, config, x, x, z, n); };
  EXPECT_USER_ERROR(launch(), "argument 0 lives on another device");
  EXPECT_TRUE(two.can_access(one).value());
  ASSERT_TRUE(two.enable_access(one));
  ASSERT_TRUE(two.enable_access(one)) << "a second time";
  ASSERT_TRUE(launch());
  ASSERT_TRUE(two.synchronize());
  EXPECT_EQ(z.to_host().value(), std::vector<float>(n, 4.0F));
  // Memory of a pool, too, which is made after that.
  Buffer<float> pooled = one.stream().allocate<float>(n).value();
  ASSERT_TRUE(pooled.fill_async(one.stream(), 5.0F));
  ASSERT_TRUE(one.synchronize());
  ASSERT_TRUE(kernel(two.stream(), {programs(n, config)}, config, pooled, pooled, z, n));
  ASSERT_TRUE(two.synchronize());
  EXPECT_EQ(z.to_host().value(), std::vector<float>(n, 10.0F));
  EXPECT_FALSE(two.can_access(Device::simulator()).value());
}

TEST(TwoGpus, RefuseEachOthersEventsAndGraphs) {
  const Device one = Device::hip(0).value(), two = Device::hip(1).value();
  const Event here = one.stream().record().value(), there = two.stream().record().value();
  EXPECT_USER_ERROR(here.milliseconds_until(there), "events of two devices");
  EXPECT_USER_ERROR(one.stream().wait(there), "an event of another device");
  const Graph graph = one.new_stream()->capture([]() -> Status { return {}; }).value();
  const Graph other = two.new_stream()->capture([]() -> Status { return {}; }).value();
  EXPECT_USER_ERROR(graph.launch(two.stream()), "on a stream of another");
  EXPECT_USER_ERROR(graph.update(other), "another device");
}

} // namespace
} // namespace nereid::test
