// The limits of the library's config keys, a line a key.
#include "kernels/config_limits.h"

#include <algorithm>

#include <fmt/format.h>

namespace nereid::kernels {
namespace {

constexpr int powers_of_two[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int mfma_rows[] = {16, 32};
constexpr ConfigLimits limits[] = {
    {"block_m", 1, 1024},
    {"block_n", 16, 1024},
    {"block_k", 32, 4096},
    {"split_k", 1, 1024},
    {"waves", 1, 16, std::span(powers_of_two).first(5)},
    {"stages", 1, 8},
    {"mfma", 16, 32, mfma_rows},
    {"waves_per_eu", 0, 8},
    {"width", 32, 16384},
    {"top_k", 1, 64},
    {"groups", 1, 512},
    {"keep_groups", 1, 512},
    {"heads", 1, 1024},
    {"kv_heads", 1, 1024},
    {"head", 2, 1024},
    {"page", 0, 65536},
    {"experts", 1, 1024, powers_of_two},
};

const ConfigLimits &limits_of(std::string_view key) {
  return *std::find_if(std::begin(limits), std::end(limits),
                       [&](const auto &row) { return row.name == key; });
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

} // namespace

std::span<const ConfigLimits> key_limits() { return limits; }

Status check_limits(std::span<const ConfigValue> values) {
  for (const ConfigValue &field : values)
    for (const ConfigLimits &range : limits)
      if (range.name == field.name && (field.value < range.min || field.value > range.max))
        return user_error(fmt::format("config value {}={} is outside {} to {}", field.name, field.text(),
                                      range.min, range.max));
  return {};
}

int unit_of(std::string_view key) { return key == "block_n" ? 16 : key == "block_k" ? 32 : 1; }

bool is_allowed(std::string_view key, int value) {
  return value % unit_of(key) == 0 &&
         (is_power_of_two(value) || (key != "waves" && value % instruction_rows == 0));
}

std::vector<int> allowed_values(std::string_view key) {
  const ConfigLimits &range = limits_of(key);
  if (!range.values.empty())
    return {range.values.begin(), range.values.end()};
  std::vector<int> values;
  for (auto value = static_cast<int>(range.min); value <= range.max; ++value)
    if (is_allowed(key, value))
      values.push_back(value);
  return values;
}

} // namespace nereid::kernels
