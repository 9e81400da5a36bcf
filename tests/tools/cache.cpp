// nereid cache: what it counts, finds damaged, removes, and carries to another machine.
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;

namespace {

/// A cache of its own with two kernels.
class CacheCommand : public testing::Test {
protected:
  CacheCommand() {
    for (const char *config : {"shuffled=0", "shuffled=1"})
      EXPECT_EQ(run({"compile", "mxfp4_quant", "--config", config, "--emit", "resources"}).exit_code, 0);
  }

  CommandResult run(const std::vector<std::string> &arguments) const {
    return run_command(arguments, cache());
  }
  llvm::json::Object json(std::vector<std::string> arguments, int exit_code = 0) const {
    arguments.push_back("--json");
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result.json();
  }
  std::string cache() const { return directory_.path("cache"); }
  std::string a_kernel() const {
    for (const auto &file : std::filesystem::directory_iterator(cache()))
      if (file.path().extension() == ".kernel")
        return file.path();
    return "";
  }
  static std::string error_of(const llvm::json::Object &object) {
    const llvm::json::Object *error = object.getObject("error");
    return error ? error->getString("message").value_or("").str() : "no error";
  }

  WorkDirectory directory_;
};

int64_t number(const llvm::json::Object &object, llvm::StringRef key) {
  return object.getInteger(key).value_or(-1);
}

} // namespace

TEST_F(CacheCommand, StatCounts) {
  const llvm::json::Object stat = json({"cache", "stat"});
  EXPECT_EQ(stat.getString("directory").value_or("").str(), cache());
  EXPECT_EQ(number(stat, "kernels"), 2);
  EXPECT_GT(number(stat, "bytes"), 2000);
  EXPECT_EQ(number(stat, "bound"), 1 << 30);
  EXPECT_EQ(number(stat, "damaged"), 0);
  EXPECT_EQ(number(stat, "unfinished"), 0);
  EXPECT_NE(run({"cache", "stat"}).out.find("2 kernels"), std::string::npos);
}

TEST_F(CacheCommand, VerifyFindsAndRemovesDamage) {
  EXPECT_EQ(json({"cache", "verify"}).getArray("damaged")->size(), 0u);
  const std::string kernel = a_kernel(), fifo = cache() + "/fifo.kernel";
  std::filesystem::resize_file(kernel, std::filesystem::file_size(kernel) - 1);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const llvm::json::Object found = json({"cache", "verify"}, 1);
  const std::string text = run({"cache", "verify"}).out;
  for (const std::string &path : {kernel, fifo})
    EXPECT_NE(text.find(path + ": "), std::string::npos) << text;
  EXPECT_EQ(number(found, "kernels"), 3);
  const llvm::json::Array *damaged = found.getArray("damaged");
  ASSERT_EQ(damaged->size(), 2u);
  for (const llvm::json::Value &value : *damaged) {
    const llvm::json::Object &entry = *value.getAsObject();
    const std::string problem = entry.getString("problem").value_or("").str();
    if (entry.getString("file") == llvm::StringRef(fifo))
      EXPECT_EQ(problem, "it is a FIFO");
    else
      EXPECT_NE(problem.find("checksum"), std::string::npos) << problem;
  }
  EXPECT_EQ(number(json({"cache", "verify", "--remove"}), "removed"), 2);
  EXPECT_EQ(number(json({"cache", "verify"}), "kernels"), 1);
}

TEST_F(CacheCommand, VerifyTellsStaleEntriesFromDamagedOnes) {
  std::fstream(a_kernel(), std::ios::in | std::ios::out | std::ios::binary) << "NEREID2\n";
  EXPECT_EQ(number(json({"cache", "stat"}), "stale"), 1);
  EXPECT_EQ(number(json({"cache", "stat"}), "damaged"), 0);
  const llvm::json::Object found = json({"cache", "verify"});
  EXPECT_EQ(found.getArray("damaged")->size(), 0u);
  ASSERT_EQ(found.getArray("stale")->size(), 1u);
  // Counted, with what to do; only --verbose names each.
  const std::string path = std::string(*found.getArray("stale")->front().getAsObject()->getString("file"));
  const std::string counted = run({"cache", "verify"}).out, named = run({"cache", "verify", "--verbose"}).out;
  EXPECT_EQ(counted.find(path), std::string::npos) << counted;
  EXPECT_NE(counted.find("1 of another version of Nereid, harmless"), std::string::npos) << counted;
  EXPECT_NE(counted.find("`nereid cache clear`"), std::string::npos) << counted;
  EXPECT_EQ(named.find(path + ": "), 0u) << named;
  const CommandResult doctor = run({"doctor"});
  EXPECT_EQ(doctor.out.find("damaged"), std::string::npos) << doctor.out;
  EXPECT_NE(doctor.out.find("1 of another version of Nereid, harmless"), std::string::npos) << doctor.out;
  EXPECT_EQ(number(json({"cache", "verify", "--remove"}), "removed"), 1);
  EXPECT_EQ(number(json({"cache", "stat"}), "kernels"), 1);
}

TEST_F(CacheCommand, ClearRemovesKernelsAlone) {
  std::ofstream(cache() + "/.new-abcdef") << "left by a writer";
  std::ofstream(cache() + "/notes.txt") << "somebody's";
  EXPECT_EQ(number(json({"cache", "clear"}), "removed"), 3);
  EXPECT_EQ(number(json({"cache", "stat"}), "kernels"), 0);
  EXPECT_TRUE(std::filesystem::exists(cache() + "/notes.txt"));
}

TEST_F(CacheCommand, ABundleFillsAnotherCache) {
  const std::string bundle = directory_.path("kernels.bundle"), other = directory_.path("other");
  EXPECT_EQ(number(json({"cache", "export", bundle}), "kernels"), 2);
  EXPECT_EQ(run({"cache", "clear"}).exit_code, 0);
  const llvm::json::Object imported = run_command({"cache", "import", bundle, "--json"}, other).json();
  EXPECT_EQ(number(imported, "stored"), 2);
  EXPECT_EQ(number(imported, "present"), 0);
  const llvm::json::Object again = run_command({"cache", "import", bundle, "--json"}, other).json();
  EXPECT_EQ(number(again, "stored"), 0);
  EXPECT_EQ(number(again, "present"), 2);
  const llvm::json::Object compiled =
      run_command({"compile", "mxfp4_quant", "--config", "shuffled=1", "--emit", "resources", "--json"},
                  other)
          .json();
  EXPECT_EQ(compiled.getString("cache").value_or("").str(), "disk");
}

TEST_F(CacheCommand, ExportsOverNoKernelOfTheCache) {
  const std::string entry = a_kernel(), link = directory_.path("link");
  std::filesystem::create_symlink(entry, link);
  for (const std::string &path : {entry, link})
    EXPECT_EQ(run({"cache", "export", path}).exit_code, 2);
  EXPECT_EQ(run({"cache", "verify"}).exit_code, 0);
}

TEST_F(CacheCommand, RefusesADamagedBundle) {
  const std::string bundle = directory_.path("kernels.bundle");
  EXPECT_EQ(run({"cache", "export", bundle}).exit_code, 0);
  const std::vector<uint8_t> good = directory_.read("kernels.bundle");
  const auto refused = [&](const std::vector<uint8_t> &bytes) {
    directory_.write("kernels.bundle", bytes);
    const std::string message = error_of(json({"cache", "import", bundle}, 2));
    EXPECT_EQ(message.find(bundle), 0u) << message;
    return message;
  };
  std::vector<uint8_t> flipped = good;
  flipped[good.size() / 2] ^= 1;
  EXPECT_NE(refused(flipped).find("its checksum does not match"), std::string::npos);
  EXPECT_NE(refused({good.begin(), good.end() - 1}).find("its checksum does not match"), std::string::npos);
  EXPECT_NE(refused({good.begin(), good.begin() + 20}).find("it is cut off"), std::string::npos);
  EXPECT_NE(refused({1, 2, 3}).find("it is no bundle of kernels"), std::string::npos);
  // Of a file of 1 TiB no more is read than tells what it is, or its size.
  std::filesystem::resize_file(bundle, uint64_t{1} << 40);
  EXPECT_NE(error_of(json({"cache", "import", bundle}, 2)).find("it is no bundle of kernels"),
            std::string::npos);
  directory_.write("kernels.bundle", good);
  std::filesystem::resize_file(bundle, uint64_t{1} << 40);
  EXPECT_NE(
      error_of(json({"cache", "import", bundle}, 2)).find("has 1099511627776 bytes, the cache may hold"),
      std::string::npos);
  EXPECT_NE(error_of(json({"cache", "import", "/dev/zero"}, 2)).find("not a regular file"),
            std::string::npos);
}

TEST_F(CacheCommand, SaysWhatIsWrongWithTheDirectory) {
  EXPECT_NE(error_of(run_command({"cache", "verify", "--json"}, "off").json()).find("the cache is off"),
            std::string::npos);
  EXPECT_EQ(run_command({"cache", "stat"}, "off").exit_code, 0);
  EXPECT_NE(error_of(run_command({"cache", "export", "x", "--json"}, directory_.path("none")).json())
                .find("there is no kernel"),
            std::string::npos);
  ASSERT_EQ(chmod(cache().c_str(), 0777), 0);
  EXPECT_NE(error_of(json({"cache", "stat"}, 3)).find("everybody may write to it"), std::string::npos);
  EXPECT_EQ(run({"cache", "walk"}).exit_code, 2);
}
