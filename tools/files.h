#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.h"

namespace nereid::tools {

/// The size of a file. Error (User): it is no regular file; `what` names its content.
Result<uint64_t> file_size(const std::string &path, std::string_view what);
/// The first bytes of a file, all of a shorter one. Error (User): it cannot be read.
Result<std::vector<uint8_t>> read_start(const std::string &path, uint64_t bytes);

/// A file's bytes. Error (User): it cannot be read, or has not exactly `bytes` bytes; `what` names its
/// content.
Result<std::vector<uint8_t>> read_file(const std::string &path, int64_t bytes, std::string_view what);

/// The same of content that may have any size.
Result<std::vector<uint8_t>> read_file(const std::string &path, std::string_view what);

/// The bytes of a matrix, as write_file takes them.
template <class T> std::string_view bytes_of(const std::vector<T> &data) {
  return {reinterpret_cast<const char *>(data.data()), data.size() * sizeof(T)};
}

} // namespace nereid::tools
