// nereid sim: what it prints and with which exit code.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;

namespace {

/// The quantiser as a code object k.hsaco and launch files beside it.
class SimRun : public testing::Test {
protected:
  void SetUp() override {
    const CommandResult compiled = run_command({"compile", "mxfp4_quant", "--shape", "16,0,64", "--emit",
                                                "hsaco", "-o", directory_.path("k.hsaco")});
    ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  }

  CommandResult run(std::string_view launch, const std::vector<std::string> &options = {}) {
    directory_.write("launch.json", launch.data(), launch.size());
    std::vector<std::string> arguments = {"sim", "run", directory_.path("launch.json")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_command(arguments);
  }

  WorkDirectory directory_;
};

} // namespace

TEST_F(SimRun, PrintsOneObjectAndWritesOutputs) {
  for (const bool json : {false, true}) {
    const CommandResult result = run(R"({"code_object": "k.hsaco", "grid": [1, 1, 1], "block": [64, 1, 1],
      "buffers": {"a": {"size": 65536, "fill": 0}, "q": {"size": 65536, "fill": 170},
                  "s": {"size": 65536, "fill": 170}},
      "values": [{"buffer": "a"}, {"buffer": "q"}, {"buffer": "s"}, {"i32": 16}, {"i32": 64}],
      "outputs": {"q": "q.bin"}})",
                                     json ? std::vector<std::string>{"--json"} : std::vector<std::string>{});
    ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
    const llvm::json::Object object = result.json();
    EXPECT_EQ(object.getString("status").value_or("").str(), "ok");
    ASSERT_NE(object.get("fault"), nullptr);
    EXPECT_EQ(object.get("fault")->kind(), llvm::json::Value::Null);
    EXPECT_EQ(object.getInteger("waves"), 1);
    EXPECT_TRUE(object.getNumber("wall_seconds").has_value());
    EXPECT_EQ(object.get("cycles"), nullptr);
    const llvm::json::Object *instructions = object.getObject("instructions");
    ASSERT_NE(instructions, nullptr);
    EXPECT_GT(instructions->getInteger("total").value_or(0), 10);
    EXPECT_GT(instructions->getInteger("vmem_store").value_or(0), 0);
    const std::vector<uint8_t> codes = directory_.read("q.bin");
    ASSERT_EQ(codes.size(), 65536U);
    EXPECT_EQ(codes[0], 0) << "zeros have the code 0";
    EXPECT_EQ(codes[65535], 170);
  }
}

TEST_F(SimRun, ATimedLaunchHasItsTimeWhetherItComputesOrNot) {
  double us[2] = {};
  for (const bool only : {false, true}) {
    const CommandResult result = run(fmt::format(
        R"({{"code_object": "k.hsaco", "grid": [8, 4, 1], "block": [64, 1, 1], "timing": {}, "caches": "rotating",
            "buffers": {{"a": {{"size": 262144, "fill": 0}}, "q": {{"size": 65536, "fill": 170}}, "s": {{"size": 4096, "fill": 170}}}},
            "values": [{{"buffer": "a"}}, {{"buffer": "q"}}, {{"buffer": "s"}}, {{"i32": 64}}, {{"i32": 2048}}]}})",
        only ? R"("only")" : "true"));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const llvm::json::Object object = result.json();
    EXPECT_NE(object.get("cycles"), nullptr);
    ASSERT_NE(object.getArray("checks"), nullptr);
    EXPECT_EQ(object.getArray("checks")->empty(), only) << "what was not made is not listed";
    const llvm::json::Object *time = object.getObject("time");
    ASSERT_NE(time, nullptr);
    us[only] = time->getNumber("us").value_or(0);
    EXPECT_GT(us[only], 1.9) << "an empty launch takes that long";
    EXPECT_LT(us[only], 10);
    EXPECT_GT(time->getNumber("cycles_per_workgroup").value_or(0), 100);
    EXPECT_LE(time->getNumber("clock_ghz").value_or(0), 2.4);
    EXPECT_EQ(result.out.find("99999"), std::string::npos) << "2.4, not 2.3999999999999999: " << result.out;
    EXPECT_FALSE(time->getString("limit").value_or("").empty());
    ASSERT_NE(time->getObject("stalls"), nullptr);
    double sum = 0;
    for (const auto &[reason, share] : *time->getObject("stalls"))
      sum += share.getAsNumber().value_or(0);
    EXPECT_NEAR(sum, 1, 1e-3);
    for (const char *count : {"workgroups", "executed_workgroups"})
      EXPECT_EQ(time->getInteger(count).value_or(0), 32) << count;
    EXPECT_EQ(time->getBoolean("looks_uneven").value_or(true), false);
    EXPECT_EQ(time->get("note"), nullptr) << "all were executed";
    ASSERT_NE(time->getObject("traffic"), nullptr);
    for (const char *level : {"l2", "mall", "hbm"})
      EXPECT_TRUE(time->getObject("traffic")->getInteger(level).has_value()) << level;
  }
  EXPECT_EQ(us[0], us[1]);
}

TEST_F(SimRun, ATimeOfAFewWorkgroupsSaysSo) {
  const CommandResult result = run(
      R"({"code_object": "k.hsaco", "grid": [8, 4096, 1], "block": [64, 1, 1], "timing": "only",
          "buffers": {"a": {"size": 268435456}, "q": {"size": 67108864}, "s": {"size": 4194304}},
          "values": [{"buffer": "a"}, {"buffer": "q"}, {"buffer": "s"}, {"i32": 65536}, {"i32": 2048}]})");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object object = result.json();
  const llvm::json::Object *time = object.getObject("time");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->getInteger("workgroups").value_or(0), 8 * 4096);
  EXPECT_LT(time->getInteger("executed_workgroups").value_or(8 * 4096), 8 * 4096);
  EXPECT_EQ(time->getString("note").value_or("").find("timed from "), 0u) << result.out;
}

TEST_F(SimRun, AFaultIsExitCode1AndSaysWhere) {
  const CommandResult result = run(R"({"code_object": "k.hsaco", "grid": [1, 1, 1], "block": [64, 1, 1],
              "buffers": {"q": {"size": 8, "fill": 1}}, "outputs": {"q": "q.bin"}, "timing": true,
              "values": [{"u64": 0}, {"u64": 0}, {"u64": 0}, {"i32": 16}, {"i32": 64}]})");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("out_of_bounds"), std::string::npos) << result.err;
  const llvm::json::Object object = result.json();
  EXPECT_EQ(object.getString("status").value_or("").str(), "fault");
  EXPECT_EQ(object.getString("cycles").value_or("").str(), "unavailable");
  const llvm::json::Object *fault = object.getObject("fault");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->getString("kind").value_or("").str(), "out_of_bounds");
  EXPECT_GT(fault->getInteger("address").value_or(0), 0);
  EXPECT_NE(fault->getString("instruction").value_or("").find("load"), llvm::StringRef::npos);
  ASSERT_NE(fault->getArray("workgroup"), nullptr);
  EXPECT_EQ(fault->getArray("workgroup")->size(), 3U);
  EXPECT_EQ(fault->getInteger("wave"), 0);
  EXPECT_TRUE(fault->getInteger("lane").has_value());
  EXPECT_FALSE(fault->getString("text").value_or("").empty());
  EXPECT_NE(fault->get("line"), nullptr);
  EXPECT_EQ(directory_.read("q.bin"), std::vector<uint8_t>(8, 1));
}

TEST_F(SimRun, AnErrorIsExitCode2AndNamesTheKey) {
  const CommandResult result = run(R"({"code_object": "k.hsaco", "grid": [0, 1, 1], "block": [64, 1, 1]})");
  EXPECT_EQ(result.exit_code, 2);
  const llvm::json::Object object = result.json();
  EXPECT_EQ(object.getString("status").value_or("").str(), "error");
  const llvm::json::Object *error = object.getObject("error");
  ASSERT_NE(error, nullptr);
  EXPECT_NE(error->getString("message").value_or("").find("grid[0]: is 0"), llvm::StringRef::npos);
  EXPECT_EQ(run_command({"sim", "run", directory_.path("missing.json")}).exit_code, 2);
  EXPECT_EQ(run_command({"sim", "run"}).exit_code, 2);
  EXPECT_EQ(run_command({"sim"}).exit_code, 2);
}

TEST(SimCoverage, CountsWhatItLists) {
  const CommandResult result = run_command({"sim", "coverage", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  const llvm::json::Object object = result.json();
  const llvm::json::Array *rows = object.getArray("instructions");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(static_cast<int64_t>(rows->size()), object.getInteger("total"));
  const auto done = std::count_if(rows->begin(), rows->end(), [](const llvm::json::Value &row) {
    return row.getAsObject()->getString("status") == llvm::StringRef("done");
  });
  EXPECT_EQ(done, object.getInteger("done"));
  EXPECT_EQ(*object.getInteger("total") - done, object.getInteger("unsupported"));
  const CommandResult text = run_command({"sim", "coverage"});
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), static_cast<int64_t>(rows->size()) + 1);
  EXPECT_NE(text.out.find("v_exp_f32"), std::string::npos);
  EXPECT_NE(text.out.find("within 1 ulp"), std::string::npos);
}
