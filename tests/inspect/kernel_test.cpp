// Reports of kernels of ours: tile IR, plan and LLVM IR beside the kernel's lines; text, JSON and page of
// them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>

#include <nereid/inspect.h>
#include <nereid/nereid.h>

#include "tests/jit/temporary_directory.h"

namespace nereid::inspect {
namespace {

struct SoftmaxConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(SoftmaxConfig, block, waves)
};

constexpr unsigned first_line = __LINE__ + 1;
void softmax(const SoftmaxConfig &c, Ptr<const f32> x, Ptr<f32> y, Int columns) {
  Tile<i32> column = arange(0, c.block);
  Tile<i1> in_bounds = column < columns;
  Tile<i32> at = program_id(0) * columns + column;
  Tile<f32> value = load(x + at, in_bounds, -INFINITY);
  Tile<f32> weight = exp(value - max(value, axis(0)));
  store(y + at, weight / sum(weight, axis(0)), in_bounds);
}
constexpr unsigned last_line = __LINE__ - 1;

std::shared_ptr<const CompiledKernel> compiled() {
  static const Kernel kernel("softmax", softmax);
  return kernel.compile(SoftmaxConfig{}, std::vector<ArgumentFacts>(3), Device::simulator()).value();
}

Report report() {
  RunRequest run;
  run.grid = {37, 1, 1};
  run.arguments = {RunArgument::buffer(37 * 781 * 4), RunArgument::buffer(37 * 781 * 4),
                   RunArgument::number(781)};
  return report_of(*compiled(), &run).value();
}

bool is_of_kernel(const Report &report, const Place &place) {
  return place.known() && report.files[static_cast<size_t>(place.file)].path == __FILE__ &&
         place.line >= first_line && place.line <= last_line;
}

TEST(ReportOfKernel, ItsDumpedCodeObjectHasTheSameLines) {
  const test::TemporaryDirectory directory;
  const test::ScopedEnvironment dump("NEREID_DUMP_DIR", directory.path());
  const Kernel kernel("dumped_softmax", softmax);
  const auto built =
      kernel.compile(SoftmaxConfig{}, std::vector<ArgumentFacts>(3), Device::simulator()).value();
  const std::string name = directory.path() + "/dumped_softmax-" + built->key().substr(0, 12);
  const Report expected = report_of(*built).value();
  const auto bytes = std::as_bytes(std::span<const uint8_t>(built->code_object()));
  const Report dumped = report_of(bytes, "", nullptr, name + ".hsaco").value();
  ASSERT_EQ(dumped.code.size(), expected.code.size());
  for (size_t i = 0; i < expected.code.size(); ++i) {
    EXPECT_EQ(dumped.code[i].place.known(), expected.code[i].place.known()) << expected.code[i].text;
    EXPECT_EQ(dumped.code[i].place.line, expected.code[i].place.line) << expected.code[i].text;
    EXPECT_TRUE(!dumped.code[i].place.known() || is_of_kernel(dumped, dumped.code[i].place));
  }
  EXPECT_TRUE(std::any_of(dumped.code.begin(), dumped.code.end(),
                          [](const Instruction &instruction) { return instruction.place.known(); }));
  // Without the file beside it nothing of the source is known.
  std::filesystem::remove(name + ".lines");
  const Report alone = report_of(bytes, "", nullptr, name + ".hsaco").value();
  for (const Instruction &instruction : alone.code)
    EXPECT_FALSE(is_of_kernel(alone, instruction.place)) << instruction.text;
}

TEST(ReportOfKernel, EachFormStandsBesideTheKernelsLines) {
  const Report r = report();
  EXPECT_EQ(r.kernel, "softmax");
  EXPECT_EQ(r.config, "block=1024,waves=4");
  unsigned operations = 0;
  for (const IrLine &line : r.tile_ir)
    if (line.operation) {
      EXPECT_EQ(line.operation, ++operations);
      EXPECT_TRUE(is_of_kernel(r, line.place)) << line.text;
    }
  unsigned all = 0;
  ir::for_each_op(compiled()->function(), [&](const ir::Op &, unsigned) { ++all; });
  EXPECT_EQ(operations, all) << "every operation has one line of text";
  std::set<unsigned> in_code, in_llvm;
  for (const Instruction &instruction : r.code)
    if (instruction.operation) {
      in_code.insert(instruction.operation);
      EXPECT_TRUE(is_of_kernel(r, instruction.place)) << instruction.text;
    }
  for (const IrLine &line : r.llvm_ir)
    if (line.operation)
      in_llvm.insert(line.operation);
  EXPECT_GT(in_code.size(), 5U);
  EXPECT_TRUE(std::includes(in_llvm.begin(), in_llvm.end(), in_code.begin(), in_code.end()))
      << "code comes from LLVM IR of the same operation";
  ASSERT_EQ(r.files.size(), 1U);
  EXPECT_NE(r.files[0].lines[first_line - 1].find("void softmax"), std::string::npos);
  EXPECT_NE(r.plan.find("plan of softmax"), std::string::npos);
}

TEST(ReportOfKernel, HasLayoutsAndAccesses) {
  const Report r = report();
  ASSERT_FALSE(r.layouts.empty());
  const LayoutFacts &layout = r.layouts.front();
  EXPECT_EQ(layout.shape, std::vector<int64_t>{1024});
  EXPECT_EQ(layout.bases[0].size() + layout.bases[1].size() + layout.bases[2].size(), 10U);
  size_t loads = 0;
  for (const Instruction &instruction : r.code)
    if (instruction.global && !instruction.global->writes) {
      ++loads;
      EXPECT_GT(instruction.global->coalescing(), 0.8) << instruction.text;
    }
  EXPECT_GT(loads, 0U);
  ASSERT_TRUE(r.run);
  EXPECT_EQ(r.run->block[0], 256U) << "that of the kernel";
  double shares = 0;
  for (const auto &[reason, share] : r.run->stalls)
    shares += share;
  EXPECT_NEAR(shares, 1, 1e-6);
}

TEST(ReportOfKernel, TextJsonAndPageHoldTheSame) {
  const Report r = report();
  const std::string text = to_text(r);
  for (const char *part :
       {"softmax block=1024,waves=4", "occupancy", "simulated launch: grid 37 x 1 x 1", "% coalesced",
        "plan of softmax", "tile IR", "LLVM IR", "kernel_test.cpp:", "s_endpgm"})
    EXPECT_NE(text.find(part), std::string::npos) << part;

  auto json = llvm::json::parse(to_json(r));
  ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
  const llvm::json::Object &object = *json->getAsObject();
  EXPECT_EQ(object.getInteger("version"), 1);
  EXPECT_EQ(object.getString("kernel"), "softmax");
  EXPECT_EQ(object.getObject("config")->getInteger("block"), 1024);
  EXPECT_EQ(object.getArray("code")->size(), r.code.size());
  EXPECT_EQ(object.getObject("run")->getArray("timeline")->size(), r.run->timeline.size());

  const std::string page = to_html(r);
  EXPECT_LT(page.size(), 2'000'000U);
  // Without its data, which quotes this file, the page names nothing outside of itself.
  const size_t data = page.find("id=\"report\">"), end = page.find("</script>", data);
  ASSERT_NE(end, std::string::npos);
  const std::string shell = page.substr(0, data) + page.substr(end);
  EXPECT_EQ(shell.find("http://"), shell.find("http://www.w3.org/2000/svg"))
      << "the name of SVG is no address";
  for (const char *outside : {"https://", " src=", "@import", "url("})
    EXPECT_EQ(shell.find(outside), std::string::npos) << outside;
}

TEST(ReportOfKernel, SourceTextCannotEndTheScriptOfThePage) {
  Report r = report();
  r.files[0].lines[0] = "</script><script>alert(1)</script><!--";
  const std::string page = to_html(r);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

TEST(ReportOfKernel, APageBeyondItsSizeLosesThePartsThatANoteNames) {
  Report r = report();
  r.llvm_ir.assign(40'000, IrLine{std::string(80, 'x'), 1, {0, first_line}});
  const std::string page = to_html(r);
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_NE(page.find("LLVM IR is too long"), std::string::npos);
}

TEST(ReportOfKernel, WithoutCodeIsRefused) {
  const auto kernel = compiled();
  const CompiledKernel no_code(std::make_shared<ir::Function>(kernel->function()), kernel->config(), nullptr,
                               "", {}, CacheLevel::None);
  EXPECT_EQ(report_of(no_code).error().owner, Owner::User);
}

} // namespace
} // namespace nereid::inspect
