// The format of a cached kernel's file.
#include "jit/cache/kernel_file.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/json_nesting.h"
#include "jit/cache/digest.h"
#include "jit/compile/code_object_metadata.h"
#include "jit/compile/resources_json.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::jit {
namespace {

// magic, BLAKE3 of all that follows it, length of the description (8 bytes, little-endian), description
// (JSON), code object.
constexpr char magic[8] = {'N', 'E', 'R', 'E', 'I', 'D', '3', '\n'};
constexpr size_t header_size = sizeof(magic) + digest_bytes + sizeof(uint64_t);

constexpr const char *counted = "counted";
constexpr const char *everything = "everything";

Error unusable(const std::string &why) {
  return environment_error(fmt::format("the file of a cached kernel {}", why), "It is compiled again");
}

std::string text_of(const llvm::json::Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
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
  return std::string(magic, sizeof(magic)) + digest({payload}) + payload;
}

bool is_of_another_version(std::string_view content) {
  const std::string_view own(magic, sizeof(magic));
  const std::string_view begin = content.substr(0, own.size());
  constexpr size_t digit = 6;
  return begin.size() == own.size() && begin != own && begin.substr(0, digit) == own.substr(0, digit) &&
         begin[digit] >= '0' && begin[digit] <= '9' && begin.back() == own.back();
}

Result<KernelFile> read_kernel_file(std::string_view content, std::string_view key) {
  const llvm::StringRef file(content);
  if (file.size() < header_size)
    return unusable("is cut off");
  if (std::memcmp(file.data(), magic, sizeof(magic)) != 0)
    return unusable(is_of_another_version(content) ? "is of another version's format"
                                                   : "is damaged: it does not begin as one");
  llvm::StringRef payload = file.drop_front(sizeof(magic) + digest_bytes);
  if (digest({payload}) != file.substr(sizeof(magic), digest_bytes))
    return unusable("is damaged: its checksum does not match");
  uint64_t length = 0;
  std::memcpy(&length, payload.data(), sizeof(length));
  payload = payload.drop_front(sizeof(length));
  if (length > payload.size())
    return unusable("is cut off");
  if (!check_json_nesting(payload.take_front(length)))
    return unusable("has no description");
  auto json = llvm::json::parse(payload.take_front(length));
  if (!json) {
    llvm::consumeError(json.takeError());
    return unusable("has no description");
  }
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Object *described = object ? object->getObject("resources") : nullptr;
  const std::optional<Resources> resources = described ? resources_of(*described) : std::nullopt;
  const std::string waits = object ? text_of(*object, "waits") : "";
  if (!resources || (waits != counted && waits != everything))
    return unusable("has no description");
  if (text_of(*object, "key") != key)
    return unusable("holds another kernel");
  KernelFile result;
  result.info = {text_of(*object, "kernel"), text_of(*object, "config"), text_of(*object, "specialization")};
  result.binary.resources = *resources;
  result.binary.waits = waits == counted ? Waits::Counted : Waits::Everything;
  result.binary.compiler = text_of(*object, "compiler");
  const llvm::StringRef code = payload.drop_front(length);
  result.binary.code_object.assign(code.bytes_begin(), code.bytes_end());
  return result;
}

Status check_code(const KernelFile &file) {
  const Result<CodeObjectMetadata> object = read_code_object(file.binary.code_object);
  if (!object)
    return unusable("holds no code: " + object.error().message);
  const bool has_kernel =
      std::any_of(object->kernels.begin(), object->kernels.end(),
                  [&](const KernelMetadata &kernel) { return kernel.name == file.info.kernel; });
  return has_kernel ? Status()
                    : unusable(fmt::format("holds no code of kernel '{}', but of '{}'", file.info.kernel,
                                           object->kernels.front().name));
}

} // namespace nereid::jit
