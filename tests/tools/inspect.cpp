// nereid inspect and nereid layout: what they print, what they refuse and with which exit code.
#include <algorithm>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;

namespace {

using Arguments = std::vector<std::string>;

const std::string lds_object = NEREID_SIM_PROGRAMS "/lds.O3.hsaco";

CommandResult inspect(Arguments arguments) {
  arguments.insert(arguments.begin(), "inspect");
  return run_command(arguments);
}

/// A launch file of transpose in lds.cl, of 64 x 64 floats.
const std::string transpose_launch = R"({"code_object": ")" + lds_object +
                                     R"(", "kernel": "transpose", "grid": [2, 2, 1], "block": [32, 8, 1],
  "buffers": {"in": {"size": 16384, "fill": 0}, "out": {"size": 16384}},
  "values": [{"buffer": "in"}, {"buffer": "out"}, {"u32": 64}, {"u32": 64}], "outputs": {"out": "out.bin"}})";

bool is_of_kind(const llvm::json::Value &instruction, llvm::StringRef kind) {
  return instruction.getAsObject()->getString("kind") == kind;
}

/// Whether a run executes instructions of the kind.
bool executes(const llvm::json::Object &report, llvm::StringRef kind) {
  const llvm::json::Array &code = *report.getArray("code");
  return std::any_of(code.begin(), code.end(), [&](const llvm::json::Value &instruction) {
    return is_of_kind(instruction, kind) && instruction.getAsObject()->getNumber("executed").value_or(0) > 0;
  });
}

bool has_products(const llvm::json::Object &report) {
  const llvm::json::Array &code = *report.getArray("code");
  return std::any_of(code.begin(), code.end(),
                     [](const llvm::json::Value &instruction) { return is_of_kind(instruction, "mfma"); });
}

/// As the command lists them where it is given another.
std::set<std::string> kernels_of_the_library() {
  const llvm::json::Object answer = run_command({"compile", "no_such_kernel", "--json"}).json();
  const llvm::StringRef remedy = answer.getObject("error")->getString("remedy").value();
  llvm::SmallVector<llvm::StringRef> names;
  remedy.split(": ").second.split(names, ", ");
  return {names.begin(), names.end()};
}

} // namespace

TEST(Inspect, ShowsALibraryKernelWithItsLaunch) {
  const CommandResult result = inspect({"mxfp4_quant", "--shape", "32,0,512"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char *part :
       {"VGPRs", "occupancy", "mxfp4_quant.cpp:", "s_endpgm", "simulated launch", "coalesced", "plan of"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
}

TEST(Inspect, WithoutAShapeNothingIsLaunchedAndANoteSaysSo) {
  const CommandResult result = inspect({"mxfp4_quant", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object report = result.json();
  EXPECT_EQ(report.get("run")->kind(), llvm::json::Value::Null);
  EXPECT_NE(result.out.find("--shape says which launch"), std::string::npos);
  EXPECT_EQ(report.getString("origin"), "library kernel");
}

struct LibraryLaunch {
  const char *kernel, *shape, *numbers;
  const char *operands; ///< as the report says them
  std::vector<int64_t> grid;
};

TEST(Inspect, LaunchesEveryKernelOfTheLibraryWithWorkForItsPrograms) {
  const LibraryLaunch launches[] = {
      {"mxfp4_quant", "32,0,512", "", "zeros", {2, 1, 1}},
      {"mxfp4_rmsnorm_quant", "8,0,1024", "", "zeros", {8, 1, 1}},
      {"mxfp4_act_quant", "32,0,512", "", "zeros", {4, 1, 1}},
      {"mxfp4_gemm_fused", "16,64,256", "", "zeros", {2, 1, 1}},
      {"mxfp4_gemm", "16,64,256", "", "zeros", {1, 1, 1}},
      {"mxfp4_batched_gemm", "16,64,256", "batch=3", "zeros, batch=3", {2, 1, 3}},
      {"mxfp4_grouped_gemm", "64,64,256", "experts=4", "rows in equal shares to the experts", {2, 7, 1}},
      {"splitk_reduce", "16,128,256", "", "zeros", {1, 1, 1}},
      {"moe_route", "16,0,32", "", "experts=256", {4, 1, 1}},
      {"moe_up", "64,128,256", "experts=8,top_k=2", "experts=8, top_k=2", {2, 8, 1}},
      {"moe_down", "64,128,256", "experts=8,top_k=2", "experts=8, top_k=2", {2, 8, 1}},
      {"rope_cache", "3,0,32", "", "tokens in neighbouring slots", {3, 1, 1}},
      {"attention", "128,128,128", "", "batch=1, heads=32, key_heads=8", {1, 32, 1}},
      {"attention", "128,128,128:ragged=1", "batch=3", "m queries and n keys in every sequence", {1, 32, 3}},
      {"attention_decode", "1,256,128", "", "all n keys in every sequence, batch=32", {8, 1, 32}},
      {"attention_decode", "1,256,128:page=16", "batch=2", "batch=2, heads=32, key_heads=8", {8, 1, 2}},
      {"attention_combine", "1,256,128:split_k=2", "batch=2", "zeros, batch=2", {32, 1, 2}},
      {"matmul", "128,128,64", "", "zeros", {1, 1, 1}},
      {"mla_decode", "2,64,32", "", "all n keys in every sequence, heads=128", {2, 1, 2}},
      {"mla_combine", "2,64,32:split_k=2", "heads=16", "zeros, heads=16", {16, 2, 1}},
  };
  std::set<std::string> names;
  for (const LibraryLaunch &launch : launches) {
    SCOPED_TRACE(launch.kernel);
    names.insert(launch.kernel);
    const std::string shape = launch.shape;
    Arguments arguments = {launch.kernel, "--shape", shape.substr(0, shape.find(':')), "--json"};
    if (const size_t colon = shape.find(':'); colon != std::string::npos)
      arguments.insert(arguments.end(), {"--config", shape.substr(colon + 1)});
    if (*launch.numbers)
      arguments.insert(arguments.end(), {"--numbers", launch.numbers});
    const CommandResult result = inspect(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
    const llvm::json::Object report = result.json();
    const llvm::json::Object *run = report.getObject("run");
    ASSERT_NE(run, nullptr);
    EXPECT_NE(run->getString("operands")->find(launch.operands), llvm::StringRef::npos)
        << run->getString("operands")->str();
    std::vector<int64_t> grid;
    for (const llvm::json::Value &size : *run->getArray("grid"))
      grid.push_back(size.getAsInteger().value());
    EXPECT_EQ(grid, launch.grid);
    // The workgroup that is looked at reads its operands and stores its results.
    EXPECT_TRUE(executes(report, "vmem_load"));
    EXPECT_TRUE(executes(report, "vmem_store"));
    EXPECT_EQ(executes(report, "mfma"), has_products(report));
    EXPECT_GT(run->getNumber("us").value_or(0), 0);
  }
  EXPECT_EQ(names, kernels_of_the_library());
}

TEST(Inspect, ReportsALaunchFileWithoutWritingItsOutputs) {
  const WorkDirectory directory;
  directory.write("launch.json", transpose_launch.data(), transpose_launch.size());
  const CommandResult result = inspect({directory.path("launch.json"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object report = result.json();
  EXPECT_EQ(report.getString("kernel"), "transpose");
  ASSERT_NE(report.getObject("run"), nullptr);
  EXPECT_GT(report.getObject("run")->getNumber("us").value_or(0), 0);
  double conflicts = 0;
  unsigned accesses = 0;
  for (const llvm::json::Value &instruction : *report.getArray("code"))
    if (const llvm::json::Object *lds = instruction.getAsObject()->getObject("lds")) {
      ++accesses;
      conflicts += lds->getNumber("conflict_clocks").value_or(0);
    }
  EXPECT_GT(accesses, 0U);
  EXPECT_EQ(run_command({"inspect", directory.path("out.bin")}).exit_code, 2) << "there is no output";
}

TEST(Inspect, WritesAPageAndSaysWhere) {
  const WorkDirectory directory;
  const std::string page = directory.path("page.html");
  const CommandResult result = inspect({lds_object, "--kernel", "block_sum", "--html", page});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(page), std::string::npos);
  const std::vector<uint8_t> bytes = directory.read("page.html");
  EXPECT_TRUE(std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size())
                  .starts_with("<!doctype html>"));
}

TEST(Inspect, ShowsWhatATuningTableSaysOfAKey) {
  const CommandResult result =
      inspect({"mxfp4_quant", "--table", NEREID_SHIPPED_TABLE, "--key", "M=16,N=2112,K=7168", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object report = result.json();
  ASSERT_EQ(report.getArray("tuning")->size(), 1U);
  const llvm::json::Object &tuning = *(*report.getArray("tuning"))[0].getAsObject();
  EXPECT_EQ(tuning.getString("key"), "M=16,N=2112,K=7168");
  const llvm::json::Object &best = *(*tuning.getArray("configs"))[0].getAsObject();
  EXPECT_EQ(best.getBoolean("winner"), true);
}

TEST(Inspect, ComparesTwoConfigs) {
  const CommandResult result =
      inspect({"--diff", "mxfp4_quant:block_k=256", "mxfp4_quant:block_k=512", "--shape", "32,0,512"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char *part : {"block_k=256", "block_k=512", "simulated time", "vector registers", "b / a"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
}

TEST(Inspect, RefusesWhatItCannotInspectAndSaysWhoseFaultItIs) {
  const WorkDirectory directory;
  const std::string_view text = "no code object", broken = "{\"code_object\": 3}",
                         elf = "\x7f"
                               "ELF and no more";
  directory.write("text", text.data(), text.size());
  directory.write("broken.json", broken.data(), broken.size());
  directory.write("half.hsaco", elf.data(), elf.size());
  struct Row {
    Arguments arguments;
    int exit_code;
    const char *owner;
    const char *says;
  };
  const Row rows[] = {
      {{"no_such_kernel"}, 2, "user", "no_such_kernel"},
      {{directory.path("text")}, 2, "user", "neither a code object (ELF) nor a launch file"},
      {{directory.path("broken.json")}, 2, "user", "grid"},
      {{directory.path("half.hsaco")}, 2, "user", "code object"},
      {{NEREID_SIM_PROGRAMS "/loops.gfx942.hsaco"}, 2, "user", "another ISA than gfx950"},
      {{lds_object}, 2, "user", "kernel"},
      {{lds_object, "--kernel", "nothing"}, 2, "user", "nothing"},
      {{lds_object, "--kernel", "block_sum", "--shape", "1,2,3"}, 2, "user", "--shape"},
      {{lds_object, "--kernel", "block_sum", "--caches", "warm"}, 2, "user", "--caches"},
      {{"mxfp4_quant", "--kernel", "x"}, 2, "user", "--kernel"},
      {{"mxfp4_quant:block_k=64", "--config", "block_k=64"}, 2, "user", "--config"},
      {{"mxfp4_quant:block_z=64"}, 2, "user", "block_z"},
      {{"mxfp4_quant", "mxfp4_gemm"}, 2, "user", "--diff"},
      {{"mxfp4_quant", "--diff"}, 2, "user", "two"},
      {{"mxfp4_quant", "--numbers", "heads=1"}, 2, "user", "--shape"},
      {{"mxfp4_quant", "--shape", "32,0,512", "--numbers", "heads=1"}, 2, "user", "no number 'heads'"},
      {{"attention", "--shape", "64,64,128", "--numbers", "heads=0"}, 2, "user", "heads=0 is out of range"},
      {{"attention", "--shape", "64,64,128", "--numbers", "heads=30"}, 2, "user", "30 heads on 8 key heads"},
      {{"attention", "--shape", "64,64,128", "--numbers", "heads"}, 2, "user", "is not name=integer"},
      {{"moe_up", "--shape", "64,128,256", "--numbers", "batch=2"},
       2,
       "user",
       "its numbers: experts=32, top_k=4"},
      {{lds_object, "--kernel", "block_sum", "--numbers", "n=3"}, 2, "user", "--numbers"},
      {{"mxfp4_quant", "--key", "M=1"}, 2, "user", "--table"},
      {{"mxfp4_quant", "--table", directory.path("none")}, 2, "user", "no tuning table"},
      {{"mxfp4_quant", "--table", NEREID_SHIPPED_TABLE, "--key", "M=1"}, 2, "user", "M=1"},
      {{"mxfp4_quant", "--table", directory.path("text")}, 3, "environment", "text"},
      {{"mxfp4_quant", "--html", "/nowhere/at/all.html"}, 3, "environment", "/nowhere"},
      {{directory.path("half.hsaco"), "--html", directory.path("half.hsaco")}, 2, "user", "--html"},
  };
  for (Row row : rows) {
    row.arguments.push_back("--json");
    const CommandResult result = inspect(row.arguments);
    EXPECT_EQ(result.exit_code, row.exit_code) << row.says << result.out;
    const llvm::json::Object object = result.json();
    ASSERT_NE(object.getObject("error"), nullptr) << row.says;
    EXPECT_EQ(object.getObject("error")->getString("owner"), row.owner) << row.says;
    EXPECT_NE(result.out.find(row.says), std::string::npos) << row.says << result.out;
  }
}

TEST(Inspect, AFaultOfTheLaunchIsExitCodeOne) {
  const WorkDirectory directory;
  std::string launch = transpose_launch;
  launch.replace(launch.find("16384"), 5, "16   ");
  directory.write("launch.json", launch.data(), launch.size());
  const CommandResult result = inspect({directory.path("launch.json")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("the simulated launch faults"), std::string::npos) << result.err;
}

TEST(Layout, DrawsWhatAPlanWrites) {
  const std::string text = "[16, 16] register: (1,0) (2,0) lane: (0,1) (0,2) (0,4) (0,8) (4,0) (8,0)";
  const CommandResult table = run_command({"layout", text, "--rows", "2", "--columns", "2"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("l1 r1"), std::string::npos) << table.out;
  const WorkDirectory directory;
  const CommandResult picture =
      run_command({"layout", text, "--svg", directory.path("layout.svg"), "--json"});
  EXPECT_EQ(picture.exit_code, 0) << picture.err;
  EXPECT_EQ(picture.json().getString("layout"), text);
  const std::vector<uint8_t> svg = directory.read("layout.svg");
  EXPECT_TRUE(
      std::string_view(reinterpret_cast<const char *>(svg.data()), svg.size()).starts_with("<svg xmlns="));
}

TEST(Layout, RefusesWhatIsNone) {
  for (const char *text :
       {"", "[16", "[16] lane: (3)(", "[16] lane: (16)", "[48] register: (1)", "[4] thread: (1)"}) {
    const CommandResult result = run_command({"layout", text, "--json"});
    EXPECT_EQ(result.exit_code, 2) << text;
    ASSERT_NE(result.json().getObject("error"), nullptr) << text;
  }
}
