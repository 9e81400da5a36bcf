// The command: help, usage errors, exit codes, and its subcommands that need no product.
#include <gtest/gtest.h>
#include <llvm/Support/Program.h>

#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;

namespace {

/// Runs with --json; the object must have an error of that owner with that message.
void expect_error(std::vector<std::string> arguments, int exit_code, const std::string &owner,
                  const std::string &message) {
  arguments.push_back("--json");
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_FALSE(result.err.empty());
  const llvm::json::Object object = result.json();
  const llvm::json::Object *error = object.getObject("error");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->getString("owner").value_or("").str(), owner);
  EXPECT_NE(error->getString("message").value_or("").str().find(message), std::string::npos)
      << error->getString("message").value_or("").str();
}

} // namespace

TEST(Command, HelpIsRightAndHasExamples) {
  const CommandResult help = run_command({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char *subcommand : {"demo", "sample", "quant", "gemm", "compile", "aot", "inspect", "layout",
                                 "tune", "cache", "doctor"}) {
    EXPECT_NE(help.out.find(subcommand), std::string::npos) << subcommand;
    const CommandResult own = run_command({subcommand, "--help"});
    EXPECT_EQ(own.exit_code, 0) << subcommand;
    EXPECT_TRUE(own.err.empty()) << subcommand;
    EXPECT_EQ(own.out.find("nereid sim run launch.json"), std::string::npos)
        << "the examples of the whole command";
  }
  EXPECT_NE(help.out.find("Examples:"), std::string::npos);
}

TEST(Command, TellsItsVersion) {
  EXPECT_EQ(run_command({"--version"}).out, "nereid " NEREID_VERSION "\n");
  const CommandResult json = run_command({"--version", "--json"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_EQ(json.json().getString("version").value_or("").str(), "nereid " NEREID_VERSION);
}

TEST(Command, UsageErrorsAreExitCode2WithOneObject) {
  expect_error({}, 2, "user", "A subcommand is required");
  expect_error({"frobnicate"}, 2, "user", "there is no subcommand 'frobnicate'");
  expect_error({"quant", "--m", "4"}, 2, "user", "required");
  expect_error({"demo", "--device", "cuda"}, 2, "user", "cuda");
  expect_error({"gemm", "--m", "x"}, 2, "user", "x");
  expect_error({"sample", "--seed", "-1"}, 2, "user", "--seed: -1 is not a whole number from 0 to 2^64 - 1");
  expect_error({"sim", "walk"}, 2, "user", "there is no subcommand 'sim walk'");
  expect_error({"doctor", "--device", "x"}, 2, "user", "unexpected on the command line: --device x");
  expect_error({"quant", "--m", "4", "--colour"}, 2, "user", "unexpected on the command line: --colour");
  expect_error({"-v"}, 2, "user", "unexpected on the command line: -v");
  expect_error({"--version", "foo"}, 2, "user", "unexpected after --version: foo");
  expect_error({"compile", "mxfp4_gemm", "--shape", "0,0,0"}, 2, "user", "M = 0 is not positive");
  expect_error({"compile", "mxfp4_quant", "--shape", "0,0,0"}, 2, "user", "M = 0 is not positive");
  for (const char *budget : {"-1", "0", "few", "99999999999999999999"})
    expect_error({"sim", "run", "launch.json", "--budget", budget}, 2, "user",
                 std::string("--budget: ") + budget + " is not a whole number from 1 to 2^64 - 1");
}

TEST(Command, SimRunPrintsItsJsonAlsoWhereItsOptionsAreWrong) {
  const CommandResult result = run_command({"sim", "run", "launch.json", "--budget", "0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.json().getString("status").value_or("").str(), "error");
}

TEST(Command, UsageErrorsPointAtTheHelpOfTheSubcommand) {
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{}, "see nereid --help\n"},
      {{"--frobnicate"}, "see nereid --help\n"},
      {{"frobnicate"}, "see nereid --help\n"},
      {{"gemm", "--m", "x"}, "see nereid gemm --help\n"},
      {{"compile"}, "see nereid compile --help\n"},
      {{"sim"}, "see nereid sim --help\n"},
      {{"sim", "walk"}, "see nereid sim --help\n"},
      {{"sim", "run", "launch.json", "--budget", "-1"}, "see nereid sim run --help\n"},
  };
  for (const auto &[arguments, end] : cases) {
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(result.err.ends_with(end)) << result.err;
  }
}

TEST(Command, OneObjectAlsoForNamesThatAreNoUtf8) {
  expect_error({"compile", "gemm\xff"}, 2, "user", "there is no kernel 'gemm\xef\xbf\xbd'");
  expect_error({"quant", "--m", "1", "--k", "32", "--in", "/no\xff", "--out-q", "q", "--out-scales", "s"}, 2,
               "user", "cannot read /no\xef\xbf\xbd");
}

TEST(Command, OneObjectAlsoForHelpAndTheLongFormOfTheFlag) {
  const CommandResult help = run_command({"quant", "--help", "--json"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.json().getString("help").value_or("").find("--out-scales"), llvm::StringRef::npos);
  const CommandResult bad = run_command({"quant", "--json=true", "--frobnicate"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.json().getObject("error"), nullptr);
}

TEST(Command, AFullDiskBehindStdoutIsExitCode3) {
  const std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef("/dev/null"), llvm::StringRef("/dev/full"), llvm::StringRef("/dev/null")};
  for (const char *flag : {"--json=true", "--json=false"})
    EXPECT_EQ(llvm::sys::ExecuteAndWait(NEREID_COMMAND, {NEREID_COMMAND, "doctor", flag}, std::nullopt,
                                        redirects, 60),
              3);
}

TEST(Command, AFullDiskBehindStderrLeavesTheExitCode) {
  const std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef("/dev/null"), llvm::StringRef("/dev/null"), llvm::StringRef("/dev/full")};
  EXPECT_EQ(
      llvm::sys::ExecuteAndWait(NEREID_COMMAND, {NEREID_COMMAND, "frobnicate"}, std::nullopt, redirects, 60),
      2);
}

#ifndef __SANITIZE_ADDRESS__ // whose shadow takes more of the address space than any limit leaves
TEST(Command, TooLittleMemoryIsExitCode3) {
  const std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef("/dev/null"), llvm::StringRef("/dev/null"), llvm::StringRef("/dev/null")};
  constexpr unsigned megabytes = 2048;
  const auto sample = [&](llvm::StringRef m) {
    const WorkDirectory directory;
    const std::string out = directory.path("out");
    return llvm::sys::ExecuteAndWait(
        NEREID_COMMAND, {NEREID_COMMAND, "sample", "--m", m, "--n", "16", "--k", "4096", "--out-dir", out},
        std::nullopt, redirects, /*SecondsToWait=*/60, megabytes);
  };
  EXPECT_EQ(sample("16"), 0);
  EXPECT_EQ(sample("1048576"), 3) << "A takes 8 GiB";
}
#endif

TEST(Command, AMissingGpuIsExitCode3) {
  const CommandResult doctor = run_command({"doctor", "--json"});
  const llvm::json::Object object = doctor.json();
  for (const llvm::json::Value &device : *object.getArray("devices"))
    if (device.getAsObject()->getString("name") == llvm::StringRef("hip") &&
        device.getAsObject()->getBoolean("available") == false)
      expect_error({"demo", "--device", "hip"}, 3, "environment", "");
}

TEST(Command, UnknownVectorInstructionsOfTheHostAreAWarning) {
  setenv("NEREID_SIM_SIMD", "sse2", /*overwrite=*/1);
  const CommandResult run = run_command({"--version"});
  unsetenv("NEREID_SIM_SIMD");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err,
            "nereid: warning: NEREID_SIM_SIMD is 'sse2': it is portable, avx2 or avx512 (taken here)\n");
}

TEST(Doctor, SaysThatTheEnvironmentAsksForNoCompiler) {
  setenv("NEREID_COMPILER", "frobnicate", /*overwrite=*/1);
  const CommandResult doctor = run_command({"doctor", "--json"});
  unsetenv("NEREID_COMPILER");
  EXPECT_EQ(doctor.exit_code, 0);
  const llvm::json::Object object = doctor.json();
  const std::string problem = object.getString("compiler_error").value_or("").str();
  EXPECT_NE(problem.find("unknown compiler 'frobnicate'"), std::string::npos) << problem;
  EXPECT_NE(problem.find("auto, embedded or comgr"), std::string::npos) << problem;
}

TEST(Doctor, SaysThatTheCacheHasNoSize) {
  setenv("NEREID_CACHE_BYTES", "many", /*overwrite=*/1);
  const CommandResult doctor = run_command({"doctor", "--json"});
  unsetenv("NEREID_CACHE_BYTES");
  EXPECT_EQ(doctor.exit_code, 0);
  const llvm::json::Object object = doctor.json();
  const std::string problem = object.getString("cache_error").value_or("").str();
  EXPECT_NE(problem.find("NEREID_CACHE_BYTES is 'many'"), std::string::npos) << problem;
}

TEST(Doctor, IsShortUnlessAsked) {
  const CommandResult shortly = run_command({"doctor"});
  const CommandResult verbosely = run_command({"doctor", "--verbose"});
  EXPECT_EQ(shortly.exit_code, 0);
  EXPECT_NE(shortly.out.find("\n  embedded   yes (chosen)\n"), std::string::npos) << shortly.out;
  EXPECT_NE(shortly.out.find("\n  sim        yes"), std::string::npos) << shortly.out;
  EXPECT_EQ(shortly.out.find("LLVM"), std::string::npos) << shortly.out;
  EXPECT_NE(verbosely.out.find("LLVM"), std::string::npos) << verbosely.out;
  EXPECT_EQ(shortly.out.find('\x1b'), std::string::npos) << "no terminal, no colours";
}

TEST(Doctor, SaysHowTheCacheIsAndWhatMendsIt) {
  const WorkDirectory directory;
  const std::string cache = directory.path("cache");
  const CommandResult empty = run_command({"doctor", "--json"}, cache);
  EXPECT_EQ(empty.json().getObject("cache")->getInteger("kernels"), 0);
  ASSERT_EQ(run_command({"compile", "mxfp4_quant", "--shape", "16,0,256"}, cache).exit_code, 0);
  EXPECT_EQ(run_command({"doctor", "--json"}, cache).json().getObject("cache")->getInteger("kernels"), 1);
  directory.write("cache/" + std::string(64, '0') + ".kernel", "damaged", 7);
  const CommandResult damaged = run_command({"doctor"}, cache);
  EXPECT_EQ(damaged.exit_code, 0);
  EXPECT_NE(damaged.out.find("1 damaged: `nereid cache verify --remove`"), std::string::npos) << damaged.out;
}

TEST(Doctor, SaysWhatThereIsAndWhy) {
  const CommandResult result = run_command({"doctor", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  const llvm::json::Object object = result.json();
  EXPECT_EQ(object.get("compiler_error"), nullptr);
  EXPECT_TRUE(object.getString("version").has_value());
  ASSERT_NE(object.getArray("compilers"), nullptr);
  ASSERT_NE(object.getArray("devices"), nullptr);
  for (const char *section : {"compilers", "devices"}) {
    int chosen = 0;
    for (const llvm::json::Value &line : *object.getArray(section)) {
      EXPECT_FALSE(line.getAsObject()->getString("detail").value_or("").empty());
      chosen += line.getAsObject()->getBoolean("chosen").value_or(false) ? 1 : 0;
    }
    EXPECT_EQ(chosen, 1) << section;
  }
  EXPECT_EQ(object.getObject("cache")->getString("directory").value_or("").str(), NEREID_TEST_CACHE);
}

TEST(Compile, TakesTheKernelsOfSeveralProducts) {
  for (const char *kernel : {"mxfp4_batched_gemm", "mxfp4_grouped_gemm"}) {
    const auto compile = [&](const char *config) {
      const CommandResult result = run_command(
          {"compile", kernel, "--config", config, "--shape", "64,256,512", "--emit", "ir", "--json"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      const llvm::json::Object object = result.json();
      EXPECT_EQ(object.getString("kernel").value_or("").str(), kernel);
      return object.getString("text").value_or("").str();
    };
    const std::string argument = compile("block_n=64"), constant = compile("block_n=64,const_k=1");
    EXPECT_NE(argument.find(std::string("kernel @") + kernel), std::string::npos) << argument;
    EXPECT_NE(argument.find("divisibility = 16"), std::string::npos) << argument;
    EXPECT_NE(argument, constant);
  }
  expect_error({"compile", "mxfp4_batched_gemm", "--config", "split_k=2"}, 2, "user",
               "mxfp4_batched_gemm has no config key 'split_k'");
}

TEST(Compile, EmitsEveryForm) {
  const std::vector<std::string> base = {"compile", "mxfp4_gemm_fused", "--config", "block_m=16,block_n=32",
                                         "--shape", "16,2880,512"};
  const auto emit = [&](const std::string &what) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), {"--emit", what});
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.exit_code, 0) << what << ": " << result.err;
    return result.out;
  };
  EXPECT_NE(emit("ir").find("kernel @mxfp4_gemm_fused"), std::string::npos);
  EXPECT_NE(emit("plan").find("plan of mxfp4_gemm_fused: "), std::string::npos);
  EXPECT_NE(emit("llvm").find("define"), std::string::npos);
  const std::string isa = emit("isa");
  EXPECT_NE(isa.find("v_mfma_scale_f32_16x16x128_f8f6f4"), std::string::npos);
  EXPECT_NE(isa.find(".amdhsa_kernel"), std::string::npos);
  EXPECT_NE(isa.find(".amdgpu_metadata"), std::string::npos);
  EXPECT_EQ(emit("hsaco").substr(0, 4), "\x7f"
                                        "ELF");
  llvm::Expected<llvm::json::Value> resources = llvm::json::parse(emit("resources"));
  ASSERT_TRUE(static_cast<bool>(resources)) << llvm::toString(resources.takeError());
  for (const char *key : {"vgpr", "agpr", "sgpr", "lds", "scratch", "spills", "occupancy"})
    EXPECT_TRUE(resources->getAsObject()->getInteger(key).has_value()) << key;
}

TEST(Compile, WritesToAFile) {
  const WorkDirectory directory;
  const CommandResult result = run_command(
      {"compile", "splitk_reduce", "--emit", "hsaco", "-o", directory.path("reduce.hsaco"), "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object object = result.json();
  EXPECT_EQ(object.getString("kernel").value_or("").str(), "splitk_reduce");
  const std::vector<uint8_t> bytes = directory.read("reduce.hsaco");
  ASSERT_GT(bytes.size(), 64U);
  EXPECT_EQ(bytes[1], 'E');
}

TEST(Compile, TakesTheSizesOfEachKernel) {
  for (const std::vector<std::string> &taken :
       std::vector<std::vector<std::string>>{{"attention", "17,33,100"},
                                             {"mla_decode", "3,33,576"},
                                             {"moe_route", "17,0,0"},
                                             {"matmul", "17,33,5"}}) {
    const CommandResult result =
        run_command({"compile", taken[0], "--shape", taken[1], "--emit", "resources"});
    EXPECT_EQ(result.exit_code, 0) << taken[0] << result.err;
  }
}

TEST(Compile, RefusesWhatItCannotCompile) {
  expect_error({"compile", "gemm"}, 2, "user", "there is no kernel 'gemm'");
  expect_error({"compile", "mxfp4_gemm", "--config", "blok_m=16"}, 2, "user", "unknown config key 'blok_m'");
  expect_error({"compile", "mxfp4_gemm", "--config", "shuffled=1"}, 2, "user",
               "has no config key 'shuffled'");
  expect_error({"compile", "mxfp4_gemm", "--shape", "16,512"}, 2, "user", "is not a shape M,N,K");
  expect_error({"compile", "mxfp4_gemm", "--shape", "16,64,48"}, 2, "user", "K = 48 is not a multiple of 32");
  expect_error({"compile", "mxfp4_quant", "--shape", "16,64,64"}, 2, "user", "its size is M,0,K");
  expect_error({"compile", "mxfp4_gemm", "--config", "const_k=1"}, 2, "user", "const_k=1 needs a shape");
  expect_error({"compile", "mxfp4_gemm", "--emit", "hsaco"}, 2, "user", "does not fit into JSON");
  expect_error({"compile", "mxfp4_gemm", "--config", "block_m=16,"}, 2, "user", "entry '' is not key=value");
  expect_error({"compile", "mxfp4_gemm", "--config", "block_m=99999999999"}, 2, "user",
               "is outside 1 to 1024");
  expect_error({"compile", "mxfp4_quant", "--shape", "0,0,64"}, 2, "user", "M = 0 is not positive");
  for (const std::vector<std::string> &big :
       std::vector<std::vector<std::string>>{{"mxfp4_gemm", "block_m=256,block_n=256,waves=1"},
                                             {"mxfp4_gemm_fused", "block_m=64,block_k=4096"},
                                             {"mxfp4_gemm_fused", "block_n=256,block_k=4096"},
                                             {"mxfp4_quant", "block_m=1024,block_k=4096"},
                                             {"splitk_reduce", "block_m=1024,block_n=1024"}})
    expect_error({"compile", big[0], "--config", big[1]}, 2, "user", "does not fit the registers");
  expect_error({"compile", "splitk_reduce", "-o", "/nowhere/at/all"}, 3, "environment", "cannot write");
}
