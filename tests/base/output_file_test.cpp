// Output files: what is refused before the work, and what is left when writing fails.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/output_file.h"

using namespace nereid;
namespace fs = std::filesystem;

namespace {

class OutputFile : public ::testing::Test {
protected:
  OutputFile() {
    std::string name = fs::temp_directory_path() / "nereid-output-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~OutputFile() override { fs::remove_all(directory_); }

  std::string path(const std::string &name) const { return directory_ / name; }
  void put(const std::string &name, const std::string &text) const { std::ofstream(path(name)) << text; }
  std::string text(const std::string &name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  /// The message of outputs and inputs by name, with their owner; "" when they are right.
  std::string refused(const std::vector<std::string> &outputs, const std::vector<std::string> &inputs = {}) {
    std::vector<NamedFile> out, in;
    for (const std::string &name : outputs)
      out.push_back({name, path(name)});
    for (const std::string &name : inputs)
      in.push_back({name, path(name)});
    const Status status = check_outputs(out, in);
    return status ? "" : std::string(owner_name(status.error().owner)) + ": " + status.error().message;
  }

  fs::path directory_;
};

TEST_F(OutputFile, IsRefusedWhereItIsAnInput) {
  put("in", "x");
  fs::create_symlink("in", path("soft"));
  fs::create_hard_link(path("in"), path("hard"));
  fs::create_directory_symlink(".", path("here"));
  for (const char *output : {"in", "soft", "hard", "./in", "here/in", "here/soft"})
    EXPECT_EQ(refused({output}, {"in"}), "user: " + std::string(output) + ": " + path(output) +
                                             " is an input and an output, the input of in");
  EXPECT_EQ(refused({"in"}), "");
  EXPECT_EQ(refused({"new"}, {"in"}), "");
}

TEST_F(OutputFile, IsRefusedTwice) {
  put("old", "x");
  fs::create_hard_link(path("old"), path("hard"));
  fs::create_directory_symlink(".", path("here"));
  fs::create_symlink("new", path("dangling"));
  const std::pair<const char *, const char *> same[] = {
      {"new", "new"}, {"new", "./new"}, {"new", "here/new"}, {"new", "dangling"}, {"old", "hard"}};
  for (const auto &[first, second] : same)
    EXPECT_EQ(refused({first, second}), "user: " + std::string(second) + ": " + path(second) +
                                            " is asked for twice as an output, also by " + first);
  EXPECT_EQ(refused({"new", "newer", "old"}), "");
}

TEST_F(OutputFile, CheckingChangesNothing) {
  put("old", "content");
  EXPECT_EQ(refused({"old", "new"}), "");
  EXPECT_EQ(text("old"), "content");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFile, SaysWhyItCannotBeWritten) {
  fs::create_directory(path("directory"));
  const std::pair<std::string, std::string> rows[] = {{"directory", "Is a directory"},
                                                      {"none/new", "No such file or directory"},
                                                      {std::string(300, 'x'), "File name too long"}};
  for (const auto &[name, why] : rows) {
    const std::string message = "cannot write " + path(name) + ": " + why;
    EXPECT_EQ(refused({name}), "environment: " + name + ": " + message);
    const Status written = write_file(path(name), "text");
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().message, message);
    EXPECT_EQ(written.error().owner, Owner::Environment);
  }
  EXPECT_FALSE(write_file("", "text").ok());
}

TEST_F(OutputFile, KeepsLinksAndPermissions) {
  put("old", "before");
  fs::permissions(path("old"), fs::perms(0640));
  fs::create_symlink("old", path("soft"));
  fs::create_hard_link(path("old"), path("hard"));
  ASSERT_TRUE(write_file(path("soft"), "after").ok());
  EXPECT_TRUE(fs::is_symlink(path("soft")));
  EXPECT_EQ(text("old"), "after");
  EXPECT_EQ(text("hard"), "before");
  EXPECT_EQ(fs::status(path("old")).permissions(), fs::perms(0640));
  fs::create_symlink("target", path("dangling"));
  ASSERT_TRUE(write_file(path("dangling"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
  EXPECT_EQ(text("target"), "new");
}

TEST_F(OutputFile, APrivateOneReplacesWhateverHasTheName) {
  put("target", "kept");
  fs::permissions(path("target"), fs::perms(0666));
  fs::create_symlink("target", path("link"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0666), 0);
  for (const char *name : {"link", "pipe", "new"}) {
    ASSERT_TRUE(write_file(path(name), "text", {.is_private = true}).ok()) << name;
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path(name)))) << name;
    EXPECT_EQ(fs::status(path(name)).permissions(), fs::perms(0600)) << name;
    EXPECT_EQ(text(name), "text") << name;
  }
  EXPECT_EQ(text("target"), "kept");
  EXPECT_EQ(files(), 4u);
}

TEST_F(OutputFile, GoesToDevicesAndPipes) {
  EXPECT_TRUE(write_file("/dev/null", "text").ok());
  EXPECT_FALSE(write_file("/dev/full", "text").ok());
  const NamedFile twice[] = {{"", "/dev/null"}, {"", "/dev/null"}};
  EXPECT_TRUE(check_outputs(twice, {}).ok());
}

/// Files of this process have at most so many bytes: what a full disk looks like.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_;
  void (*handler_)(int);
};

TEST_F(OutputFile, LeavesWhatWasThereWhenWritingFails) {
  put("old", "content");
  const std::string text_too_long(1 << 16, 'x');
  for (const WriteOptions &options :
       {WriteOptions{}, WriteOptions{.durable = true, .temporary = path("t")}}) {
    const FileSizeLimit limit(1000);
    EXPECT_FALSE(write_file(path("old"), text_too_long, options).ok());
    EXPECT_FALSE(write_file(path("new"), text_too_long, options).ok());
  }
  EXPECT_EQ(text("old"), "content");
  EXPECT_EQ(files(), 1u);
}

} // namespace
