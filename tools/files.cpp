// Files that subcommands read, and what is wrong with those that cannot be.
#include "tools/files.h"

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

namespace nereid::tools {

Result<uint64_t> file_size(const std::string &path, std::string_view what) {
  llvm::sys::fs::file_status status;
  if (const std::error_code failure = llvm::sys::fs::status(path, status))
    return user_error(fmt::format("cannot read {}: {}", path, failure.message()));
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return user_error(fmt::format("cannot read {}: it is not a regular file", path),
                      fmt::format("{} comes from a file whose length is checked", what));
  return status.getSize();
}

namespace {

Result<std::vector<uint8_t>> content_of(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return user_error(fmt::format("cannot read {}: {}", path, buffer.getError().message()));
  const llvm::StringRef data = (*buffer)->getBuffer();
  return std::vector<uint8_t>(data.bytes_begin(), data.bytes_end());
}

} // namespace

Result<std::vector<uint8_t>> read_file(const std::string &path, int64_t bytes, std::string_view what) {
  NEREID_TRY(const uint64_t size, file_size(path, what));
  if (size != static_cast<uint64_t>(bytes))
    return user_error(fmt::format("{} has {} bytes where {} has {}", path, size, what, bytes));
  return content_of(path);
}

Result<std::vector<uint8_t>> read_file(const std::string &path, std::string_view what) {
  NEREID_CHECK(file_size(path, what));
  return content_of(path);
}

Result<std::vector<uint8_t>> read_start(const std::string &path, uint64_t bytes) {
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, bytes, 0);
  if (!buffer)
    return user_error(fmt::format("cannot read {}: {}", path, buffer.getError().message()));
  const llvm::StringRef data = (*buffer)->getBuffer();
  return std::vector<uint8_t>(data.bytes_begin(), data.bytes_end());
}

} // namespace nereid::tools
