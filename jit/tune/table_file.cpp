// Tables on disk: names of files, locks, atomic replacement.
#include "jit/tune/table_file.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/log.h"
#include "base/output_file.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

namespace nereid {
namespace {

/// A part of a file's name, from which the text can be told.
std::string name_part(std::string_view text) {
  constexpr size_t max_length = 96; // two of them, the suffix and ".lock" stay below 255
  std::string name;
  for (const char c : text)
    if (llvm::isAlnum(c) || c == '_' || c == '-' || c == '.')
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  if (name.size() <= max_length)
    return name;
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(llvm::StringRef(text)));
  return name.substr(0, 16) + "%%" + llvm::toHex(hash, /*LowerCase=*/true);
}

Error unusable(std::string message) {
  return environment_error(std::move(message),
                           "Choose a directory for tuning tables that can be read and written");
}
Error cannot(const char *what, const std::string &path, const std::string &why) {
  return unusable(fmt::format("cannot {} {}: {}", what, path, why));
}
Error cannot(const char *what, const std::string &path) { return cannot(what, path, llvm::sys::StrError()); }

/// A file descriptor, closed with its owner.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0)
      close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

/// Waits until the lock is this process's; says so when it takes long. False: errno says why not.
bool acquire(int fd, const std::string &path) {
  constexpr int tries = 20; // a second
  constexpr auto pause = std::chrono::milliseconds(50);
  for (int i = 0; i < tries; ++i) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      return true;
    if (errno != EWOULDBLOCK && errno != EINTR)
      return false;
    std::this_thread::sleep_for(pause);
  }
  log(LogLevel::Warning, fmt::format("waiting for {}", path));
  while (flock(fd, LOCK_EX) != 0)
    if (errno != EINTR)
      return false;
  return true;
}

} // namespace

std::string table_path(const std::string &directory, std::string_view kernel, std::string_view device) {
  return fmt::format("{}/{}@{}{}", directory, name_part(kernel), name_part(device), table_suffix);
}

TableFile::TableFile(const std::string &directory, std::string kernel, std::string device)
    : directory_(directory), kernel_(std::move(kernel)), device_(std::move(device)),
      path_(table_path(directory, kernel_, device_)) {}

Result<KernelTunings> TableFile::read_path(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return cannot("read", path, file.getError().message());
  return KernelTunings::parse((*file)->getBuffer(), path);
}

Result<KernelTunings> TableFile::read() const {
  if (!llvm::sys::fs::exists(path_))
    return KernelTunings(kernel_, device_);
  NEREID_TRY(KernelTunings tunings, read_path(path_));
  if (tunings.kernel() != kernel_ || tunings.device() != device_)
    return environment_error(fmt::format("{} is the tuning table of '{}' on '{}', not of '{}' on '{}'", path_,
                                         tunings.kernel(), tunings.device(), kernel_, device_),
                             "Give tables back the names that they were written under");
  return tunings;
}

Status TableFile::update(const std::function<Status(KernelTunings &)> &change) const {
  if (const std::error_code failed = llvm::sys::fs::create_directories(directory_))
    return cannot("create", directory_, failed.message());
  const std::string lock = path_ + ".lock";
  const Descriptor locked(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (locked.get() < 0)
    return cannot("create", lock);
  if (!acquire(locked.get(), lock))
    return cannot("lock", lock);
  NEREID_TRY(KernelTunings tunings, read());
  const std::string before = tunings.text();
  NEREID_CHECK(change(tunings));
  std::string after = tunings.text();
  if (after == before)
    return {};
  // Only the owner of the lock writes: what a killed process left of the new file is overwritten.
  Status written = write_file(path_, after, {.durable = true, .temporary = path_ + ".new"});
  return written ? written : unusable(written.error().message);
}

} // namespace nereid
