// Code objects that others made: loading, arguments, launches.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/jit/each_device.h"
#include "tests/jit/module_input.h"
#include "tests/jit/saxpy_data.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

class ModuleTest : public EachDevice {
protected:
  Module load(const std::vector<uint8_t> &object) { return Module::load(device(), object).value(); }
};
NEREID_ON_EACH_DEVICE(ModuleTest);

TEST_P(ModuleTest, RunsATypedLaunch) {
  const ModuleKernel saxpy = load(saxpy_object()).kernel("saxpy").value();
  const SaxpyData data(device());
  const auto info = saxpy(stream(), data.shape, data.x, data.y.at(), 3.0F, count);
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_EQ(info->kernel, "saxpy");
  ASSERT_TRUE(stream().synchronize());
  data.expect(3);
}

TEST_P(ModuleTest, RunsALaunchOfAStruct) {
  struct Arguments {
    uint64_t x, y;
    float a;
    int n;
  };
  const ModuleKernel saxpy = load(saxpy_object()).kernel().value();
  const SaxpyData data(device());
  const auto info =
      saxpy.launch_struct(stream(), data.shape, Arguments{data.x.address(), data.y.address(), -2, count});
  ASSERT_TRUE(info.ok()) << info.error().text();
  ASSERT_TRUE(stream().synchronize());
  data.expect(-2);
}

TEST_P(ModuleTest, TellsWhatAKernelIs) {
  const Module module = load(saxpy_object());
  EXPECT_EQ(module.kernel_names(), std::vector<std::string>{"saxpy"});
  EXPECT_EQ(module.device(), device());
  const ModuleKernel kernel = module.kernel("saxpy").value();
  const KernelMetadata &saxpy = kernel.metadata();
  EXPECT_EQ(saxpy.kernarg_size, 24u);
  EXPECT_EQ(saxpy.max_workgroup_size, 256u);
  EXPECT_EQ(saxpy.resources.vgpr, 4u);
  EXPECT_EQ(saxpy.resources.sgpr, 18u);
  EXPECT_EQ(saxpy.resources.lds, 0u);
  EXPECT_EQ(saxpy.resources.occupancy, 8u);
  ASSERT_EQ(saxpy.arguments.size(), 4u);
  EXPECT_EQ(saxpy.arguments[1].name, "y");
  EXPECT_EQ(saxpy.arguments[1].value_kind, "global_buffer");
  EXPECT_EQ(saxpy.arguments[2].offset, 16u);
  EXPECT_EQ(saxpy.arguments[2].size, 4u);
}

TEST_P(ModuleTest, KernelsOutliveTheModule) {
  const ModuleKernel saxpy = [&] { return load(saxpy_object()).kernel().value(); }();
  const SaxpyData data(device());
  ASSERT_TRUE(saxpy(stream(), data.shape, data.x, data.y, 1.0F, count));
  ASSERT_TRUE(stream().synchronize());
  data.expect(1);
}

TEST_P(ModuleTest, FillsHiddenArgumentsOfABlockInThreeDimensions) {
  const ModuleKernel hidden = load(program_object("launches.O3")).kernel("hidden_values").value();
  const Buffer<uint64_t> out = device().upload(std::vector<uint64_t>(14, 99)).value();
  const ModuleLaunchShape shape{.grid = {5, 3, 2}, .block = {8, 4, 2}, .dynamic_lds = 512};
  const auto info = hidden(stream(), shape, out);
  ASSERT_TRUE(info.ok()) << info.error().text();
  ASSERT_TRUE(stream().synchronize());
  const std::vector<uint64_t> values = out.to_host().value();
  const std::vector<uint64_t> sizes(values.begin(), values.begin() + 9);
  EXPECT_EQ(sizes, (std::vector<uint64_t>{5, 3, 2, 8, 4, 2, 0, 0, 0}));
  EXPECT_EQ(values[12], 3u);
}

TEST_P(ModuleTest, RunsWithDynamicLds) {
  const ModuleKernel reverse = load(program_object("lds.O3")).kernel("reverse_dynamic").value();
  std::vector<uint16_t> in(300);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint16_t>(7 * i);
  const Buffer<uint16_t> from = device().upload(in).value();
  const Buffer<uint16_t> to = device().upload(std::vector<uint16_t>(in.size())).value();
  const ModuleLaunchShape shape{.grid = {1}, .block = {128}, .dynamic_lds = 600};
  const uint32_t lds_offset = 0, elements = static_cast<uint32_t>(in.size());
  const auto info = reverse(stream(), shape, from, to, lds_offset, elements);
  ASSERT_TRUE(info.ok()) << info.error().text();
  ASSERT_TRUE(stream().synchronize());
  std::reverse(in.begin(), in.end());
  EXPECT_EQ(to.to_host().value(), in);
}

TEST_P(ModuleTest, IsReplayedByAGraphThatKeepsIt) {
  const SaxpyData data(device());
  const Graph graph = [&] {
    const ModuleKernel saxpy = load(saxpy_object()).kernel().value();
    const auto captured = stream().capture([&]() -> Status {
      NEREID_CHECK(saxpy(stream(), data.shape, data.x, data.y, 2.0F, count));
      return {};
    });
    EXPECT_TRUE(captured.ok()) << captured.error().text();
    return captured.value();
  }();
  ASSERT_TRUE(graph.launch(stream()));
  ASSERT_TRUE(graph.launch(stream()));
  ASSERT_TRUE(stream().synchronize());
  data.expect(4);
}

TEST_P(ModuleTest, LoadsAFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/saxpy.hsaco";
  const std::vector<uint8_t> object = saxpy_object();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(object.data()), object.size());
  const auto module = Module::load(device(), path);
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_EQ(module->kernel_names(), std::vector<std::string>{"saxpy"});
}

} // namespace
} // namespace nereid::test
