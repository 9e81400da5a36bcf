// nereid sim run with what cannot run: the answer's JSON, the exit code, the message.

#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;

namespace {

/// Launches of kernels that clang compiled (tests/sim/programs).
class SimRunRefusals : public testing::Test {
protected:
  static std::string program(std::string_view name) {
    return fmt::format("{}/{}.hsaco", NEREID_SIM_PROGRAMS, name);
  }

  CommandResult run(const std::string &launch) {
    directory_.write("launch.json", launch.data(), launch.size());
    return run_command({"sim", "run", directory_.path("launch.json"), "--json"});
  }
  CommandResult run(std::string_view code_object, std::string_view shape, std::string_view members) {
    return run(fmt::format(R"({{"code_object": "{}", {}{}{}}})", code_object, shape,
                           members.empty() ? "" : ", ", members));
  }

  /// Exit code 2, and an error of the user with that text.
  static void expect_error(const CommandResult &result, std::string_view part) {
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
    const llvm::json::Object object = result.json();
    EXPECT_EQ(object.getString("status").value_or("").str(), "error");
    EXPECT_EQ(object.get("instructions"), nullptr) << "nothing ran";
    const llvm::json::Object *error = object.getObject("error");
    ASSERT_NE(error, nullptr) << result.out;
    EXPECT_EQ(error->getString("owner").value_or("").str(), "user");
    const std::string message = error->getString("message").value_or("").str();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }

  WorkDirectory directory_;
};

constexpr const char *one_wave = R"("grid": [1, 1, 1], "block": [64, 1, 1])";

} // namespace

TEST_F(SimRunRefusals, FilesThatAreNoCodeObjectsOfThisMachine) {
  expect_error(run(program("loops.gfx942"), one_wave, R"("kernel": "prime_counts")"),
               "it is for another ISA than gfx950");
  directory_.write("text", "not an object", 13);
  expect_error(run("text", one_wave, ""), "it is not an ELF file");
  expect_error(run("missing.hsaco", one_wave, ""), "code_object: cannot read");
  expect_error(run(".", one_wave, ""), "is not a regular file");
}

TEST_F(SimRunRefusals, KernelsByName) {
  expect_error(run(program("loops.O3"), one_wave, ""), "has several kernels; name one of: collatz_steps, ");
  expect_error(run(program("loops.O3"), one_wave, R"("kernel": "nothing")"),
               "kernel: there is no kernel 'nothing'");
}

TEST_F(SimRunRefusals, ShapesBeyondTheLimits) {
  const std::string kernel = R"("kernel": "prime_counts")";
  expect_error(run(program("loops.O3"), R"("grid": [1, 0, 1], "block": [64, 1, 1])", kernel),
               "grid[1]: is 0");
  expect_error(run(program("loops.O3"), R"("grid": [1, 1, 1], "block": [64, 32, 1])", kernel),
               "block: 64x32x1 work-items are more than 1024");
  expect_error(run(program("loops.O3"), R"("grid": [1, 1, 1], "block": [512, 1, 1])", kernel),
               "block: 512 work-items, kernel 'prime_counts' takes at most 256");
  expect_error(run(program("lds.O3"), one_wave, R"("kernel": "bitonic_sort", "dynamic_lds": 161793)"),
               "dynamic_lds: 161793 bytes and the 2048 of kernel 'bitonic_sort' are more than 163840");
  expect_error(run(program("loops.O3"), one_wave, kernel + R"(, "buffers": {"b": {"size": 1099511627776}})"),
               "buffers.b: out of simulated device memory");
}

TEST_F(SimRunRefusals, ArgumentsThatDoNotFit) {
  const std::string members = R"("kernel": "prime_counts", "buffers": {"b": {"size": 256}}, )";
  expect_error(run(program("loops.O3"), one_wave, members + R"("values": [{"i32": 1}])"),
               "values[0]: 4 bytes do not fit argument 0 of 8 bytes");
  expect_error(run(program("loops.O3"), one_wave, members + R"("values": [{"buffer": "b"}, {"i32": 1}])"),
               "values[1]: kernel 'prime_counts' has 1 arguments");
  expect_error(
      run(program("loops.O3"), one_wave, members + R"("kernarg_size": 8, "values": [{"buffer": "b"}])"),
      "kernarg_size: 8 bytes do not hold the argument hidden_");
}

TEST_F(SimRunRefusals, OutputsThatAreInputsOrEachOther) {
  std::filesystem::copy_file(program("loops.O3"), directory_.path("k.hsaco"));
  directory_.write("in", std::vector<uint8_t>(256, 1));
  std::filesystem::create_symlink(directory_.path("in"), directory_.path("link"));
  std::filesystem::create_hard_link(directory_.path("in"), directory_.path("hard"));
  const auto with_outputs = [&](std::string_view outputs) {
    return run(
        "k.hsaco", one_wave,
        fmt::format(R"("kernel": "prime_counts", "buffers": {{"a": {{"file": "in"}}, "b": {{"size": 256}}}},
                              "values": [{{"buffer": "b"}}], "outputs": {{{}}})",
                    outputs));
  };
  const std::pair<const char *, const char *> rows[] = {
      {R"("b": "in")", "is an input and an output, the input of buffers.a.file"},
      {R"("b": "link")", "is an input and an output, the input of buffers.a.file"},
      {R"("b": "hard")", "is an input and an output, the input of buffers.a.file"},
      {R"("b": "k.hsaco")", "is an input and an output, the input of code_object"},
      {R"("b": "launch.json")", "is an input and an output, the input of the launch itself"},
      {R"("a": "out", "b": "./out")", "is asked for twice as an output, also by outputs.a"}};
  for (const auto &[outputs, message] : rows)
    expect_error(with_outputs(outputs), message);
  EXPECT_EQ(directory_.read("in"), std::vector<uint8_t>(256, 1));
  EXPECT_FALSE(std::filesystem::exists(directory_.path("out")));
  EXPECT_EQ(with_outputs(R"("b": "out")").exit_code, 0);
  EXPECT_EQ(directory_.read("out").size(), 256U);
}

TEST_F(SimRunRefusals, AFaultIsNoError) {
  // The kernel writes 256 bytes, the buffer has 252: the last lane is outside.
  const CommandResult result = run(program("loops.O3"), one_wave,
                                   R"("kernel": "prime_counts", "buffers": {"b": {"size": 252}},
                                      "values": [{"buffer": "b"}])");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const llvm::json::Object object = result.json();
  EXPECT_EQ(object.getString("status").value_or("").str(), "fault");
  const llvm::json::Object *fault = object.getObject("fault");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->getString("kind").value_or("").str(), "out_of_bounds");
  EXPECT_EQ(fault->getInteger("lane"), 63);
  EXPECT_EQ(fault->getString("line").value_or("").str(), "loops.cl:32");
  EXPECT_EQ(fault->getString("instruction").value_or("").str().substr(0, 18), "global_store_dword");
}
