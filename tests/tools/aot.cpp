// nereid aot: the files, the same every time, accepted by a C compiler; what is refused.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>

#include "tests/tools/command_runner.h"

namespace nereid::tools::test {
namespace {

TEST(Aot, WritesFilesThatACCompilerTakes) {
  const WorkDirectory directory;
  const std::string out = directory.path("kernels");
  const CommandResult result =
      run_command({"aot", "mxfp4_quant", "splitk_reduce", "--shape", "64,256,512", "-o", out, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object json = result.json();
  ASSERT_EQ(json.getArray("kernels")->size(), 2u);
  EXPECT_EQ((*json.getArray("kernels"))[0].getAsObject()->getString("kernel"), "mxfp4_quant");
  EXPECT_EQ(json.getArray("files")->size(), 10u);
  for (const std::string name : {"mxfp4_quant", "splitk_reduce"}) {
    const std::string source = out + "/" + name + ".c", object = out + "/" + name + ".o";
    EXPECT_EQ(
        llvm::sys::ExecuteAndWait(NEREID_C_COMPILER, {NEREID_C_COMPILER, "-std=c11", "-Wall", "-Wextra",
                                                      "-Wpedantic", "-Werror", "-c", source, "-o", object}),
        0)
        << name;
  }
}

TEST(Aot, WritesTheSameBytesEveryTime) {
  const WorkDirectory directory;
  for (const char *out : {"first", "second"})
    ASSERT_EQ(
        run_command({"aot", "mxfp4_quant", "--shape", "64,256,512", "-o", directory.path(out)}).exit_code, 0);
  for (const char *file : {"mxfp4_quant.hsaco", "mxfp4_quant.h", "mxfp4_quant.c", "mxfp4_quant.json"})
    EXPECT_EQ(directory.read(std::string("first/") + file), directory.read(std::string("second/") + file))
        << file;
}

TEST(Aot, NamesFilesAndFunctionsAsAsked) {
  const WorkDirectory directory;
  for (const char *name : {"quant_64", "quant_96"})
    ASSERT_EQ(run_command({"aot", "mxfp4_quant", "--shape", "64,256,512", "--name", name, "-o",
                           directory.path("kernels")})
                  .exit_code,
              0);
  for (const std::string name : {"quant_64", "quant_96"}) {
    const std::vector<uint8_t> header = directory.read("kernels/" + name + ".h");
    EXPECT_NE(std::string(header.begin(), header.end()).find(name + "_launch("), std::string::npos);
    EXPECT_FALSE(directory.read("kernels/" + name + ".hsaco").empty());
  }
}

void expect_error(const std::vector<std::string> &arguments, int code, const std::string &message) {
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, code);
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
}

TEST(Aot, ExportsKernelsWhosePointersAreCalledLikeADimension) {
  const WorkDirectory directory;
  const CommandResult result =
      run_command({"aot", "attention", "rope_cache", "-o", directory.path("kernels"), "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(Aot, RefusesWhatItCannotDo) {
  const WorkDirectory directory;
  const std::string out = directory.path("kernels");
  expect_error({"aot", "-o", out}, 2, "kernels is required");
  expect_error({"aot", "mxfp4_quant"}, 2, "--output is required");
  expect_error({"aot", "gemm", "-o", out}, 2, "there is no kernel 'gemm'");
  expect_error({"aot", "mxfp4_quant", "mxfp4_quant", "-o", out}, 2, "two exports are called 'mxfp4_quant'");
  expect_error({"aot", "mxfp4_quant", "--shape", "4,16,33", "-o", out}, 2, "K = 33 is not a multiple of 32");
  expect_error({"aot", "mxfp4_quant", "--config", "split_k=2", "-o", out}, 2, "no config key 'split_k'");
  EXPECT_FALSE(llvm::sys::fs::exists(out));
  expect_error({"aot", "mxfp4_quant", "splitk_reduce", "--name", "both", "-o", out}, 2,
               "--name is for one kernel");
  expect_error({"aot", "mxfp4_quant", "--name", "a-b", "-o", out}, 2, "a-b");
  directory.write("file", "x", 1);
  expect_error({"aot", "mxfp4_quant", "-o", directory.path("file")}, 3, "cannot write");
}

TEST(Aot, LeavesNothingNewWhereAFileCannotBeWritten) {
  const WorkDirectory directory;
  const std::string out = directory.path("kernels");
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(out))
      names.insert(entry.path().filename());
    return names;
  };
  std::filesystem::create_directories(out + "/mxfp4_quant.json"); // in place of the last file
  expect_error({"aot", "mxfp4_quant", "-o", out}, 3, "mxfp4_quant.json");
  EXPECT_EQ(files(), std::set<std::string>{"mxfp4_quant.json"});
  std::filesystem::remove(out + "/mxfp4_quant.json");
  std::filesystem::create_symlink("mxfp4_quant.h", out + "/mxfp4_quant.c");
  expect_error({"aot", "mxfp4_quant", "-o", out}, 2, "is asked for twice as an output");
  EXPECT_EQ(files(), std::set<std::string>{"mxfp4_quant.c"});
}

} // namespace
} // namespace nereid::tools::test
