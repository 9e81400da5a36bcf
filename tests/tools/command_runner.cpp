// Runs the command as a process.
#include "tests/tools/command_runner.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>

namespace nereid::tools::test {
namespace {

std::string text_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

llvm::json::Object CommandResult::json() const {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(out);
  if (!value) {
    ADD_FAILURE() << "stdout is not one JSON value: " << llvm::toString(value.takeError()) << "\n" << out;
    return {};
  }
  llvm::json::Object *object = value->getAsObject();
  if (object == nullptr) {
    ADD_FAILURE() << "stdout is not a JSON object: " << out;
    return {};
  }
  return std::move(*object);
}

CommandResult run_command(const std::vector<std::string> &arguments, const std::string &cache) {
  const WorkDirectory directory;
  const std::string out = directory.path("stdout");
  const std::string err = directory.path("stderr");
  std::vector<llvm::StringRef> argv = {NEREID_COMMAND};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  setenv("NEREID_CACHE_DIR", cache.empty() ? NEREID_TEST_CACHE : cache.c_str(), /*overwrite=*/1);
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef("/dev/null"), llvm::StringRef(out),
                                                      llvm::StringRef(err)};
  CommandResult result;
  result.exit_code =
      llvm::sys::ExecuteAndWait(NEREID_COMMAND, argv, /*Env=*/std::nullopt, redirects, /*SecondsToWait=*/300);
  result.out = text_of(out);
  result.err = text_of(err);
  return result;
}

WorkDirectory::WorkDirectory() {
  llvm::SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("nereid-test", path));
  directory_ = path.str().str();
}

WorkDirectory::~WorkDirectory() { llvm::sys::fs::remove_directories(directory_); }

void WorkDirectory::write(const std::string &name, const void *data, size_t bytes) const {
  std::ofstream file(path(name), std::ios::binary);
  file.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
  EXPECT_TRUE(file.good());
}

std::vector<uint8_t> WorkDirectory::read(const std::string &name) const {
  const std::string text = text_of(path(name));
  return {text.begin(), text.end()};
}

} // namespace nereid::tools::test
