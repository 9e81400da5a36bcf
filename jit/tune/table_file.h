#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "jit/tune/kernel_tunings.h"

namespace nereid {

/// The file of a kernel's records on a device. Distinct kernels and devices have distinct files. Several
/// processes may use it at once: readers see a whole table, writers take turns.
class TableFile {
public:
  TableFile(const std::string &directory, std::string kernel, std::string device);
  /// For an existing file, whatever its name.
  static Result<KernelTunings> read_path(const std::string &path);

  const std::string &path() const & { return path_; }

  /// What the file holds; no records when there is none. Errors (Environment): it cannot be read, is damaged,
  /// or is the table of another kernel or device.
  Result<KernelTunings> read() const;
  /// Under the file's lock: reads it, lets `change` work on it, and puts the new text in its place by a
  /// rename, after it has reached the disk. A process that is killed leaves the old table or the new one.
  Status update(const std::function<Status(KernelTunings &)> &change) const;

private:
  std::string directory_;
  std::string kernel_;
  std::string device_;
  std::string path_;
};

/// Where a kernel's file is in a directory: "mxfp4_linear@gfx950%20simulator.tuning.jsonl".
std::string table_path(const std::string &directory, std::string_view kernel, std::string_view device);
/// How the names of such files end.
inline constexpr std::string_view table_suffix = ".tuning.jsonl";

} // namespace nereid
