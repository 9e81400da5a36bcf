// What is asked of a temporary outlives it, or does not compile.
#include <concepts>

#include <gtest/gtest.h>

#include "jit/cache/disk_cache.h"
#include "kernels/device_memory.h"
#include "sim/execution.h"
#include "sim/launch_file.h"
#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

/// Whether `ask` takes an object that has a name, and one that has none.
template <class T, class Ask>
constexpr bool only_named = std::invocable<Ask, T &> && !std::invocable<Ask, T &&>;

#define ASK(...)                                                                                             \
  decltype([](auto &&it) -> decltype(static_cast<decltype(it)>(it).__VA_ARGS__) { std::abort(); })

static_assert(only_named<Buffer<float>, ASK(at())>);
static_assert(only_named<const Buffer<float>, ASK(at(1))>);
static_assert(only_named<Buffer<float>, ASK(device())>);
static_assert(only_named<Device, ASK(interface())>);
static_assert(only_named<Stream, ASK(interface())>);
static_assert(only_named<Stream, ASK(state())>);
static_assert(only_named<sim::CodeObject, ASK(program())>);
static_assert(only_named<sim::CodeObject, ASK(image())>);
static_assert(only_named<sim::CodeObject, ASK(relocations())>);
static_assert(only_named<sim::CodeObject, ASK(kernel(""))>);
static_assert(only_named<sim::Execution, ASK(wave())>);
static_assert(only_named<sim::Execution, ASK(waves())>);
static_assert(only_named<sim::Execution, ASK(lds())>);
static_assert(only_named<sim::Execution, ASK(memory())>);
static_assert(only_named<sim::Execution, ASK(instruction())>);
static_assert(only_named<sim::LaunchFile, ASK(buffer("a"))>);
static_assert(std::constructible_from<kernels::DeviceMemory, Buffer<float> &>);
static_assert(!std::constructible_from<kernels::DeviceMemory, Buffer<float>>);

/// Whether a temporary of type T gives a value for what `ask` asks.
template <class T, class Ask> constexpr bool gives_value = std::is_object_v<std::invoke_result_t<Ask, T &&>>;

static_assert(gives_value<LaunchInfo, ASK(kernel())>);
static_assert(gives_value<LaunchInfo, ASK(config())>);
static_assert(gives_value<LaunchInfo, ASK(resources())>);
static_assert(gives_value<CompiledKernel, ASK(name())>);
static_assert(gives_value<CompiledKernel, ASK(config())>);
static_assert(gives_value<CompiledKernel, ASK(key())>);
static_assert(gives_value<CompiledKernel, ASK(compiler())>);
static_assert(gives_value<CompiledKernel, ASK(resources())>);
static_assert(gives_value<CompiledKernel, ASK(times())>);
static_assert(gives_value<ir::Function, ASK(type(0))>);
static_assert(gives_value<ir::Function, ASK(location(ir::Op()))>);
static_assert(gives_value<jit::DiskCache, ASK(directory())>);
static_assert(gives_value<sim::CodeObject, ASK(kernels())>);
static_assert(gives_value<sim::Execution, ASK(fault())>);

constexpr const char *long_name = "a_kernel_whose_name_does_not_fit_into_the_string_itself";

/// A kernel that nobody else holds: its device is gone too.
std::shared_ptr<const CompiledKernel> only_owner() {
  return Kernel(long_name, add).compile({}, {}, Device::simulator()).value();
}

TEST(Lifetime, WhatAKernelSaysOutlivesIt) {
  const std::string &name = only_owner()->name();
  const std::string &config = only_owner()->config();
  const Resources &resources = only_owner()->resources();
  const SharedBytes code = only_owner()->code_object();
  EXPECT_EQ(name, long_name);
  EXPECT_EQ(config, "block=1024,waves=4");
  EXPECT_GT(resources.vgpr, 0u);
  ASSERT_GT(code.size(), 64u);
  EXPECT_EQ(code[1], 'E');
  size_t bytes = 0;
  for (const uint8_t byte : only_owner()->code_object())
    bytes += byte == code[bytes] ? 1 : 0;
  EXPECT_EQ(bytes, code.size());
}

TEST(Lifetime, WhatALaunchSaysOutlivesIt) {
  const auto launch = [] {
    const Device device = Device::simulator();
    const auto x = device.upload(std::vector<float>(1024, 1.0F)).value();
    const auto z = device.allocate<float>(1024).value();
    return Kernel(long_name, add)(device.stream(), {1}, AddConfig{}, x, x, z, 1024).value();
  };
  const std::string &kernel = launch().kernel();
  const Resources &resources = launch().resources();
  EXPECT_EQ(kernel, long_name);
  EXPECT_GT(resources.vgpr, 0u);
}

TEST(Lifetime, CandidatesKeepNumbersAndPointers) {
  const Device device = Device::simulator();
  const Kernel kernel("add", add);
  const Buffer<float> x = device.upload(std::vector<float>(1024, 1.0F)).value();
  const Buffer<float> z = device.allocate<float>(1024).value();
  const auto make = [&] {
    const int n = 1024;
    return candidate(kernel, device.stream(), {1}, AddConfig{}, x, x.at(), z, n);
  };
  static_assert(std::same_as<jit::KeptArgument<Buffer<float>>, const Buffer<float> &>);
  static_assert(std::same_as<jit::KeptArgument<DevicePointer<float>>, DevicePointer<float>>);
  const TuneCandidate kept = make();
  ASSERT_TRUE(kept.compile(device));
  const auto run = kept.run();
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(z.to_host().value(), std::vector<float>(1024, 2.0F));
}

} // namespace
} // namespace nereid::test
