#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nereid::tools {

/// Takes decimal numbers from `min` to 2^64 - 1; by itself CLI11 takes -1 for the largest of them.
inline CLI::Validator whole_number(uint64_t min) {
  const auto check = [min](const std::string &text) -> std::string {
    uint64_t value = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status == std::errc() && stop == end && value >= min)
      return "";
    return fmt::format("{} is not a whole number from {} to 2^64 - 1", text, min);
  };
  return CLI::Validator(check, "", "");
}

} // namespace nereid::tools
