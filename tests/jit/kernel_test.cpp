// The caches of kernels, what building refuses, and the forms of a kernel.
#include <atomic>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "jit/build.h"
#include "jit/cache/disk_cache.h"
#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

std::atomic<int> traces = 0;

/// Counts how often it is traced.
void counted(const AddConfig &c, Ptr<i32> out, Int n) {
  ++traces;
  Tile<i32> i = arange(0, c.block);
  store(out + i, i + n, i < n);
}

struct Counted {
  Device device = Device::simulator();
  Buffer<int> out = device.allocate<int>(256).value();
  Kernel<counted> kernel;
  AddConfig config{.block = 256};

  Result<LaunchInfo> run(int n) { return kernel(device.stream(), {1}, config, out, n); }
};

TEST(KernelCache, SecondLaunchIsAHit) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  Counted c;
  const int before = traces;
  auto first = c.run(100);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->cache, CacheLevel::None);
  EXPECT_GT(first->jit.trace, 0.0);
  EXPECT_GT(first->jit.codegen, 0.0);
  EXPECT_GT(first->jit.link, 0.0);
  auto second = c.run(101);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cache, CacheLevel::Memory);
  EXPECT_EQ(second->jit.total(), 0.0);
  EXPECT_EQ(second->compiled, first->compiled);
  EXPECT_EQ(traces, before + 1);
  const std::vector<int> out = c.out.to_host().value();
  EXPECT_EQ(out[5], 106);
}

TEST(KernelCache, KernelsOfOneFunctionShareIt) {
  Counted c;
  ASSERT_TRUE(c.run(100));
  const Kernel again("counted", counted);
  auto launched = again(c.device.stream(), {1}, c.config, c.out, 100);
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->cache, CacheLevel::Memory);
}

TEST(KernelCache, ConfigAndSpecialisationAreItsKey) {
  Counted c;
  auto plain = c.run(99), multiple = c.run(96), one = c.run(1);
  ASSERT_TRUE(plain && multiple && one);
  EXPECT_NE(plain->compiled, multiple->compiled);
  EXPECT_NE(plain->compiled, one->compiled);
  EXPECT_NE(multiple->compiled, one->compiled);
  EXPECT_NE(plain->compiled->key(), multiple->compiled->key());
  c.config.block = 128;
  auto smaller = c.run(99);
  ASSERT_TRUE(smaller);
  EXPECT_NE(smaller->compiled, plain->compiled);
  auto offset = c.kernel(c.device.stream(), {1}, c.config, c.out.at(1), 99);
  ASSERT_TRUE(offset);
  EXPECT_NE(offset->compiled, smaller->compiled);
}

TEST(KernelCache, ConcurrentFirstCallsBuildOnce) {
  Counted c;
  c.config.waves = 2;
  const int before = traces;
  std::vector<std::thread> threads;
  std::atomic<int> built = 0;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      Buffer<int> out = c.device.allocate<int>(256).value();
      auto launched = c.kernel(c.device.stream(), {1}, c.config, out, 77);
      ASSERT_TRUE(launched) << launched.error().text();
      built += launched->cache != CacheLevel::Memory;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(traces, before + 1);
  EXPECT_EQ(built, 1);
}

TEST(KernelCache, DiskServesAnotherDevice) {
  TemporaryDirectory directory;
  ScopedEnvironment cache("NEREID_CACHE_DIR", directory.path());
  Counted first;
  auto compiled = first.run(100);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->cache, CacheLevel::None);
  EXPECT_EQ(directory.files(), 1u);

  Counted second;
  auto loaded = second.run(100);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->cache, CacheLevel::Disk);
  EXPECT_EQ(loaded->jit.codegen, 0.0);
  EXPECT_EQ(loaded->jit.link, 0.0);
  EXPECT_GT(loaded->jit.trace, 0.0);
  EXPECT_EQ(loaded->resources(), compiled->resources());
  EXPECT_EQ(second.out.to_host().value()[7], 107);
  EXPECT_TRUE(loaded->compiled->source_line(1).known());
}

TEST(KernelCache, ADamagedFileIsARecompile) {
  TemporaryDirectory directory;
  ScopedEnvironment cache("NEREID_CACHE_DIR", directory.path());
  {
    Counted c;
    ASSERT_TRUE(c.run(100));
  }
  for (const auto &entry : std::filesystem::directory_iterator(directory.path()))
    std::filesystem::resize_file(entry.path(), 500);
  Counted c;
  auto compiled = c.run(100);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->cache, CacheLevel::None);
  Counted again;
  EXPECT_EQ(again.run(100)->cache, CacheLevel::Disk);
}

TEST(KernelCache, AnEntryWithoutCodeOfTheKernelIsReplaced) {
  TemporaryDirectory directory;
  ScopedEnvironment cache("NEREID_CACHE_DIR", directory.path());
  Counted first;
  const auto compiled = first.run(100);
  ASSERT_TRUE(compiled) << compiled.error().text();
  const SharedBytes code = compiled->compiled->code_object();
  const std::vector<uint8_t> cut(code.begin(), code.begin() + static_cast<ptrdiff_t>(code.size() / 2));
  const jit::DiskCache disk(directory.path());
  for (const std::vector<uint8_t> &useless :
       {std::vector<uint8_t>{'h', 'e', 'l', 'l', 'o'}, std::vector<uint8_t>(), cut}) {
    jit::Binary binary;
    binary.code_object = useless;
    binary.resources = compiled->resources();
    ASSERT_TRUE(disk.store(compiled->compiled->key(), {"counted", "", ""}, binary));
    Counted replacing;
    const auto replaced = replacing.run(100);
    ASSERT_TRUE(replaced) << replaced.error().text();
    EXPECT_EQ(replaced->cache, CacheLevel::None);
    EXPECT_EQ(replacing.out.to_host().value()[7], 107);
    Counted again;
    EXPECT_EQ(again.run(100)->cache, CacheLevel::Disk);
  }
}

TEST(KernelCache, ADirectoryThatCannotBeWrittenOnlyWarns) {
  TemporaryDirectory directory;
  const std::string file = directory.path() + "/file";
  std::ofstream(file) << "in the way";
  ScopedEnvironment cache("NEREID_CACHE_DIR", file);
  Counted c;
  auto run = c.run(100);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->cache, CacheLevel::None);
  EXPECT_EQ(c.out.to_host().value()[7], 107);
}

TEST(Dump, WritesAllForms) {
  TemporaryDirectory directory;
  ScopedEnvironment dump("NEREID_DUMP_DIR", directory.path());
  Counted c;
  ASSERT_TRUE(c.run(100));
  std::set<std::string> extensions;
  for (const auto &entry : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_EQ(entry.path().filename().string().substr(0, 8), "counted-");
    EXPECT_GT(std::filesystem::file_size(entry.path()), 0u);
    extensions.insert(entry.path().extension().string());
  }
  EXPECT_EQ(extensions, (std::set<std::string>{".ir", ".plan", ".ll", ".s", ".lines", ".hsaco"}));
}

TEST(Launch, AnEmptyGridIsAUserError) {
  Counted c;
  auto run = c.kernel(c.device.stream(), {0}, c.config, c.out, 1);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User);
  EXPECT_NE(run.error().message.find("counted"), std::string::npos);
}

TEST(Launch, ABufferOfAnotherDeviceIsAUserError) {
  Counted c;
  const Device other = Device::simulator();
  Buffer<int> out = other.allocate<int>(256).value();
  auto run = c.kernel(c.device.stream(), {1}, c.config, out, 1);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User);
  EXPECT_NE(run.error().message.find("another device"), std::string::npos);
}

TEST(Build, MoreSpillsThanAreCompiledRightAreRefused) {
  ir::Function function;
  function.name = "k";
  function.options.waves = 16;
  function.value_types = {ir::Type::tile(ir::Element::F64, {1024}), ir::Type::tile(ir::Element::I32, {24})};
  Resources resources;
  resources.scratch = 4096;
  EXPECT_TRUE(jit::check_spills(function, resources));
  resources.scratch = 4100;
  const Status refused = jit::check_spills(function, resources);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().owner, Owner::User);
  EXPECT_NE(refused.error().message.find("kernel 'k': its tiles take 4100 bytes of scratch"),
            std::string::npos);
  EXPECT_NE(refused.error().remedy.find("smaller tiles"), std::string::npos);
}

TEST(Build, TheRemedyForSpillsNamesALargeOddFactor) {
  ir::Function function;
  function.options.waves = 16;
  function.value_types = {ir::Type::tile(ir::Element::F64, {1000}), ir::Type::tile(ir::Element::I32, {24})};
  Resources resources;
  resources.scratch = 4100;
  EXPECT_EQ(
      jit::check_spills(function, resources).error().remedy,
      "Use f64[1024] and a mask in place of f64[1000]: each lane holds all of the odd factor 125, however "
      "many waves there are");
  function.options.waves = 1;
  function.value_types = {ir::Type::tile(ir::Element::FP8, {7, 100})};
  EXPECT_EQ(jit::check_spills(function, resources).error().remedy,
            "Use fp8[8, 128] and a mask in place of fp8[7, 100]: each lane holds all of the odd factor 175, "
            "however many waves there are");
  // As large a share as that of any tile of so many elements.
  function.value_types = {ir::Type::tile(ir::Element::F32, {3 << 14})};
  EXPECT_EQ(jit::check_spills(function, resources).error().remedy, "Use smaller tiles or more waves");
}

TEST(Launch, ATracingErrorIsAValueWithTheUsersLine) {
  const Device device = Device::simulator();
  const Kernel kernel(
      "mismatch", +[](const AddConfig &, Ptr<i32> out, Int n) {
        store(out + arange(0, 16), broadcast(n, {16}) + arange(0, 32));
      });
  Buffer<int> out = device.allocate<int>(16).value();
  auto run = kernel(device.stream(), {1}, AddConfig{}, out, 1);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User);
  EXPECT_NE(run.error().where.file.find("kernel_test.cpp"), std::string::npos);
}

namespace inner {
template <class T> void fill(const AddConfig &c, Ptr<T> out, Int n, Float value) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  store(out + i, full<T>({c.block}, value.to<T>()), i < n);
}
} // namespace inner

TEST(Kernel, HasTheNameOfItsFunction) {
  EXPECT_EQ(Kernel<add>().name(), "add");
  EXPECT_EQ(Kernel<counted>().name(), "counted");
  EXPECT_EQ(Kernel<inner::fill<f32>>().name(), "fill");
  EXPECT_EQ(Kernel<add>("sum").name(), "sum");
  EXPECT_EQ(Kernel("sum", add).name(), "sum");
}

TEST(Kernel, HasAGridOfItsOwn) {
  const Device device = Device::simulator();
  const Kernel<inner::fill<i32>> kernel(
      [](const AddConfig &c, int n, float value) { return Grid{cdiv(n, c.block), value > 0 ? 1 : 2}; });
  const AddConfig config{.block = 64};
  const Buffer<int> out = device.allocate<int>(200).value();
  EXPECT_EQ(kernel.grid(config, out, 200, 7.0F).value(), (Grid{4, 1}));
  EXPECT_EQ(kernel.grid(config, out, no_specialize(128), -7.0F).value(), (Grid{2, 2}));
  const auto run = kernel(device.stream(), config, out, 200, 7.0F);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->grid, (Grid{4}));
  EXPECT_EQ(out.to_host().value(), std::vector<int>(200, 7));
}

TEST(Kernel, ALaunchWithoutAnyGridIsTheUsersError) {
  const Device device = Device::simulator();
  const Buffer<int> out = device.allocate<int>(16).value();
  const auto run = Kernel<counted>()(device.stream(), AddConfig{}, out, 16);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().owner, Owner::User);
  EXPECT_NE(run.error().message.find("counted: a launch without a grid"), std::string::npos);
  EXPECT_FALSE(run.error().remedy.empty());
}

TEST(Interpreter, IsChosenByTheEnvironment) {
  ScopedEnvironment interpret("NEREID_INTERPRET", "1");
  Counted c;
  auto run = c.run(100);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_TRUE(run->interpreted);
  EXPECT_EQ(c.out.to_host().value()[7], 107);
}

TEST(Inspection, ShowsEveryForm) {
  const Kernel kernel("add", add);
  auto compiled = kernel.compile({}, {}, Device::simulator());
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_NE((*compiled)->ir().find("add"), std::string::npos);
  EXPECT_NE((*compiled)->llvm_ir()->find("amdgpu_kernel void @add("), std::string::npos);
  EXPECT_NE((*compiled)->isa()->find(".amdhsa_kernel add"), std::string::npos);
  EXPECT_EQ((*compiled)->code_object()[1], 'E');
  auto listing = (*compiled)->annotated_isa();
  ASSERT_TRUE(listing) << listing.error().text();
  EXPECT_NE(listing->find("sample_kernels.h:"), std::string::npos) << *listing;
  EXPECT_NE(listing->find("s_endpgm"), std::string::npos);
  EXPECT_NE(to_json((*compiled)->resources()).find("\"scratch\": 0"), std::string::npos);
}

} // namespace
} // namespace nereid::test
