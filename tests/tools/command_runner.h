#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/Support/JSON.h>

namespace nereid::tools::test {

/// What a run of the command gave.
struct CommandResult {
  int exit_code = -1;
  std::string out;
  std::string err;

  /// The one JSON object on stdout; a test failure where it is not one.
  llvm::json::Object json() const;
};

/// Runs the nereid command that was built with the tests, without the user's caches. `cache`:
/// NEREID_CACHE_DIR; empty: the one that all tests share.
CommandResult run_command(const std::vector<std::string> &arguments, const std::string &cache = "");

/// A directory that is removed with the object.
class WorkDirectory {
public:
  WorkDirectory();
  ~WorkDirectory();
  std::string path(const std::string &name) const { return directory_ + "/" + name; }
  void write(const std::string &name, const void *data, size_t bytes) const;
  template <class T> void write(const std::string &name, const std::vector<T> &data) const {
    write(name, data.data(), data.size() * sizeof(T));
  }
  std::vector<uint8_t> read(const std::string &name) const;

private:
  std::string directory_;
};

} // namespace nereid::tools::test
