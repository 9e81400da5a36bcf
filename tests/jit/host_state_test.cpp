// The state of the host that a program may have changed: floating-point settings, threads, buffers that other
// threads free. Results are what they are without.
#include <atomic>
#include <cfenv>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"
#include "tests/support/hostile_floats.h"
#include "tests/support/no_threads.h"

namespace nereid::test {
namespace {

constexpr int size = 256;

/// Rounds, divides, goes through denormals, bf16 and an exponential.
void numbers(const AddConfig &c, Ptr<const f32> x, Ptr<f32> z) {
  const Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  const Tile<f32> v = load(x + i);
  const Tile<f32> tiny = v * 1e-38F * 1e-3F;
  store(z + i, (v / 3.0F).to<bf16>().to<f32>() + exp2(v * 0.01F) + v * 0.1F + tiny * 1e38F + tiny);
}

std::vector<uint32_t> result_of(const Device &device, bool interpret, int programs = 4) {
  std::vector<float> x(static_cast<size_t>(programs) * size);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i) - 100.0F;
  const auto in = device.upload(x).value();
  const auto out = device.allocate<float>(x.size()).value();
  const auto run = Kernel("numbers", numbers)
                       .launch({interpret}, device.stream(), {programs}, AddConfig{.block = size}, in, out);
  EXPECT_TRUE(run) << run.error().text();
  const std::vector<float> values = out.to_host().value();
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

class HostState : public ::testing::TestWithParam<bool> {};

TEST_P(HostState, FloatingPointSettingsDoNotMatterAndStay) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off"); // compiled under the settings too
  const std::vector<uint32_t> expected = result_of(Device::simulator(), GetParam());
  for (const HostileFloats::Kind kind : HostileFloats::kinds) {
    const Device device = Device::simulator({.threads = 3});
    std::vector<uint32_t> result;
    {
      const HostileFloats hostile(kind);
      result = result_of(device, GetParam());
      EXPECT_TRUE(hostile.in_force());
    }
    EXPECT_EQ(result, expected) << static_cast<int>(kind);
  }
}

TEST_P(HostState, AKernelIsBuiltWhereInexactResultsTrap) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  const Device device = Device::simulator();
  const auto in = device.allocate<float>(size).value(), out = device.allocate<float>(size).value();
  const Kernel kernel("numbers", numbers);
  const LaunchOptions options{.interpret = GetParam(), .prepare = true};
  std::fenv_t before;
  std::fegetenv(&before);
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_INEXACT);
  const auto built = kernel.launch(options, device.stream(), {1}, AddConfig{.block = size}, in, out);
  const bool trapped = fegetexcept() == FE_INEXACT;
  std::fesetenv(&before);
  EXPECT_TRUE(built) << built.error().text();
  EXPECT_TRUE(trapped) << "the program's settings stay";
}

TEST_P(HostState, WithoutThreadsTheCallerRunsAll) {
  const Device device = Device::simulator({.threads = 4});
  const std::vector<uint32_t> expected = result_of(device, GetParam());
  const NoThreads none;
  EXPECT_EQ(result_of(device, GetParam()), expected);
}

INSTANTIATE_TEST_SUITE_P(Each, HostState, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "Interpreter" : "Simulator"; });

void long_sum(const AddConfig &c, Ptr<const f32> x, Ptr<f32> z, Int rounds) {
  const Tile<i32> i = arange(0, c.block);
  Var sum = zeros<f32>({c.block});
  for (Int round : range(0, rounds))
    sum += load(x + i);
  store(z + i, sum);
}

TEST(HostState, ABufferThatIsFreedStaysUntilTheInterpreterIsDone) {
  const Device device = Device::simulator();
  const auto z = device.allocate<float>(size).value();
  auto x = std::make_unique<Buffer<float>>(device.upload(std::vector<float>(size, 1.0F)).value());
  const DevicePointer<float> in = x->at();
  std::atomic<bool> freed = false;
  std::thread other;
  const Kernel kernel("long_sum", long_sum);
  constexpr int rounds = 20000; // some tenths of a second
  other = std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    x.reset();
    // What comes in its place has other content.
    const auto next = device.upload(std::vector<float>(size, 100.0F));
    freed = true;
  });
  const auto run = kernel.launch({true}, device.stream(), {1}, AddConfig{.block = size}, in, z, rounds);
  const bool freed_meanwhile = freed;
  other.join();
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_TRUE(freed_meanwhile) << "the kernel is too short to show anything";
  EXPECT_EQ(z.to_host().value(), std::vector<float>(size, rounds));
}

} // namespace
} // namespace nereid::test
