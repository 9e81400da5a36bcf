// device_print: compiled code writes what the interpreter writes.
#include <algorithm>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {
namespace {

struct PrintConfig {
  int n = 4, waves = 1;
  NEREID_CONFIG(PrintConfig, n, waves)
};

/// What a launch writes to stderr.
template <class Kernel, class... A>
std::string printed(const Kernel &kernel, const Device &device, bool interpret, Grid grid,
                    const PrintConfig &c, const A &...arguments) {
  LaunchOptions options;
  options.interpret = interpret;
  ::testing::internal::CaptureStderr();
  const auto run = kernel.launch(options, device.stream(), grid, c, arguments...);
  std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(run) << run.error().text();
  return text;
}

void print_elements(const PrintConfig &c, Ptr<const f32> x, Int n) {
  const Tile<f32> v = load(x + arange(0, c.n));
  device_print("scalars", n, n.to<i64>() << 40, n > 3, n.to<f32>() / 8, full<bf16>({}, 1.5F), n.to<fp8>(),
               1 / (n.to<f64>() - 2));
  device_print("floats", v, v.to<f16>(), v.to<bf8>());
  device_print("integers", reshape(v.to<i8>(), {2, c.n / 2}), v.to<u16>(), v > 0);
  device_print("nothing");
}

TEST(DevicePrint, WritesValuesOfEveryElement) {
  const Device device = Device::simulator();
  const Kernel kernel("print_elements", print_elements);
  const Buffer<f32> x = device.upload(std::vector<f32>{-1.5F, 0, 2, 300}).value();
  const std::string wanted =
      "(0, 0, 0) scalars 5 5497558138880 true 0.625 1.5 5 0.3333333333333333\n"
      "(0, 0, 0) floats [-1.5, 0, 2, 300] [-1.5, 0, 2, 300] [-1.5, 0, 2, 320]\n"
      "(0, 0, 0) integers [[-1, 0],\n[2, 44]] [65535, 0, 2, 300] [false, false, true, true]\n"
      "(0, 0, 0) nothing\n";
  EXPECT_EQ(printed(kernel, device, true, {1}, {}, x, 5), wanted);
  for (const int waves : {1, 4})
    EXPECT_EQ(printed(kernel, device, false, {1}, {.waves = waves}, x, 5), wanted);
}

void print_in_regions(const PrintConfig &c, Ptr<i32> out, Int n) {
  const Tile<i32> i = arange(0, c.n) + program_id(1) * 10;
  Var sum = i;
  for (Int k : range(0, n)) {
    sum += k;
    when(k % 2 == 1, [&] { device_print("odd", k, sum); });
  }
  device_print("end", sum);
  store(out + i, sum);
}

TEST(DevicePrint, WritesFromLoopsAndBranchesInTheOrderOfPrograms) {
  const Device device = Device::simulator();
  const Kernel kernel("print_in_regions", print_in_regions);
  for (const int waves : {1, 2, 8})
    for (const int n : {4, 256}) {
      const PrintConfig c{n, waves};
      const Buffer<i32> out = device.allocate<i32>(512).value();
      const std::string interpreted = printed(kernel, device, true, {2, 3}, c, out, 5);
      EXPECT_EQ(std::count(interpreted.begin(), interpreted.end(), '('), 6 * 3);
      EXPECT_EQ(printed(kernel, device, false, {2, 3}, c, out, 5), interpreted);
    }
}

void print_much(const PrintConfig &c, Int n) {
  for (Int k : range(0, n))
    device_print("much", arange(0, c.n) + k);
}

TEST(DevicePrint, SaysWhatDidNotFit) {
  const Device device = Device::simulator();
  const Kernel kernel("print_much", print_much);
  const std::string text =
      printed(kernel, device, false, {1}, {.n = 1024, .waves = 4}, 300); // 4112 bytes a line
  EXPECT_EQ(std::count(text.begin(), text.end(), '('), 255);
  EXPECT_NE(text.find("prints at most 1048560 bytes of values, this one wanted 1233600"), std::string::npos)
      << text.substr(text.size() - 200);
}

void print_pointer(const PrintConfig &, Ptr<f32> x) { device_print("p", x); }

TEST(DevicePrint, RefusesPointersAndCaptures) {
  const Device device = Device::simulator();
  const Buffer<f32> x = device.allocate<f32>(4).value();
  const Kernel pointers("print_pointer", print_pointer);
  const auto refused = pointers(device.stream(), {1}, PrintConfig{}, x);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().owner, Owner::User);
  EXPECT_NE(refused.error().message.find("device_print of pointers"), std::string::npos);
  EXPECT_TRUE(refused.error().where.file.ends_with("print_test.cpp"));

  const Kernel kernel("print_elements", print_elements);
  LaunchOptions prepare;
  prepare.prepare = true;
  const Stream stream = device.new_stream().value();
  ASSERT_TRUE(kernel.launch(prepare, stream, {1}, PrintConfig{}, x, 5));
  Status launched;
  const auto graph = stream.capture([&]() -> Status {
    const auto run = kernel(stream, {1}, PrintConfig{}, x, 5);
    if (!run)
      launched = run.error();
    return launched;
  });
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().owner, Owner::User);
  EXPECT_NE(launched.error().message.find("its stream is being captured"), std::string::npos);
}

} // namespace
} // namespace nereid::test
