// Output files: checked before the work, whole or not there after it.
#include "base/output_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace nereid {
namespace {

constexpr int max_links = 40; // as the kernel

Error cannot_write(const std::string &path, int reason) {
  return environment_error("cannot write " + path + ": " + std::strerror(reason));
}

std::string directory_of(const std::string &path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// The path without symbolic links at its end, the file there or not.
std::string followed(std::string path) {
  char target[PATH_MAX];
  for (int i = 0; i < max_links; ++i) {
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size <= 0)
      break;
    const std::string_view leads_to(target, static_cast<size_t>(size));
    path = leads_to[0] == '/' ? std::string(leads_to) : directory_of(path) + "/" + std::string(leads_to);
  }
  return path;
}

std::optional<struct stat> status_of(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

bool written_in_place(const struct stat &status) {
  return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// What two paths have in common that are the same file: its inode; of one that is not there yet its name in
/// the inode of its directory.
using Identity = std::tuple<dev_t, ino_t, std::string>;

std::optional<Identity> identity_of(const std::string &path) {
  if (const auto status = status_of(path))
    return Identity{status->st_dev, status->st_ino, ""};
  const std::string end = followed(path);
  const auto directory = status_of(directory_of(end));
  if (!directory)
    return std::nullopt;
  return Identity{directory->st_dev, directory->st_ino, end.substr(end.find_last_of('/') + 1)};
}

/// 0, or why the file cannot be replaced or created.
int obstacle(const std::string &path) {
  if (path.empty())
    return ENOENT;
  if (const auto status = status_of(path)) {
    if (S_ISDIR(status->st_mode))
      return EISDIR;
    if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
      return errno;
    if (written_in_place(*status))
      return 0;
  } else if (errno != ENOENT) {
    return errno;
  }
  const std::string end = followed(path);
  if (end.ends_with('/'))
    return ENOENT;
  if (end.size() - std::min(end.size(), end.find_last_of('/') + 1) > NAME_MAX)
    return ENAMETOOLONG;
  return faccessat(AT_FDCWD, directory_of(end).c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/// A file that is written; closed, and removed unless it was kept.
class NewFile {
public:
  NewFile(std::string path, int flags, mode_t mode = 0666) : path_(std::move(path)) {
    do
      fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, mode);
    while (fd_ < 0 && errno == EINTR);
  }
  ~NewFile() {
    if (fd_ >= 0)
      close(fd_);
    if (removed_)
      unlink(path_.c_str());
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  bool is_open() const { return fd_ >= 0; }
  const std::string &path() const { return path_; }
  void remove_at_end(bool removed) { removed_ = removed; }
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return false;
      text.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }
  bool sync() { return fsync(fd_) == 0; }
  /// Owner and permissions of the file that it replaces.
  bool take_permissions(const struct stat &old) {
    if (old.st_uid != geteuid() || old.st_gid != getegid())
      (void)!fchown(fd_, old.st_uid, old.st_gid); // as far as one may
    return fchmod(fd_, old.st_mode & 0777) == 0;
  }
  /// Some file systems report a full disk here.
  bool finish() { return close(std::exchange(fd_, -1)) == 0; }

private:
  std::string path_;
  int fd_ = -1;
  bool removed_ = false;
};

/// A name that no other thread, process or machine takes.
std::string new_name(const std::string &directory) {
  static std::atomic<unsigned> number = 0;
  return directory + "/" + std::string(unfinished_prefix) + std::to_string(getpid()) + "-" +
         std::to_string(number++);
}

/// Opens the temporary file; false: errno says why not.
bool create(std::optional<NewFile> &file, const std::string &target, const WriteOptions &options) {
  const mode_t mode = options.is_private ? 0600 : 0666;
  if (!options.temporary.empty())
    return file.emplace(options.temporary, O_CREAT | O_TRUNC, mode).is_open();
  do
    file.emplace(new_name(directory_of(target)), O_CREAT | O_EXCL, mode);
  while (!file->is_open() && errno == EEXIST); // of a process that was killed
  return file->is_open();
}

/// 0, or the system's error.
int replace(const std::string &path, std::string_view content, const std::optional<struct stat> &old,
            const WriteOptions &options) {
  const std::string target = options.is_private ? path : followed(path);
  std::optional<NewFile> file;
  if (!create(file, target, options))
    return errno;
  file->remove_at_end(true);
  if (!file->write(content) || (options.durable && !file->sync()) || (old && !file->take_permissions(*old)) ||
      !file->finish() || rename(file->path().c_str(), target.c_str()) != 0)
    return errno;
  file->remove_at_end(false);
  return 0;
}

} // namespace

Status check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  const auto prefix = [](const NamedFile &file) { return file.name.empty() ? "" : file.name + ": "; };
  const auto also = [](const char *by, const NamedFile &file) {
    return file.name.empty() ? "" : by + file.name;
  };
  std::map<Identity, const NamedFile *> read, written;
  for (const NamedFile &input : inputs)
    if (const auto identity = identity_of(input.path))
      read.emplace(*identity, &input);
  for (const NamedFile &output : outputs) {
    if (const int reason = obstacle(output.path)) {
      Error error = cannot_write(output.path, reason);
      error.message.insert(0, prefix(output));
      return error;
    }
    const auto status = status_of(output.path);
    const auto identity = identity_of(output.path);
    if (!identity || (status && written_in_place(*status)))
      continue;
    if (const auto found = read.find(*identity); found != read.end())
      return user_error(prefix(output) + output.path + " is an input and an output" +
                            also(", the input of ", *found->second),
                        "give the output a file of its own");
    if (const auto [found, is_new] = written.emplace(*identity, &output); !is_new)
      return user_error(prefix(output) + output.path + " is asked for twice as an output" +
                            also(", also by ", *found->second),
                        "give each output its file");
  }
  return {};
}

Status write_file(const std::string &path, std::string_view content, const WriteOptions &options) {
  if (options.is_private) {
    const int reason = replace(path, content, std::nullopt, options);
    return reason == 0 ? Status() : cannot_write(path, reason);
  }
  if (const int reason = obstacle(path))
    return cannot_write(path, reason);
  const auto old = status_of(path);
  if (old && written_in_place(*old)) {
    NewFile file(path, 0);
    if (!file.is_open() || !file.write(content) || !file.finish())
      return cannot_write(path, errno);
    return {};
  }
  if (const int reason = replace(path, content, old, options))
    return cannot_write(path, reason);
  return {};
}

} // namespace nereid
