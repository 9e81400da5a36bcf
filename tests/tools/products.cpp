// nereid gemm, quant and sample: files in, files out, and what they refuse.
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "kernels/host/problem.h"
#include "kernels/host/quantize.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;
namespace host = nereid::kernels::host;

namespace {

/// The files of a product.
class GemmFiles {
public:
  GemmFiles(int64_t m, int64_t n, int64_t k) : problem(host::random_problem(m, n, k, 11)) {
    directory.write("a", problem.a);
    directory.write("b", problem.b);
    directory.write("bs", problem.b_scales);
  }
  std::vector<std::string> arguments(const std::vector<std::string> &more = {}) const {
    std::vector<std::string> result = {"gemm",
                                       "--m",
                                       std::to_string(problem.m),
                                       "--n",
                                       std::to_string(problem.n),
                                       "--k",
                                       std::to_string(problem.k),
                                       "--a",
                                       directory.path("a"),
                                       "--b",
                                       directory.path("b"),
                                       "--b-scales",
                                       directory.path("bs"),
                                       "--out",
                                       directory.path("c"),
                                       "--device",
                                       "sim"};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }
  bool result_is_right() const {
    const std::vector<uint8_t> bytes = directory.read("c");
    std::vector<uint16_t> c(problem.m * problem.n);
    if (bytes.size() != c.size() * 2)
      return false;
    std::memcpy(c.data(), bytes.data(), bytes.size());
    return host::compare(c, problem.exact).passed();
  }

  host::Problem problem;
  WorkDirectory directory;
};

std::string message_of(const CommandResult &result) {
  const llvm::json::Object object = result.json();
  const llvm::json::Object *error = object.getObject("error");
  return error == nullptr ? "no error" : error->getString("message").value_or("").str();
}

} // namespace

TEST(GemmCommand, EveryPathWritesTheProduct) {
  const GemmFiles files(20, 80, 352);
  for (const char *path : {"auto", "fused", "atomic", "workspace", "staged"}) {
    const CommandResult result = run_command(files.arguments({"--path", path, "--check", "--json"}));
    EXPECT_EQ(result.exit_code, 0) << path << result.err;
    EXPECT_TRUE(files.result_is_right()) << path;
    EXPECT_TRUE(result.json().getNumber("max_error").has_value()) << path;
  }
}

TEST(GemmCommand, AnInputIsNoOutput) {
  const GemmFiles files(4, 16, 32);
  std::vector<std::string> arguments = files.arguments({"--json"});
  for (std::string &argument : arguments)
    if (argument == files.directory.path("c"))
      argument = files.directory.path("a");
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(message_of(result).find("is an input and an output"), std::string::npos) << message_of(result);
  EXPECT_EQ(files.directory.read("a").size(), files.problem.a.size() * 2) << "the input is as it was";
}

TEST(SampleCommand, WritesOperandsThatGemmMultipliesRight) {
  const WorkDirectory directory;
  const std::vector<std::string> shape = {"--m", "5", "--n", "48", "--k", "96"};
  const auto with_shape = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), shape.begin(), shape.end());
    return run_command(arguments);
  };
  ASSERT_EQ(with_shape({"sample", "--out-dir", directory.path("data"), "--seed", "7"}).exit_code, 0);
  const host::Operands expected = host::random_operands(5, 48, 96, 7);
  EXPECT_EQ(directory.read("data/b.bin"), expected.b);
  EXPECT_EQ(directory.read("data/b_scales.bin"), expected.b_scales);
  const CommandResult result = with_shape(
      {"gemm", "--a", directory.path("data/a.bin"), "--b", directory.path("data/b.bin"), "--b-scales",
       directory.path("data/b_scales.bin"), "--out", directory.path("c.bin"), "--device", "sim", "--check"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(directory.read("c.bin").size(), 5U * 48 * 2);

  const CommandResult bad = run_command({"sample", "--m", "1", "--n", "17", "--k", "32", "--json"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(message_of(bad).find("16"), std::string::npos) << message_of(bad);
}

TEST(GemmCommand, ManySlicesAreAddedInALoop) {
  const GemmFiles files(5, 48, 736);
  const CommandResult result =
      run_command(files.arguments({"--path", "workspace", "--config", "split_k=25,block_k=32", "--json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(files.result_is_right());
}

TEST(Compile, ManySlicesTakeNoMoreRegistersThanAFew) {
  const auto registers = [](const std::string &split) {
    const CommandResult result =
        run_command({"compile", "splitk_reduce", "--config", split, "--emit", "resources", "--json"});
    const llvm::json::Object object = result.json();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return object.getObject("resources")->getInteger("vgpr").value_or(1000);
  };
  EXPECT_LE(registers("split_k=1024"), registers("split_k=16"));
}

TEST(GemmCommand, TheJsonHasWhatItPromises) {
  const GemmFiles files(5, 48, 1056);
  const CommandResult result =
      run_command(files.arguments({"--path", "workspace", "--config", "split_k=3,block_n=32", "--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object object = result.json();
  EXPECT_EQ(object.getString("device").value_or("").str(), "sim");
  EXPECT_EQ(object.getString("path").value_or("").str(), "workspace");
  const llvm::json::Array *launches = object.getArray("launches");
  ASSERT_NE(launches, nullptr);
  ASSERT_EQ(launches->size(), 2U);
  const llvm::json::Object &gemm = *(*launches)[0].getAsObject();
  EXPECT_EQ(gemm.getString("kernel").value_or("").str(), "mxfp4_gemm_fused");
  EXPECT_EQ(gemm.getObject("config")->getInteger("split_k"), 3);
  EXPECT_EQ(gemm.getObject("config")->getString("reduce").value_or("").str(), "workspace");
  EXPECT_EQ(*gemm.getArray("grid"), (llvm::json::Array{2, 3, 1}));
  EXPECT_EQ(*gemm.getArray("block"), (llvm::json::Array{256, 1, 1}));
  for (const char *step : {"trace", "passes", "llvm_ir", "opt", "codegen", "link", "load"})
    EXPECT_TRUE(gemm.getObject("jit_ms")->getNumber(step).has_value()) << step;
  EXPECT_TRUE(gemm.getString("cache").has_value());
  for (const char *name : {"vgpr", "agpr", "sgpr", "lds", "scratch", "spills", "occupancy"})
    EXPECT_TRUE(gemm.getObject("resources")->getInteger(name).has_value()) << name;
  int64_t sum = 0;
  for (const char *name : {"mfma", "valu", "salu", "smem", "lds", "vmem_load", "vmem_store", "vmem_atomic",
                           "barrier", "waitcnt", "branch", "other"}) {
    ASSERT_TRUE(gemm.getObject("instructions")->getInteger(name).has_value()) << name;
    sum += *gemm.getObject("instructions")->getInteger(name);
  }
  EXPECT_EQ(gemm.getObject("instructions")->getInteger("total"), sum);
  EXPECT_GT(*gemm.getObject("instructions")->getInteger("mfma"), 0);
}

TEST(GemmCommand, RefusesBadInputWithoutTouchingTheOutput) {
  const GemmFiles files(4, 32, 64);
  const std::string a = files.directory.path("a");
  const struct {
    std::vector<std::string> more;
    std::string message;
  } cases[] = {
      {{"--path", "fused", "--config", "split_k=2"}, "--config split_k=2 contradicts --path fused"},
      {{"--path", "atomic", "--config", "reduce=workspace"},
       "--config reduce=workspace contradicts --path atomic"},
      {{"--path", "workspace", "--config", "reduce=none,split_k=4"},
       "--config reduce=none contradicts --path workspace"},
      {{"--config", "reduce=none,split_k=4"}, "mxfp4_gemm_fused: split_k=4 needs a way to reduce"},
      {{"--config", "waves=0"}, "config value waves=0 is none of 1, 2, 4, 8, 16"},
      {{"--config", "waves=3"}, "config value waves=3 is none of 1, 2, 4, 8, 16"},
      {{"--config", "mfma=8"}, "config value mfma=8 is none of 16, 32"},
      {{"--config", "depth=3"}, "unknown config key 'depth'"},
  };
  for (const auto &c : cases) {
    std::vector<std::string> more = c.more;
    more.push_back("--json");
    const CommandResult result = run_command(files.arguments(more));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(message_of(result), c.message);
  }
  EXPECT_TRUE(files.directory.read("c").empty());
}

TEST(GemmCommand, ChecksTheLengthOfEveryFile) {
  const GemmFiles files(4, 32, 64);
  files.directory.write("bs", std::vector<uint8_t>(32 * 2));
  const CommandResult plain_scales = run_command(files.arguments({"--json"}));
  EXPECT_EQ(plain_scales.exit_code, 2);
  EXPECT_NE(message_of(plain_scales).find("has 64 bytes where B's shuffled scales has 2048"),
            std::string::npos);
  files.directory.write("a", std::vector<uint8_t>(4 * 64 * 2 + 1));
  EXPECT_NE(
      message_of(run_command(files.arguments({"--json"}))).find("has 513 bytes where bf16 A [M,K] has 512"),
      std::string::npos);
}

TEST(QuantCommand, BothPathsAreBitExactPlainAndShuffled) {
  const int64_t m = 19;
  const int64_t k = 288;
  const std::vector<uint16_t> values = host::normal_bf16(m * k, 3);
  const host::MxMatrix expected = host::quantize_even(values, m, k);
  const WorkDirectory directory;
  directory.write("in", values);
  for (const char *path : {"sw", "hw"})
    for (bool shuffled : {false, true}) {
      std::vector<std::string> arguments = {"quant",
                                            "--m",
                                            "19",
                                            "--k",
                                            "288",
                                            "--in",
                                            directory.path("in"),
                                            "--out-q",
                                            directory.path("q"),
                                            "--out-scales",
                                            directory.path("s"),
                                            "--path",
                                            path,
                                            "--device",
                                            "sim",
                                            "--json"};
      if (shuffled)
        arguments.push_back("--shuffled");
      const CommandResult result = run_command(arguments);
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.json().getString("path").value_or("").str(), path);
      EXPECT_EQ(directory.read("q"), expected.codes);
      EXPECT_EQ(directory.read("s"),
                shuffled ? host::shuffle_scales(expected.scales, m, k, 127).value() : expected.scales);
    }
}

TEST(QuantCommand, RefusesBadInput) {
  const WorkDirectory directory;
  directory.write("in", std::vector<uint16_t>(64));
  const auto run = [&](const std::string &k, const std::string &in) {
    return run_command({"quant", "--m", "2", "--k", k, "--in", in, "--out-q", directory.path("q"),
                        "--out-scales", directory.path("s"), "--json"});
  };
  EXPECT_EQ(message_of(run("48", directory.path("in"))), "K = 48 is not a multiple of 32");
  EXPECT_NE(message_of(run("64", directory.path("in"))).find("has 128 bytes where bf16 [M,K] has 256"),
            std::string::npos);
  EXPECT_NE(message_of(run("32", directory.path(""))).find("is not a regular file"), std::string::npos);
  const CommandResult missing = run("32", directory.path("nothing"));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(message_of(missing).find("cannot read"), std::string::npos);
}

TEST(QuantCommand, AFaultWhileTheKernelRanIsExitCode1) {
  const WorkDirectory directory;
  directory.write("in", std::vector<uint16_t>(64));
  setenv("NEREID_SIM_BUDGET", "10", /*overwrite=*/1);
  const CommandResult result =
      run_command({"quant", "--m", "2", "--k", "32", "--in", directory.path("in"), "--out-q",
                   directory.path("q"), "--out-scales", directory.path("s"), "--device", "sim", "--json"});
  unsetenv("NEREID_SIM_BUDGET");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(message_of(result).find("budget"), std::string::npos) << message_of(result);
  EXPECT_FALSE(std::filesystem::exists(directory.path("q"))) << "an output that was not computed";
  EXPECT_FALSE(std::filesystem::exists(directory.path("s")));
}

TEST(QuantCommand, AValueThatTheEnvironmentCannotHaveIsExitCode2) {
  const WorkDirectory directory;
  directory.write("in", std::vector<uint16_t>(64));
  directory.write("b", std::vector<uint8_t>(256));
  directory.write("scales", std::vector<uint8_t>(2048, 127));
  const std::vector<std::string> commands[] = {
      {"quant", "--m", "2", "--k", "32", "--in", directory.path("in"), "--out-q", directory.path("q"),
       "--out-scales", directory.path("s"), "--device", "sim", "--json"},
      {"gemm", "--m", "2", "--n", "16", "--k", "32", "--a", directory.path("in"), "--b", directory.path("b"),
       "--b-scales", directory.path("scales"), "--out", directory.path("c"), "--device", "sim", "--json"}};
  const std::pair<const char *, const char *> values[] = {{"NEREID_SIM_BUDGET", "many"},
                                                          {"NEREID_SIM_CHECKS", "everything"},
                                                          {"NEREID_COMPILER", "Embedded"},
                                                          {"NEREID_CACHE_BYTES", "0"}};
  for (const std::vector<std::string> &command : commands)
    for (const auto &[variable, value] : values) {
      setenv(variable, value, /*overwrite=*/1);
      const CommandResult result = run_command(command);
      unsetenv(variable);
      EXPECT_EQ(result.exit_code, 2) << command.front() << " " << variable << "\n" << result.err;
      EXPECT_NE(message_of(result).find(value), std::string::npos) << message_of(result);
    }
}

TEST(QuantCommand, OutputsThatCannotBothBeWrittenAreLeftAlone) {
  const WorkDirectory directory;
  directory.write("in", std::vector<uint16_t>(64));
  directory.write("q", std::vector<uint8_t>{7});
  const auto run = [&](const std::string &scales) {
    return run_command({"quant", "--m", "2", "--k", "32", "--in", directory.path("in"), "--out-q",
                        directory.path("q"), "--out-scales", scales, "--json"});
  };
  const CommandResult same = run(directory.path("./q"));
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(message_of(same).find("is asked for twice as an output"), std::string::npos);
  EXPECT_EQ(run(directory.path("no/where")).exit_code, 3);
  EXPECT_EQ(directory.read("q"), std::vector<uint8_t>{7});
}

TEST(Command, VariablesThatNoRunCanHaveAreUsageErrors) {
  const GemmFiles files(4, 16, 32);
  const std::vector<std::string> gemm = files.arguments({"--json"});
  const std::vector<std::string> quant = {"quant",
                                          "--m",
                                          "4",
                                          "--k",
                                          "32",
                                          "--in",
                                          files.directory.path("a"),
                                          "--out-q",
                                          files.directory.path("q"),
                                          "--out-scales",
                                          files.directory.path("s"),
                                          "--device",
                                          "sim",
                                          "--json"};
  const std::vector<std::string> demo = {"demo", "--only", "test", "--device", "sim", "--json"},
                                 tune = {"tune", "--shape", "4,16,32", "--mode", "model", "--json"},
                                 compile = {"compile", "splitk_reduce", "--json"};
  struct Row {
    const char *variable, *value;
    std::vector<std::vector<std::string>> commands;
  };
  const Row rows[] = {{"NEREID_COMPILER", "Embedded", {gemm, quant, demo, tune, compile}},
                      {"NEREID_CACHE_BYTES", "many", {gemm, quant, demo, tune, compile}},
                      {"NEREID_COMPILE_TIMEOUT", "nan", {gemm, quant, demo, tune, compile}},
                      {"NEREID_COMPILE_TIMEOUT", "abc", {gemm, quant, demo, tune, compile}},
                      {"NEREID_OVERRIDE_DIR", "/nonexistent", {gemm, quant, demo, tune, compile}},
                      {"NEREID_SIM_BUDGET", "few", {gemm, quant, demo, tune}},
                      {"NEREID_SIM_CHECKS", "some", {gemm, quant, demo, tune}}};
  for (const auto &[variable, value, commands] : rows)
    for (const std::vector<std::string> &command : commands) {
      setenv(variable, value, /*overwrite=*/1);
      const CommandResult result = run_command(command);
      unsetenv(variable);
      EXPECT_EQ(result.exit_code, 2) << variable << " " << command[0] << ": " << result.err;
      EXPECT_NE(message_of(result).find(value), std::string::npos) << command[0] << message_of(result);
    }
  EXPECT_FALSE(std::filesystem::exists(files.directory.path("c")));
}
