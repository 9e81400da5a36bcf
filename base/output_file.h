#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid {

/// A file that is read or written, and what names it to the user ("outputs.c", "--out"); may be empty.
struct NamedFile {
  std::string name;
  std::string path;
};

/// Whether files can be written, said before work is lost and without creating or changing one. Error (User):
/// two outputs are the same file, or one is an input, also by way of links; (Environment): one cannot be
/// written. Devices and pipes may be given several times.
Status check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// With it begin the names of files that are not complete yet.
inline constexpr std::string_view unfinished_prefix = ".new-";

/// How a file is written.
struct WriteOptions {
  bool durable = false; ///< it is on the disk before it takes its name
  /// Replaces whatever has the name, also a link, a device or another user's file; only this user may read
  /// and write it.
  bool is_private = false;
  std::string temporary; ///< the name until then, whatever has it; empty: one that nobody has
};

/// Writes a file as a whole: under another name in its directory, from which it takes its own when it is
/// complete. An old file of that name is replaced, its permissions stay; a symbolic link stays and leads to
/// the new file; other hard links keep the old content. Devices and pipes are written to as they are. Error
/// (Environment): it cannot be written; then what was there is as it was.
Status write_file(const std::string &path, std::string_view content, const WriteOptions &options = {});

} // namespace nereid
