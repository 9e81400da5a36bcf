// What the HIP device says of GPUs and of HIP's errors, and what it leaves as it was.
#include <gtest/gtest.h>

#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"
#include "tests/hip/hip_support.h"
#include "tests/jit/each_device.h"

namespace nereid::test {
namespace {

/// Before HIP reads it.
const int two_devices = setenv("NEREID_HIP_DEVICES", "2", /*overwrite=*/1);

constexpr int out_of_memory = 2, invalid_value = 1, no_device = 100, illegal_address = 700,
              launch_failure = 719, unknown = 999;

/// x + x over 1000 elements.
struct Doubled {
  static constexpr int n = 1000;
  AddConfig config{.block = 512};
  Kernel<add> kernel;
  Buffer<float> x, z;

  explicit Doubled(const Device &device)
      : x(device.upload(std::vector<float>(n, 1.5F)).value()), z(device.allocate<float>(n).value()) {}
  Result<LaunchInfo> launch(const Stream &stream) const {
    return kernel(stream, {programs(n, config)}, config, x, x, z, n);
  }
  std::vector<float> result() const { return z.to_host().value(); }
  static std::vector<float> expected() { return std::vector<float>(n, 3.0F); }
};

TEST(Hip, IsTheBestDevice) {
  EXPECT_EQ(Device::best(), Device::hip().value());
  EXPECT_EQ(Device::best(), Device::hip(0).value());
  EXPECT_EQ(devices()[0].detail, Device::best().name());
  EXPECT_NE(Device::best().name().find("(gfx950:sramecc+:xnack-, 256 compute units)"), std::string::npos)
      << Device::best().name();
}

TEST(Hip, LooksAtAllGpusForTheFirstThatServes) {
  fail_next("hipGetDevicePropertiesR0600", no_device);
  const Result<Device> first = Device::hip();
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(*first, Device::hip(1).value());
  const Result<Device> then = Device::hip();
  ASSERT_TRUE(then) << then.error().text();
  EXPECT_EQ(*then, Device::hip(0).value());
}

TEST(Hip, SaysWhichGpusThereAre) {
  const Result<Device> third = Device::hip(2);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().message, "there is no GPU 2: this machine has 2");
  fail_next("hipInit", no_device);
  const Result<Device> none = Device::hip();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().owner, Owner::Environment);
  EXPECT_NE(none.error().message.find("finds no GPU: hipInit"), std::string::npos) << none.error().text();
}

TEST(Hip, LeavesTheThreadsCurrentDeviceAndLastError) {
  ASSERT_EQ(hip().hipSetDevice(1), 0);
  {
    const Device device = Device::hip(0).value();
    const Doubled doubled(device);
    ASSERT_TRUE(doubled.launch(device.stream()));
    EXPECT_EQ(current_gpu(), 1);
    EXPECT_EQ(doubled.result(), Doubled::expected());
    const Stream stream = device.new_stream().value();
    EXPECT_TRUE(stream.allocate<float>(10));
    EXPECT_TRUE(stream.record()->milliseconds_until(stream.record().value()));
    EXPECT_EQ(current_gpu(), 1);
    EXPECT_FALSE(device.allocate(uint64_t{1} << 50));
    EXPECT_EQ(current_gpu(), 1);
    EXPECT_EQ(hip().hipGetLastError(), 0);
  }
  EXPECT_EQ(current_gpu(), 1);
  ASSERT_EQ(hip().hipSetDevice(0), 0);
}

TEST(Hip, MakesItsGpuCurrentOnlyWhereItIsNot) {
  const Device device = Device::hip(0).value();
  const Doubled doubled(device);
  ASSERT_TRUE(doubled.launch(device.stream()));
  const uint64_t before = nereid_hip_calls("hipSetDevice");
  ASSERT_TRUE(doubled.launch(device.stream()));
  EXPECT_EQ(nereid_hip_calls("hipSetDevice"), before);
}

TEST(Hip, OutOfMemoryReadsAsOnTheSimulator) {
  const auto message = [](const Device &device) {
    const Result<Buffer<std::byte>> refused = device.allocate(uint64_t{1} << 50);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().owner, Owner::User);
    EXPECT_EQ(refused.error().remedy, "Free buffers or use smaller ones");
    return refused.error().message;
  };
  const uint64_t memory = uint64_t{288} << 30;
  const Device simulator = Device::simulator({.memory = memory});
  const Device gpu = passing_hip_device(1).value();
  EXPECT_EQ(message(simulator), "out of simulated device memory: 1125899906842624 bytes asked, 0 of "
                                "309237645312 in use");
  EXPECT_EQ(message(gpu), "out of device memory: 1125899906842624 bytes asked, 0 of 309237645312 in use");
}

TEST(Hip, AFailedLaunchNamesTheKernel) {
  const Device device = Device::hip().value();
  const Doubled doubled(device);
  ASSERT_TRUE(doubled.launch(device.stream()));
  fail_next("hipModuleLaunchKernel", launch_failure);
  const Result<LaunchInfo> failed = doubled.launch(device.stream());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().owner, Owner::User);
  EXPECT_NE(failed.error().message.find("kernel 'add': launching 2 x 1 x 1 programs of 256 work-items: "
                                        "hipModuleLaunchKernel: "),
            std::string::npos)
      << failed.error().text();
  EXPECT_FALSE(failed.error().remedy.empty());
  EXPECT_TRUE(doubled.launch(device.stream()));
}

TEST(Hip, ErrorsHaveTheOwnerOfTheirCode) {
  const Device device = Device::hip().value();
  Buffer<int> buffer = device.allocate<int>(4).value();
  const std::vector<int> data(4);
  const auto error = [&](int code) {
    fail_next("hipMemcpyAsync", code);
    const Status status = buffer.copy_from_host(data);
    EXPECT_FALSE(status);
    return status ? Error{} : status.error();
  };
  EXPECT_EQ(error(invalid_value).owner, Owner::User);
  EXPECT_EQ(error(illegal_address).owner, Owner::User);
  EXPECT_EQ(error(no_device).owner, Owner::Environment);
  EXPECT_EQ(error(900).owner, Owner::User);
  EXPECT_EQ(error(unknown).owner, Owner::Device);
  for (const int code : {invalid_value, illegal_address, no_device, 900, unknown}) {
    const Error each = error(code);
    EXPECT_NE(each.message.find("a copy of 16 bytes to the device: hipMemcpyAsync: "), std::string::npos)
        << each.message;
    EXPECT_NE(each.message.find("(" + std::to_string(code) + ")"), std::string::npos) << each.message;
    EXPECT_FALSE(each.remedy.empty());
  }
}

TEST(Hip, TakesStreamsOfOthersAndLeavesThemAlive) {
  const Device device = Device::hip().value();
  void *theirs = nullptr;
  ASSERT_EQ(hip().hipStreamCreateWithFlags(&theirs, 0), 0);
  {
    const Stream stream = device.external_stream(theirs).value(),
                 again = device.external_stream(theirs).value();
    EXPECT_EQ(stream.state(), again.state());
    const Doubled doubled(device);
    ASSERT_TRUE(doubled.launch(stream));
    ASSERT_TRUE(stream.synchronize());
    EXPECT_EQ(doubled.result(), Doubled::expected());
    EXPECT_USER_ERROR(Device::hip(1)->external_stream(theirs),
                      "the stream is of GPU 0, and the device is GPU 1");
    const Stream null = device.external_stream(nullptr).value();
    EXPECT_EQ(null.state(), nullptr);
  }
  EXPECT_EQ(hip().hipStreamSynchronize(theirs), 0) << "the stream was destroyed";
  EXPECT_EQ(hip().hipStreamDestroy(theirs), 0);
}

/// As PyTorch captures: by HIP itself, in the mode that forbids allocations.
TEST(Hip, IsCapturedByOthers) {
  using namespace kernels;
  const Device device = Device::hip().value();
  void *theirs = nullptr;
  ASSERT_EQ(hip().hipStreamCreateWithFlags(&theirs, 1), 0);
  const ProblemSize size{20, 48, 1056};
  const host::Problem problem = host::random_problem(size.m, size.n, size.k, 3);
  const auto a = device.upload(problem.a).value();
  const auto b = device.upload(problem.b).value(), b_scales = device.upload(problem.b_scales).value();
  Buffer<uint16_t> c = device.allocate<uint16_t>(size.m * size.n).value();
  ASSERT_TRUE(c.fill(0xffff));
  {
    const Stream stream = device.external_stream(theirs).value();
    Mxfp4Linear linear(device);
    ASSERT_TRUE(linear.prepare(stream, {a, b, b_scales, c}, size, GemmPath::Workspace));
    void *graph = nullptr, *executable = nullptr;
    ASSERT_EQ(hip().hipStreamBeginCapture(theirs, 0), 0);
    EXPECT_TRUE(stream.is_capturing().value());
    const Result<LinearReport> report = linear(stream, {a, b, b_scales, c}, size, GemmPath::Workspace);
    ASSERT_EQ(hip().hipStreamEndCapture(theirs, &graph), 0);
    ASSERT_TRUE(report) << report.error().text();
    linear.trim();
    EXPECT_GT(linear.held().workspace_bytes, 0U) << "the graph works in it";
    ASSERT_EQ(hip().hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), 0);
    ASSERT_EQ(hip().hipGraphLaunch(executable, theirs), 0);
    ASSERT_EQ(hip().hipStreamSynchronize(theirs), 0);
    EXPECT_TRUE(host::compare(c.to_host().value(), problem.exact).passed());
    EXPECT_EQ(hip().hipGraphExecDestroy(executable), 0);
    EXPECT_EQ(hip().hipGraphDestroy(graph), 0);
  }
  EXPECT_EQ(hip().hipStreamDestroy(theirs), 0);
}

} // namespace
} // namespace nereid::test
