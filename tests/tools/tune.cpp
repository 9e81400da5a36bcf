// nereid tune: shapes, shards, tables, merge, import.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <llvm/Support/FileSystem.h>

#include "tests/tools/command_runner.h"

namespace nereid::tools::test {
namespace {

constexpr const char *table_name = "/mxfp4_linear@gfx950%20simulator.tuning.jsonl";

std::string content(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_refused(const std::vector<std::string> &arguments, int code, const char *text) {
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, code) << result.err;
  EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
}

/// Keys and winning configs.
std::map<std::string, std::string> winners(const CommandResult &result) {
  std::map<std::string, std::string> winners;
  const llvm::json::Object object = result.json();
  const llvm::json::Array *tunings = object.getArray("tunings");
  for (size_t i = 0; tunings && i < tunings->size(); ++i) {
    const llvm::json::Object &tuning = *(*tunings)[i].getAsObject();
    winners[tuning.getString("key")->str()] = tuning.getString("winner").value_or("").str();
  }
  return winners;
}

TEST(Tune, FindsAWinnerAmongTheConfigsOfAPath) {
  const CommandResult result =
      run_command({"tune", "--shape", "8,64,256", "--path", "fused", "--device", "sim", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("simulated time"), std::string::npos);
  const auto found = winners(result);
  ASSERT_EQ(found.count("M=8,N=64,K=256"), 1u) << result.out;
  EXPECT_TRUE(found.at("M=8,N=64,K=256").starts_with("path=fused,block_m=")) << result.out;
  EXPECT_EQ(result.err, "M=8,N=64,K=256: " + found.at("M=8,N=64,K=256") + "\n")
      << "lines where there is no terminal";
}

TEST(Tune, OffTakesTheFirstForEachShape) {
  const CommandResult result = run_command({"tune", "mxfp4_gemm", "--shape", "8,64,256", "--shape",
                                            "16,64,256", "--device", "sim", "--mode", "off", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto found = winners(result);
  ASSERT_EQ(found.size(), 2u) << result.out;
  for (const auto &[key, winner] : found)
    EXPECT_TRUE(winner.starts_with("path=staged,block_m=32")) << key << ": " << winner;
}

TEST(Tune, RefusesWhatItCannotDo) {
  expect_refused({"tune", "mxfp4_gemm", "--shape", "8,64,256", "--path", "fused"}, 2,
                 "mxfp4_gemm is not what --path fused multiplies with");
  expect_refused({"tune"}, 2, "there is no shape to tune for");
  expect_refused({"tune", "--shape", "8,64"}, 2, "is not a shape M,N,K");
  expect_refused({"tune", "--shape", "8,63,256"}, 2, "multiple of 16");
  expect_refused({"tune", "--shapes", "/no/such/file"}, 2, "cannot read /no/such/file");
  for (const char *shard : {"0/2", "3/2", "1", "a/b"})
    expect_refused({"tune", "--shape", "8,64,256", "--shard", shard}, 2, "is no shard");
  expect_refused({"tune", "--shape", "8,64,256", "--device", "sim", "--mode", "measure"}, 2, "needs a GPU");
  expect_refused({"tune", "--shape", "8,64,256", "--mode", "best"}, 2, "best");
  expect_refused({"tune", "mxfp4_nothing", "--shape", "8,64,256"}, 2, "mxfp4_nothing");
  expect_refused({"tune", "merge", "out"}, 2, "IN");
  expect_refused({"tune", "import", "/no/such/file", "--table", "t"}, 2, "cannot read /no/such/file");
}

TEST(Tune, ShardsOfAListMergeToTheTableOfTheWhole) {
  const WorkDirectory directory;
  const std::string list = "M,N,K\n8,64,256\n\n16,64,256   # a comment\n8,64,256\n8,128,256\n";
  directory.write("shapes.csv", list.data(), list.size());
  const auto tune = [&](const std::string &table, const std::vector<std::string> &more) {
    std::vector<std::string> arguments = {
        "tune", "--shapes", directory.path("shapes.csv"), "--path", "fused", "--device",
        "sim",  "--table",  directory.path(table),        "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return winners(result);
  };
  EXPECT_EQ(tune("whole", {}).size(), 3u);
  EXPECT_EQ(tune("part1", {"--shard", "1/2"}).size(), 2u);
  EXPECT_EQ(tune("part2", {"--shard", "2/2"}).size(), 1u);
  const CommandResult merged =
      run_command({"tune", "merge", directory.path("merged"), directory.path("part1"),
                   directory.path("part2") + table_name, "--json"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(merged.json().getArray("tables")->size(), 1u);
  EXPECT_EQ(content(directory.path("merged") + table_name), content(directory.path("whole") + table_name));

  EXPECT_EQ(run_command({"tune", "merge", "--best", directory.path("best"), directory.path("part1"),
                         directory.path("part2")})
                .exit_code,
            0);
  const std::string best = content(directory.path("best") + table_name);
  EXPECT_EQ(std::count(best.begin(), best.end(), '\n'), 5) << "a header, three winners, a checksum: " << best;

  // A damaged part: nothing is written.
  const std::string damaged = content(directory.path("part2") + table_name).substr(0, 50);
  directory.write("damaged.tuning.jsonl", damaged.data(), damaged.size());
  expect_refused({"tune", "merge", directory.path("none"), directory.path("part1"),
                  directory.path("damaged.tuning.jsonl")},
                 3, "damaged");
  EXPECT_FALSE(llvm::sys::fs::exists(directory.path("none")));
}

TEST(Tune, ImportFillsOnlyWhatIsMissing) {
  const WorkDirectory directory;
  EXPECT_EQ(run_command({"tune", "--shape", "8,64,256", "--path", "fused", "--device", "sim", "--table",
                         directory.path("t")})
                .exit_code,
            0);
  const std::string before = content(directory.path("t") + table_name);
  // Made up, in the form of aiter's tables.
  const std::string csv =
      "cu_num,M,N,K,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n"
      "256,8,64,256,1,0,5.5,f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128,1,1,0.0\n"     // tuned already
      "256,64,512,1024,1,1,7.25,f4gemm_bf16_per1x32Fp4_BpreShuffle_64x128,1,1,0.0\n" // split in two
      "256,64,512,1024,2,0,6.5,a4w4_blockscale_256x32x64x128_16x16,1,1,0.0\n"        // the same, faster
      "256,64,512,2048,3,0,6.5,f4gemm_bf16_per1x32Fp4_BpreShuffle_33x128,1,1,0.0\n"  // no such tile here
      "256,16,576,7168,-1,0,nan,None,0,0,1.0\n"                                      // no kernel
      "80,64,1024,1024,1,0,9,f4gemm_bf16_per1x32Fp4_BpreShuffle_64x128,1,1,0.0\n";   // another GPU
  directory.write("tuned.csv", csv.data(), csv.size());
  const auto import = [&] {
    const CommandResult result = run_command({"tune", "import", directory.path("tuned.csv"), "--device",
                                              "sim", "--table", directory.path("t"), "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.json();
  };
  llvm::json::Object counts = import();
  EXPECT_EQ(counts.getInteger("added"), 2);
  EXPECT_EQ(counts.getInteger("present"), 1);
  EXPECT_EQ(counts.getInteger("unsupported"), 1);
  EXPECT_EQ(counts.getInteger("without_kernel"), 1);
  EXPECT_EQ(counts.getInteger("other_devices"), 1);
  const std::string after = content(directory.path("t") + table_name);
  const size_t best = after.find("path=staged,block_m=32,block_n=64,");
  ASSERT_NE(best, std::string::npos) << after;
  EXPECT_NE(after.find(R"("best":true,"figure":6.5,"unit":"us","ranking":"imported")", best),
            std::string::npos)
      << after;
  EXPECT_NE(after.find("path=staged,block_m=64,block_n=128,"), std::string::npos) << after;
  EXPECT_NE(after.find("path=fused"), std::string::npos) << "what was there stays: " << before;
  counts = import();
  EXPECT_EQ(counts.getInteger("added"), 0) << "once more adds nothing";
  EXPECT_EQ(content(directory.path("t") + table_name), after);
}

TEST(Tune, ImportReadsWhatSpreadsheetsWrite) {
  const WorkDirectory directory;
  const std::string csv = "\xef\xbb\xbfM, N, K, us, \"kernelName\"\r\n"
                          "64, 512, 1024, 7.25, \"f4gemm_bf16_per1x32Fp4_BpreShuffle_64x128, and more\"\r\n"
                          "64,512,2048,,f4gemm_bf16_per1x32Fp4_BpreShuffle_64x128\n"; // not measured
  directory.write("tuned.csv", csv.data(), csv.size());
  const CommandResult result = run_command({"tune", "import", directory.path("tuned.csv"), "--device", "sim",
                                            "--table", directory.path("t"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.json().getInteger("added"), 1);
  EXPECT_EQ(result.json().getInteger("without_kernel"), 1);
}

TEST(Tune, ShapeFilesMayHaveAByteOrderMarkAndSpaces) {
  const WorkDirectory directory;
  const std::string shapes = "\xef\xbb\xbfM, N, K\n 8, 64 , 256\n";
  directory.write("shapes.csv", shapes.data(), shapes.size());
  const CommandResult result = run_command({"tune", "--shapes", directory.path("shapes.csv"), "--mode", "off",
                                            "--device", "sim", "--path", "fused", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(Tune, RefusesCompileTimesThatDoNotEnd) {
  for (const char *seconds : {"nan", "inf", "-1", "0"})
    expect_refused({"tune", "--shape", "8,64,256", "--compile-seconds", seconds}, 2,
                   "is no number of seconds");
}

TEST(Tune, TriesWhatTheLibraryTakesAtPresent) {
  const CommandResult result = run_command({"tune", "--shape", "16,2112,7168", "--no-lists", "--generated",
                                            "0", "--mode", "off", "--device", "sim", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("path=workspace,block_m=16,block_n=32"), std::string::npos) << result.out;
}

/// The configs of a tuning's only shape.
std::vector<std::string> configs_of(const std::vector<std::string> &arguments) {
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object object = result.json();
  std::vector<std::string> configs;
  const llvm::json::Array *tunings = object.getArray("tunings");
  for (const llvm::json::Value &candidate : *(*tunings)[0].getAsObject()->getArray("candidates"))
    configs.push_back(candidate.getAsObject()->getString("config")->str());
  return configs;
}

/// The simulated figures of a tuning's only shape, by config.
std::map<std::string, double> figures_of(const std::vector<std::string> &arguments) {
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const llvm::json::Object object = result.json();
  std::map<std::string, double> figures;
  const llvm::json::Array *tunings = object.getArray("tunings");
  for (const llvm::json::Value &candidate : *(*tunings)[0].getAsObject()->getArray("candidates"))
    if (const auto figure = candidate.getAsObject()->getNumber("figure"))
      figures[candidate.getAsObject()->getString("config")->str()] = *figure;
  return figures;
}

TEST(Tune, FiguresDoNotDependOnTheCandidatesBefore) {
  // The launches that are timed count arrivals, in a workspace that all candidates have.
  const auto arguments = [](const char *generated) {
    return std::vector<std::string>{"tune",       "--shape",     "16,768,3584", "--path", "workspace",
                                    "--no-lists", "--generated", generated,     "--mode", "model",
                                    "--device",   "sim",         "--json"};
  };
  const std::map<std::string, double> few = figures_of(arguments("1")), many = figures_of(arguments("6"));
  ASSERT_FALSE(few.empty());
  ASSERT_GT(many.size(), few.size());
  for (const auto &[config, figure] : few)
    EXPECT_EQ(many.at(config), figure) << config;
}

TEST(Tune, AConfigHasOneCompleteTextWhetherItIsListedGeneratedOrWhatTheLibraryTakes) {
  const std::vector<std::string> arguments = {"tune", "--shape",  "16,2112,7168", "--mode",
                                              "off",  "--device", "sim",          "--json"};
  const std::vector<std::string> all = configs_of(arguments);
  std::set<std::string> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
  const auto fields = [](const std::string &config) { return std::count(config.begin(), config.end(), ','); };
  for (const std::string &config : all)
    EXPECT_EQ(fields(config), fields(all.front())) << config;
  std::vector<std::string> of_path = arguments;
  of_path.insert(of_path.end(), {"--path", "workspace"});
  for (const std::string &config : configs_of(of_path))
    EXPECT_EQ(distinct.count(config), 1u) << config;
}

TEST(Tune, ATableOfOnePathIsNoWorseThanWhatTheLibraryTakesWithoutIt) {
  const WorkDirectory directory;
  std::vector<std::string> arguments = {"tune",       "--shape",     "4,2880,512", "--path", "atomic",
                                        "--no-lists", "--generated", "1",          "--mode", "off",
                                        "--device",   "sim",         "--json"};
  const auto has_fused = [&] {
    const std::vector<std::string> configs = configs_of(arguments);
    return std::any_of(configs.begin(), configs.end(),
                       [](const std::string &config) { return config.starts_with("path=fused"); });
  };
  EXPECT_FALSE(has_fused());
  arguments.insert(arguments.end(), {"--table", directory.path("t")});
  EXPECT_TRUE(has_fused());
}

TEST(Tune, SaysWhenAShardIsEmpty) {
  const CommandResult result =
      run_command({"tune", "--shape", "8,64,256", "--shard", "2/2", "--device", "sim", "--mode", "off"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "shard 2/2 has none of the shapes\n");
}

TEST(Tune, ImportRefusesWhatIsNoTable) {
  const WorkDirectory directory;
  for (const auto &[csv, text] :
       {std::pair("", "there is no column M"), std::pair("M,N,K,us\n", "there is no column kernelName"),
        std::pair("M,N,K,us,kernelName\n1,2\n", ":2: it has 2 columns"),
        std::pair("M,N,K,us,kernelName,us\n", "there are two columns 'us'"),
        std::pair("M,N,K,us,kernelName\nx,2,3,4,k\n", ":2: M is no number")}) {
    directory.write("bad.csv", csv, std::string(csv).size());
    expect_refused(
        {"tune", "import", directory.path("bad.csv"), "--device", "sim", "--table", directory.path("t")}, 2,
        text);
  }
  EXPECT_FALSE(llvm::sys::fs::exists(directory.path("t")));
}

} // namespace
} // namespace nereid::tools::test
