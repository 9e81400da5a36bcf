// Files that subcommands read and write, and what is wrong with those that cannot be.
#include "tools/files.h"

#include <set>

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace nereid::tools {
namespace {

Error cannot_write(const std::string &path, const std::error_code &failure) {
  return environment_error(fmt::format("cannot write {}: {}", path, failure.message()));
}

/// Error (User): it is no regular file; `what` names its content.
Result<uint64_t> size_of(const std::string &path, std::string_view what) {
  llvm::sys::fs::file_status status;
  if (const std::error_code failure = llvm::sys::fs::status(path, status))
    return user_error(fmt::format("cannot read {}: {}", path, failure.message()));
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return user_error(fmt::format("cannot read {}: it is not a regular file", path),
                      fmt::format("{} comes from a file whose length is checked", what));
  return status.getSize();
}

Result<std::vector<uint8_t>> content_of(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return user_error(fmt::format("cannot read {}: {}", path, buffer.getError().message()));
  const llvm::StringRef data = (*buffer)->getBuffer();
  return std::vector<uint8_t>(data.bytes_begin(), data.bytes_end());
}

} // namespace

Result<std::vector<uint8_t>> read_file(const std::string &path, int64_t bytes, std::string_view what) {
  NEREID_TRY(const uint64_t size, size_of(path, what));
  if (size != static_cast<uint64_t>(bytes))
    return user_error(fmt::format("{} has {} bytes where {} has {}", path, size, what, bytes));
  return content_of(path);
}

Result<std::vector<uint8_t>> read_file(const std::string &path, std::string_view what) {
  NEREID_CHECK(size_of(path, what));
  return content_of(path);
}

Status check_outputs(const std::vector<std::string> &paths, const std::vector<std::string> &inputs) {
  std::set<llvm::sys::fs::UniqueID> seen, read;
  for (const std::string &path : inputs)
    if (llvm::sys::fs::UniqueID identity; !llvm::sys::fs::getUniqueID(path, identity))
      read.insert(identity);
  for (const std::string &path : paths) {
    // Devices and pipes are left alone: opening one may have an effect.
    if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path) &&
        !llvm::sys::fs::is_directory(path))
      continue;
    std::error_code failure;
    const llvm::raw_fd_ostream opened(path, failure, llvm::sys::fs::CD_OpenAlways, llvm::sys::fs::FA_Write,
                                      llvm::sys::fs::OF_Append);
    llvm::sys::fs::UniqueID identity;
    if (!failure)
      failure = llvm::sys::fs::getUniqueID(path, identity);
    if (failure)
      return cannot_write(path, failure);
    if (read.count(identity) != 0)
      return user_error(fmt::format("{} is an input and an output", path),
                        "give the output a file of its own");
    if (!seen.insert(identity).second)
      return user_error(fmt::format("{} is asked for twice as an output", path), "give each output its file");
  }
  return {};
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
  return failure ? cannot_write(path, failure) : Status();
}

} // namespace nereid::tools
