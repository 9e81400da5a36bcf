#include "tools/files.h"

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace nereid::tools {

Result<std::vector<uint8_t>> read_file(const std::string &path, int64_t bytes, std::string_view what) {
  uint64_t size = 0;
  if (const std::error_code failure = llvm::sys::fs::file_size(path, size))
    return user_error(fmt::format("cannot read {}: {}", path, failure.message()));
  if (size != static_cast<uint64_t>(bytes))
    return user_error(fmt::format("{} has {} bytes where {} has {}", path, size, what, bytes));
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return user_error(fmt::format("cannot read {}: {}", path, buffer.getError().message()));
  const llvm::StringRef data = (*buffer)->getBuffer();
  return std::vector<uint8_t>(data.bytes_begin(), data.bytes_end());
}

Status write_file(const std::string &path, const void *data, size_t bytes) {
  std::error_code failure;
  llvm::raw_fd_ostream file(path, failure);
  if (!failure) {
    file.write(static_cast<const char *>(data), bytes);
    file.close();
    failure = file.error();
    file.clear_error();
  }
  if (failure)
    return environment_error(fmt::format("cannot write {}: {}", path, failure.message()));
  return {};
}

} // namespace nereid::tools
