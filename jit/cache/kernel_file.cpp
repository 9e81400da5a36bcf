// The format of a cached kernel's file.
#include "jit/cache/kernel_file.h"

#include <cstring>

#include "jit/compile/resources_json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
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

} // namespace

std::string kernel_file(std::string_view key, const CachedKernelInfo &info, const Binary &binary) {
  std::string description;
  llvm::raw_string_ostream(description) << llvm::json::Value(describe(key, info, binary));
  const uint64_t length = description.size();
  std::string payload(sizeof(length), '\0');
  std::memcpy(payload.data(), &length, sizeof(length));
  payload += description;
  payload.append(reinterpret_cast<const char *>(binary.code_object.data()), binary.code_object.size());
  return std::string(magic, sizeof(magic)) + checksum(payload) + payload;
}

std::optional<Binary> read_kernel_file(std::string_view content, std::string_view key) {
  const llvm::StringRef file(content);
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

} // namespace nereid::jit
