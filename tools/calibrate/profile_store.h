#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "sim/timing/launch_profile.h"

namespace nereid::calibrate {

/// Launch profiles in a file, a JSON object a line, so that no launch is simulated twice. May be used from
/// several threads.
class ProfileStore {
public:
  /// Reads the file; with an empty path, profiles are kept for this process only. A line that is damaged, as
  /// the last one after a kill, counts as absent. Error (Environment): the file cannot be read.
  static Result<std::unique_ptr<ProfileStore>> open(const std::string &path);

  std::optional<sim::LaunchProfile> find(const std::string &key) const;
  /// Appends to the file. Error (Environment): it cannot be written.
  Status add(const std::string &key, const sim::LaunchProfile &profile);

private:
  explicit ProfileStore(std::string path) : path_(std::move(path)) {}

  std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, sim::LaunchProfile> profiles_;
};

} // namespace nereid::calibrate
