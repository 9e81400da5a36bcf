#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::tools {

/// A file's bytes. Error (User): it cannot be read, or has not exactly `bytes` bytes; `what` names its
/// content.
Result<std::vector<uint8_t>> read_file(const std::string &path, int64_t bytes, std::string_view what);

/// The same of content that may have any size.
Result<std::vector<uint8_t>> read_file(const std::string &path, std::string_view what);

/// Whether files can be written, said before work is lost: each is opened, created where it is missing, and
/// left as it is. Error (User): two are the same file, or one is an input; (Environment): one cannot be
/// opened.
Status check_outputs(const std::vector<std::string> &paths, const std::vector<std::string> &inputs);

/// Error (Environment): it cannot be written.
Status write_file(const std::string &path, const void *data, size_t bytes);

} // namespace nereid::tools
