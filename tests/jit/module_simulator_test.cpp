// What the simulator tells of kernels that others compiled.
#include <gtest/gtest.h>

#include "jit/module.h"
#include "tests/jit/module_input.h"
#include "tests/jit/saxpy_data.h"

namespace nereid::test {
namespace {

TEST(Module, CountsInstructionsOnTheSimulator) {
  const Device device = Device::simulator();
  const ModuleKernel saxpy = Module::load(device, saxpy_object())->kernel().value();
  const SaxpyData data(device);
  const auto info = saxpy(device.stream(), data.shape, data.x, data.y, 1.0F, count);
  ASSERT_TRUE(info.ok()) << info.error().text();
  ASSERT_TRUE(info->instructions.has_value());
  // 16 waves, all of which have work, of 16 instructions.
  EXPECT_EQ(info->instructions->total, 16u * 16u);
}

TEST(Module, SaysWhereAKernelFaults) {
  const Device device = Device::simulator();
  const ModuleKernel saxpy = Module::load(device, saxpy_object())->kernel().value();
  const SaxpyData data(device);
  const auto info = saxpy(device.stream(), data.shape, data.x, data.y, 1.0F, 1024);
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().owner, Owner::User);
  EXPECT_NE(info.error().message.find("kernel 'saxpy': out_of_bounds"), std::string::npos)
      << info.error().text();
  EXPECT_NE(info.error().message.find("global_load_dword"), std::string::npos) << info.error().text();
}

} // namespace
} // namespace nereid::test
