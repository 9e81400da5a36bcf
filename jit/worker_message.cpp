// What a worker process sends: a list of strings, each after its length.
#include "jit/worker_message.h"

#include <charconv>
#include <cstring>
#include <vector>

#include "jit/cache/kernel_file.h"

namespace nereid::jit {
namespace {

// "kernels", then key and file of each, or "error", owner, message, remedy, file, line; "end" closes both.
constexpr std::string_view kernels_word = "kernels", error_word = "error", end_word = "end";

void append(std::string &bytes, std::string_view part) {
  const uint64_t length = part.size();
  bytes.append(reinterpret_cast<const char *>(&length), sizeof(length));
  bytes += part;
}

/// All parts; nothing when the last one is cut off.
std::optional<std::vector<std::string_view>> parts_of(std::string_view bytes) {
  std::vector<std::string_view> parts;
  while (!bytes.empty()) {
    uint64_t length = 0;
    if (bytes.size() < sizeof(length))
      return std::nullopt;
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (bytes.size() < length)
      return std::nullopt;
    parts.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return parts;
}

template <class Number> Number number_of(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Error read_error(const std::vector<std::string_view> &parts) {
  Error error;
  error.owner = static_cast<Owner>(number_of<int>(parts[1]));
  error.message = parts[2];
  error.remedy = parts[3];
  error.where = {std::string(parts[4]), number_of<unsigned>(parts[5])};
  return error;
}

} // namespace

std::string worker_message(const Result<BinariesByKey> &outcome) {
  std::string bytes;
  if (outcome) {
    append(bytes, kernels_word);
    for (const auto &[key, binary] : *outcome) {
      append(bytes, key);
      append(bytes, kernel_file(key, CachedKernelInfo(), binary));
    }
  } else {
    const Error &error = outcome.error();
    append(bytes, error_word);
    append(bytes, std::to_string(static_cast<int>(error.owner)));
    for (const std::string &text : {error.message, error.remedy, error.where.file})
      append(bytes, text);
    append(bytes, std::to_string(error.where.line));
  }
  append(bytes, end_word);
  return bytes;
}

std::optional<Result<BinariesByKey>> read_worker_message(std::string_view bytes) {
  const std::optional<std::vector<std::string_view>> parts = parts_of(bytes);
  if (!parts || parts->size() < 2 || parts->back() != end_word)
    return std::nullopt;
  if (parts->front() == error_word)
    return parts->size() == 7 ? std::optional(Result<BinariesByKey>(read_error(*parts))) : std::nullopt;
  BinariesByKey binaries;
  for (size_t i = 1; i + 2 < parts->size(); i += 2) {
    Result<KernelFile> file = read_kernel_file((*parts)[i + 1], (*parts)[i]);
    if (!file)
      return std::nullopt;
    binaries.emplace((*parts)[i], std::move(file->binary));
  }
  return binaries;
}

} // namespace nereid::jit
