// Kernels as files: what is written, and what cannot be.
#include <filesystem>

#include <gtest/gtest.h>

#include <llvm/Support/JSON.h>

#include "jit/aot/export.h"
#include "nereid/nereid.h"
#include "tests/jit/module_input.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

using aot::Condition;
using aot::Programs;

struct ScaleConfig {
  int block = 256;
  int waves = 1;
  NEREID_CONFIG(ScaleConfig, block, waves)
};

void scale(const ScaleConfig &c, Ptr<const f32> x, Ptr<bf16> y, Float factor, Int n, Long first) {
  const Tile<i64> i = (program_id(0) * c.block + arange(0, c.block)).to<i64>() + first;
  const Tile<i1> in_range = i < n.to<i64>();
  store(y + i, (load(x + i, in_range) * factor).to<bf16>(), in_range);
}

std::shared_ptr<const CompiledKernel> scale_kernel(const std::vector<ArgumentFacts> &facts) {
  const Kernel kernel("scale", scale);
  return kernel.compile({}, facts, Device::simulator()).value();
}

std::vector<ArgumentFacts> named_facts() {
  return {{.divisibility = 16, .name = "x"},
          {.divisibility = 16, .name = "int"},
          {.name = "factor"},
          {.divisibility = 16, .name = "n"},
          {.constant = 1, .name = "first"}};
}

std::vector<std::string> written(const std::string &directory, const std::vector<aot::Export> &kernels) {
  const auto files = aot::write(directory, kernels);
  EXPECT_TRUE(files.ok()) << files.error().text();
  return files ? *files : std::vector<std::string>();
}

TEST(Aot, WritesTheSameBytesEveryTime) {
  const TemporaryDirectory first, second;
  const aot::Export exported{.kernel = scale_kernel(named_facts())};
  const auto files = written(first.path() + "/made", {exported});
  ASSERT_EQ(files.size(), 6u);
  written(second.path(), {exported});
  for (const std::string &file : files) {
    const std::string name = std::filesystem::path(file).filename();
    EXPECT_EQ(text_of(file), text_of(second.path() + "/" + name)) << name;
  }
  EXPECT_EQ(second.files(), 6u);
}

TEST(Aot, WritesTheCodeObjectThatModulesLoad) {
  const TemporaryDirectory directory;
  const auto kernel = scale_kernel(named_facts());
  written(directory.path(), {{.kernel = kernel, .name = "scaled"}});
  const SharedBytes object = kernel->code_object();
  EXPECT_EQ(bytes_of(directory.path() + "/scaled.hsaco"), std::vector<uint8_t>(object.begin(), object.end()));

  const Device device = Device::simulator();
  const Module module = Module::load(device, directory.path() + "/scaled.hsaco").value();
  const Buffer<float> x = device.upload(std::vector<float>(256, 3.0F)).value();
  const Buffer<uint16_t> y = device.upload(std::vector<uint16_t>(256)).value();
  const auto launched = module.kernel("scale").value()(device.stream(), {.grid = {1}, .block = {64}}, x, y,
                                                       0.5F, 256, int64_t{1});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  const std::vector<uint16_t> result = y.to_host().value();
  EXPECT_EQ(result[0], 0);
  EXPECT_EQ(result[1], 0x3fc0); // 1.5
}

TEST(Aot, DeclaresTypedArgumentsAndChecksWhatTheCodeReliesOn) {
  const TemporaryDirectory directory;
  written(directory.path(),
          {{.kernel = scale_kernel(named_facts()),
            .conditions = {{"n", Condition::Kind::MultipleOf, 24},
                           {"n", Condition::Kind::AtMost, 4096},
                           {"factor", Condition::Kind::Equals, 2}},
            .programs = {Programs::blocks("n", 256), Programs::constant(1), Programs::given("batch")},
            .layouts = {{"x", "f32 [n]"}}}});
  const std::string header = text_of(directory.path() + "/scale.h");
  // A word of C gets a line below it.
  EXPECT_NE(
      header.find("uint32_t batch, const float *x, uint16_t *int_, float factor, int32_t n, int64_t first, "
                  "nereid_aot_error *error);"),
      std::string::npos)
      << header;
  EXPECT_NE(header.find("x: f32 [n]"), std::string::npos) << header;
  const std::string source = text_of(directory.path() + "/scale.c");
  for (const char *check :
       {"if ((uintptr_t)x % 16 != 0)", "if ((uintptr_t)int_ % 16 != 0)", "if (n % 48 != 0)", "if (n > 4096)",
        "if (factor != 2)", "if (first != 1)", "offsetof(struct arguments, first) == 24",
        "nereid_aot_blocks(n, 256), 1, batch, 64"})
    EXPECT_NE(source.find(check), std::string::npos) << check;
}

TEST(Aot, TheManifestHasResourcesAndPreconditions) {
  const TemporaryDirectory directory;
  const auto kernel = scale_kernel(named_facts());
  written(directory.path(), {{.kernel = kernel}});
  auto manifest = llvm::json::parse(text_of(directory.path() + "/scale.json"));
  ASSERT_TRUE(bool(manifest));
  const llvm::json::Object &object = *manifest->getAsObject();
  EXPECT_EQ(object.getString("target"), "amdgcn-amd-amdhsa--gfx950");
  EXPECT_EQ(object.getString("code_object"), "scale.hsaco");
  EXPECT_EQ(object.getString("key"), kernel->key());
  EXPECT_EQ(object.getObject("resources")->getInteger("vgpr"), kernel->resources().vgpr);
  EXPECT_EQ(object.getArray("arguments")->size(), 5u);
  EXPECT_EQ(*object.getArray("preconditions"),
            (llvm::json::Array{llvm::json::Object{{"argument", "x"}, {"multiple_of", 16}},
                               llvm::json::Object{{"argument", "int_"}, {"multiple_of", 16}},
                               llvm::json::Object{{"argument", "n"}, {"multiple_of", 16}},
                               llvm::json::Object{{"argument", "first"}, {"equals", 1}}}));
}

void expect_refused(const std::vector<aot::Export> &kernels, const std::string &expected) {
  const TemporaryDirectory directory;
  const auto files = aot::write(directory.path(), kernels);
  ASSERT_FALSE(files.ok()) << expected;
  EXPECT_EQ(files.error().owner, Owner::User);
  EXPECT_NE(files.error().message.find(expected), std::string::npos) << files.error().text();
  EXPECT_EQ(directory.files(), 0u) << "nothing is written before all is checked";
}

TEST(Aot, RefusesWhatCannotBeWritten) {
  const auto kernel = scale_kernel(named_facts());
  expect_refused({{}}, "without code");
  for (const char *name : {"two words", "1st", "a/b", "switch", "nereid_aot\n"})
    expect_refused({{.kernel = kernel, .name = name}}, "no identifier of C");
  expect_refused({{.kernel = kernel}, {.kernel = kernel}}, "two exports are called 'scale'");
  expect_refused({{.kernel = kernel, .name = "nereid_aot"}}, "two exports are called 'nereid_aot'");
  expect_refused({{.kernel = kernel, .conditions = {{"m", Condition::Kind::Equals, 1}}}},
                 "a condition on 'm'");
  expect_refused({{.kernel = kernel, .conditions = {{"factor", Condition::Kind::MultipleOf, 2}}}},
                 "a condition on 'factor'");
  expect_refused({{.kernel = kernel, .conditions = {{"n", Condition::Kind::MultipleOf, 0}}}},
                 "a multiple of 0");
  expect_refused({{.kernel = kernel, .programs = {Programs::blocks("x", 256)}}}, "programs by 'x'");
  expect_refused({{.kernel = kernel, .programs = {Programs::blocks("n", 0)}}}, "a grid of 0");
  expect_refused({{.kernel = kernel, .programs = {Programs::given("n")}}}, "two parameters are called 'n'");
  expect_refused({{.kernel = kernel, .programs = {Programs::given("a b")}}}, "no identifier of C");
  expect_refused({{.kernel = kernel, .summary = "/* scale */"}}, "ends a comment of C");
  std::vector<ArgumentFacts> twice = named_facts();
  twice[3].name = "x";
  expect_refused({{.kernel = scale_kernel(twice)}}, "two arguments are called 'x'");
}

TEST(Aot, SaysThatADirectoryCannotBeMade) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file") << "x";
  const std::vector<aot::Export> kernels = {{.kernel = scale_kernel(named_facts())}};
  const auto files = aot::write(directory.path() + "/file/inside", kernels);
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().owner, Owner::Environment);
}

} // namespace
} // namespace nereid::test
