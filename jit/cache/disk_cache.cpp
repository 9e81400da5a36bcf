// Files of cached kernels: their format, and how they are written and found.
#include "jit/cache/disk_cache.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "jit/compile/resources_json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::jit {
namespace {

// magic, SHA-256 of all that follows it, length of the description (8 bytes, little-endian), description
// (JSON), code object.
constexpr char magic[8] = {'N', 'E', 'R', 'E', 'I', 'D', '2', '\n'};
constexpr size_t hash_size = 32;
constexpr size_t header_size = sizeof(magic) + hash_size + sizeof(uint64_t);

constexpr const char *counted = "counted";
constexpr const char *everything = "everything";

std::string checksum(llvm::StringRef payload) {
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(payload));
  return std::string(hash.begin(), hash.end());
}

llvm::json::Object describe(std::string_view key, const CachedKernelInfo &info, const Binary &binary) {
  return llvm::json::Object{{"key", std::string(key)},
                            {"kernel", info.kernel},
                            {"config", info.config},
                            {"specialization", info.specialization},
                            {"compiler", binary.compiler},
                            {"waits", binary.waits == Waits::Counted ? counted : everything},
                            {"resources", resources_json(binary.resources)}};
}

/// The whole file, or nothing when anything about it is wrong.
std::optional<Binary> parse(llvm::StringRef file, std::string_view key) {
  if (file.size() < header_size || std::memcmp(file.data(), magic, sizeof(magic)) != 0)
    return std::nullopt;
  llvm::StringRef payload = file.drop_front(sizeof(magic) + hash_size);
  if (checksum(payload) != file.substr(sizeof(magic), hash_size))
    return std::nullopt;
  uint64_t length = 0;
  std::memcpy(&length, payload.data(), sizeof(length));
  payload = payload.drop_front(sizeof(length));
  if (length > payload.size())
    return std::nullopt;
  auto json = llvm::json::parse(payload.take_front(length));
  if (!json) {
    llvm::consumeError(json.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Object *described = object ? object->getObject("resources") : nullptr;
  const std::optional<Resources> resources = described ? resources_of(*described) : std::nullopt;
  if (!resources || object->getString("key") != llvm::StringRef(key))
    return std::nullopt;
  Binary binary;
  binary.resources = *resources;
  const llvm::StringRef waits = object->getString("waits").value_or("");
  if (waits != counted && waits != everything)
    return std::nullopt;
  binary.waits = waits == counted ? Waits::Counted : Waits::Everything;
  binary.compiler = object->getString("compiler").value_or("").str();
  llvm::StringRef code = payload.drop_front(length);
  binary.code_object.assign(code.bytes_begin(), code.bytes_end());
  return binary;
}

Error cannot(const std::string &what, const std::string &path) {
  return environment_error(fmt::format("cannot {} {}: {}", what, path, llvm::sys::StrError()),
                           "Set NEREID_CACHE_DIR to a directory that can be written, or to off");
}

std::string directory_from_environment() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::getenv("NEREID_CACHE_DIR")) {
    std::string directory = variable("NEREID_CACHE_DIR");
    return directory == "off" ? "" : directory;
  }
  if (std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return xdg + "/nereid";
  if (std::string home = variable("HOME"); !home.empty())
    return home + "/.cache/nereid";
  return "";
}

} // namespace

Result<DiskCache> DiskCache::from_environment() {
  NEREID_TRY(const uint64_t bytes, cache_bytes_from_environment());
  return DiskCache(directory_from_environment(), bytes);
}

std::string DiskCache::path(std::string_view key) const {
  return fmt::format("{}/{}.kernel", directory_, key);
}

std::optional<Binary> DiskCache::find(std::string_view key) const {
  if (!enabled())
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(path(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  std::optional<Binary> binary = parse((*file)->getBuffer(), key);
  if (binary)
    utimensat(AT_FDCWD, path(key).c_str(), nullptr, 0);
  return binary;
}

Status DiskCache::store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const {
  if (!enabled())
    return {};
  if (std::error_code failed =
          llvm::sys::fs::create_directories(directory_, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
    return environment_error("cannot create " + directory_ + ": " + failed.message(),
                             "Set NEREID_CACHE_DIR to a directory that can be written, or to off");
  std::string description;
  llvm::raw_string_ostream(description) << llvm::json::Value(describe(key, info, binary));
  const uint64_t length = description.size();
  std::string payload(sizeof(length), '\0');
  std::memcpy(payload.data(), &length, sizeof(length));
  payload += description;
  payload.append(reinterpret_cast<const char *>(binary.code_object.data()), binary.code_object.size());

  std::string temporary = directory_ + "/new-XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0)
    return cannot("create a file in", directory_);
  bool good;
  {
    llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream << llvm::StringRef(magic, sizeof(magic)) << checksum(payload) << payload;
    stream.close();
    good = !stream.has_error();
    stream.clear_error();
  }
  if (!good || rename(temporary.c_str(), path(key).c_str())) {
    Error error = cannot("write", path(key));
    unlink(temporary.c_str());
    return error;
  }
  bound_size(payload.size());
  return {};
}

void DiskCache::bound_size(uint64_t written) const {
  static std::atomic<uint64_t> since_look = 0;
  static std::atomic<bool> looked = false;
  if (since_look.fetch_add(written) + written <= bytes_ / 16 && looked.exchange(true))
    return;
  looked = true;
  since_look = 0;
  keep_within(directory_, bytes_);
}

void DiskCache::try_store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const {
  static std::atomic<bool> warned = false;
  if (Status stored = store(key, info, binary); !stored && !warned.exchange(true))
    fmt::print(stderr, "nereid: warning: kernels are not cached: {}\n", stored.error().text());
}

} // namespace nereid::jit
