// Reads files of a cache directory, whatever stands there under their name.
#include "jit/cache/entry_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "jit/cache/trust.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nereid::jit {
namespace {

const char *kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFDIR:
    return "a directory";
  case S_IFLNK:
    return "a symbolic link";
  case S_IFIFO:
    return "a FIFO";
  case S_IFSOCK:
    return "a socket";
  default:
    return "a device";
  }
}

/// What is wrong with an entry before its bytes are looked at.
EntryFile judged(const struct stat &status) {
  if (!S_ISREG(status.st_mode))
    return {EntryState::Unusable, fmt::format("it is {}", kind_of(status.st_mode))};
  if (auto why = distrust(status))
    return {EntryState::Distrusted, *why};
  if (static_cast<uint64_t>(status.st_size) > max_entry_bytes)
    return {EntryState::Unusable, fmt::format("it has {} bytes", status.st_size)};
  return {EntryState::Read, ""};
}

EntryFile failed() {
  if (errno == ENOENT || errno == ENOTDIR)
    return {EntryState::Missing, ""};
  return {EntryState::Unusable, "it cannot be read: " + llvm::sys::StrError()};
}

} // namespace

EntryFile::EntryFile() = default;
EntryFile::EntryFile(EntryState s, std::string p) : state(s), problem(std::move(p)) {}
EntryFile::EntryFile(EntryFile &&) noexcept = default;
EntryFile &EntryFile::operator=(EntryFile &&) noexcept = default;
EntryFile::~EntryFile() = default;

EntryFile read_entry_file(const std::string &path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0)
    return failed();
  if (EntryFile entry = judged(status); entry.state != EntryState::Read)
    return entry;
  // Another process may have put something else there since.
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return failed();
  EntryFile entry = fstat(fd, &status) == 0 ? judged(status) : failed();
  if (entry.state == EntryState::Read) {
    auto bytes = llvm::MemoryBuffer::getOpenFile(fd, path, static_cast<uint64_t>(status.st_size),
                                                 /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
    if (bytes)
      entry.bytes = std::move(*bytes);
    else
      entry = EntryFile(EntryState::Unusable, "it cannot be read: " + bytes.getError().message());
  }
  close(fd);
  return entry;
}

} // namespace nereid::jit
