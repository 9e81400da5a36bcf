// Kernels on their way to another machine: the format of a bundle.
#include "jit/cache/bundle.h"

#include <cstring>

#include <fmt/format.h>

#include "jit/cache/cache_contents.h"
#include "jit/cache/digest.h"
#include "jit/cache/entry_file.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nereid::jit {
namespace {

// magic, BLAKE3 of all that follows it, then of each kernel by rising key: key (64 bytes), length of its file
// (8 bytes, little-endian), its file.
constexpr std::string_view magic{"NEREIDB1\n", bundle_start_bytes};
constexpr size_t header_bytes = magic.size() + digest_bytes, key_bytes = 2 * digest_bytes;

Error damaged(const std::string &why) {
  return user_error("the bundle is damaged: " + why, "Export and copy it again");
}

} // namespace

std::string bundle(const KernelFiles &kernels) {
  std::string payload;
  for (const auto &[key, file] : kernels) {
    const uint64_t length = file.size();
    payload += key;
    payload.append(reinterpret_cast<const char *>(&length), sizeof(length));
    payload += file;
  }
  return std::string(magic) + digest({payload}) + payload;
}

Status check_is_bundle(std::string_view start) {
  if (start.starts_with(magic))
    return {};
  return user_error("it is no bundle of kernels", "nereid cache export makes one");
}

Result<KernelFiles> read_bundle(std::string_view bytes) {
  NEREID_CHECK(check_is_bundle(bytes));
  if (bytes.size() < header_bytes)
    return damaged("it is cut off");
  std::string_view payload = bytes.substr(header_bytes);
  if (digest({payload}) != bytes.substr(magic.size(), digest_bytes))
    return damaged("its checksum does not match");
  KernelFiles kernels;
  while (!payload.empty()) {
    uint64_t length = 0;
    if (payload.size() < key_bytes + sizeof(length))
      return damaged("it is cut off");
    const std::string_view key = payload.substr(0, key_bytes);
    std::memcpy(&length, payload.data() + key_bytes, sizeof(length));
    payload.remove_prefix(key_bytes + sizeof(length));
    if (!is_key(key) || length > payload.size())
      return damaged("an entry has no key or is cut off");
    const std::string_view file = payload.substr(0, length);
    const Result<KernelFile> kernel = read_kernel_file(file, key);
    if (const Status usable = kernel ? check_code(*kernel) : Status(kernel.error()); !usable)
      return damaged(fmt::format("{}: {}", key, usable.error().message));
    kernels.emplace(key, file);
    payload.remove_prefix(length);
  }
  return kernels;
}

Result<KernelFiles> kernel_files(const DiskCache &cache) {
  NEREID_TRY(const CacheContents contents, read_contents(cache));
  KernelFiles kernels;
  for (const CacheEntry &entry : contents.kernels) {
    if (!entry.problem.empty() || !is_key(entry.key))
      continue;
    const EntryFile file = read_entry_file(cache.path(entry.key));
    if (file.state == EntryState::Read && read_kernel_file(file.bytes->getBuffer(), entry.key))
      kernels.emplace(entry.key, file.bytes->getBuffer().str());
  }
  return kernels;
}

Result<Imported> import_kernels(const DiskCache &cache, const KernelFiles &kernels) {
  uint64_t total = 0;
  for (const auto &[key, file] : kernels)
    total += file.size();
  if (total > cache.bytes())
    return user_error(
        fmt::format("the kernels of the bundle take {} bytes, the cache may hold {}", total, cache.bytes()),
        "Set NEREID_CACHE_BYTES to more");
  Imported imported;
  for (const auto &[key, file] : kernels) {
    if (cache.find(key)) {
      ++imported.present;
      continue;
    }
    NEREID_CHECK(cache.store_file(key, file));
    ++imported.stored;
  }
  return imported;
}

} // namespace nereid::jit
