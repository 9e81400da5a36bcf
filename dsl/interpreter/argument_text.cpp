// Names the pointer argument that a bad address comes from.
#include "dsl/interpreter/argument_text.h"

#include <optional>

#include <fmt/format.h>

namespace nereid {
namespace {

/// Bytes that an i32 offset in elements of 8 bytes reaches.
constexpr uint64_t reach = uint64_t{1} << 34;

} // namespace

std::string argument_near(uint64_t address, const ir::Function &function,
                          std::span<const uint64_t> arguments) {
  std::optional<size_t> before, after;
  const auto distance = [&](size_t i) { return address - arguments[i]; };
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    if (!function.type(function.arguments[i].value).pointer)
      continue;
    if (distance(i) <= largest_miss && (!before || distance(i) < distance(*before)))
      before = i;
    if (-distance(i) <= reach && (!after || -distance(i) < -distance(*after)))
      after = i;
  }
  const bool is_after = after && (!before || distance(*before) > reach);
  if (!is_after && !before)
    return "";
  const size_t found = is_after ? *after : *before;
  const std::string argument = fmt::format("; argument {}", found);
  if (arguments[found] == 0)
    return argument + " is null";
  if (arguments[found] == address)
    return argument + " is that address";
  return is_after ? fmt::format("{} points {} bytes after that address", argument, -distance(found))
                  : fmt::format("{} points {} bytes before that address", argument, distance(found));
}

} // namespace nereid
