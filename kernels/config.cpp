#include "kernels/config.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::kernels {
namespace {

template <class Enum> std::vector<std::string_view> words_of() {
  const auto names = nereid_config_names(Enum{});
  return {names.begin(), names.end()};
}

const ConfigKey *find_key(std::string_view name) {
  for (const ConfigKey &key : config_keys())
    if (key.name == name)
      return &key;
  return nullptr;
}

std::string known_names() {
  std::vector<std::string_view> names;
  for (const ConfigKey &key : config_keys())
    names.push_back(key.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The value, if the key has it; the error names those next to it.
Result<int> one_of(const ConfigKey &key, std::string_view text, int value) {
  const auto above = std::lower_bound(key.numbers.begin(), key.numbers.end(), value);
  if (above != key.numbers.end() && *above == value)
    return value;
  std::vector<std::string> nearest;
  if (above != key.numbers.begin())
    nearest.push_back(fmt::format("{}={}", key.name, *std::prev(above)));
  if (above != key.numbers.end())
    nearest.push_back(fmt::format("{}={}", key.name, *above));
  return user_error(
      fmt::format("config value {}={} is none of {}", key.name, text, fmt::join(key.numbers, ", ")),
      fmt::format("use {}", fmt::join(nearest, " or ")));
}

Result<int> parse_value(const ConfigKey &key, std::string_view text) {
  if (!key.words.empty()) {
    const auto word = std::find(key.words.begin(), key.words.end(), text);
    if (word == key.words.end())
      return user_error(
          fmt::format("config value {}={} is none of {}", key.name, text, fmt::join(key.words, ", ")));
    return key.least + static_cast<int>(word - key.words.begin());
  }
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool beyond_int = status == std::errc::result_out_of_range;
  if ((status != std::errc() && !beyond_int) || end != text.data() + text.size())
    return user_error(fmt::format("config value {}={} is not a number", key.name, text));
  if (beyond_int)
    value = text.starts_with('-') ? INT_MIN : INT_MAX;
  if (!key.numbers.empty())
    return one_of(key, text, value);
  if (beyond_int || value < key.least || value > key.most)
    return user_error(
        fmt::format("config value {}={} is outside {} to {}", key.name, text, key.least, key.most));
  return value;
}

} // namespace

std::string ProblemSize::text() const {
  return n == 0 ? fmt::format("{}x{}", m, k) : fmt::format("{}x{}x{}", m, n, k);
}

const std::vector<ConfigKey> &config_keys() {
  static const std::vector<ConfigKey> keys = {
      {"block_m", 1, 1024, {}, {}, "rows of A and C of a program"},
      {"block_n", 16, 1024, {}, {}, "columns of C of a program"},
      {"block_k", 32, 4096, {}, {}, "K of one round of a program's loop"},
      {"split_k", 1, 1024, {}, {}, "programs that share the K of one tile"},
      {"waves", 1, 16, {}, {1, 2, 4, 8, 16}, "waves of 64 lanes in a workgroup"},
      {"stages", 1, 8, {}, {}, "rounds of the loop in flight"},
      {"mfma", 16, 32, {}, {16, 32}, "the matrix instruction's rows"},
      {"waves_per_eu", 0, 8, {}, {}, "least waves a SIMD should hold, 0 for no wish"},
      {"reduce", 0, 3, words_of<Reduce>(), {}, "how partial sums come together"},
      {"experts",
       1,
       1024,
       {},
       {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
       "at least the number of experts"},
      {"const_k", 0, 1, {}, {}, "1: K of the shape is a constant of the code"},
      {"wave_split", 0, 3, words_of<WaveSplit>(), {}, "what the waves of a workgroup share"},
      {"shuffled", 0, 1, {}, {}, "1: scales at shuffled offsets"},
      {"path", 0, 1, words_of<QuantPath>(), {}, "rounding by integer arithmetic or by the chip's conversion"},
  };
  return keys;
}

Result<ConfigValues> ConfigValues::parse(std::string_view text) {
  ConfigValues result;
  for (bool more = !text.empty(); more;) {
    const std::string_view item = text.substr(0, text.find(','));
    more = item.size() < text.size();
    text.remove_prefix(item.size() + (more ? 1 : 0));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return user_error(fmt::format("config entry '{}' is not key=value", item));
    const std::string_view name = item.substr(0, equals);
    const ConfigKey *key = find_key(name);
    if (key == nullptr)
      return user_error(fmt::format("unknown config key '{}'", name), "known keys: " + known_names());
    if (result.get(name))
      return user_error(fmt::format("config key '{}' is given twice", name));
    Result<int> value = parse_value(*key, item.substr(equals + 1));
    if (!value)
      return value.error();
    result.set(name, *value);
  }
  return result;
}

std::optional<int> ConfigValues::get(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional<int>(found->second);
}

Status ConfigValues::only(std::string_view kernel, const std::vector<std::string_view> &known) const {
  for (const auto &[name, value] : values_)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return user_error(fmt::format("{} has no config key '{}'", kernel, name),
                        fmt::format("its keys: {}", fmt::join(known, ", ")));
  return {};
}

std::vector<std::pair<std::string, std::string>> ConfigValues::printed() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const ConfigKey &key : config_keys())
    if (const std::optional<int> value = get(key.name))
      result.emplace_back(key.name, key.words.empty() ? std::to_string(*value)
                                                      : std::string(key.words.at(*value - key.least)));
  return result;
}

std::string ConfigValues::text() const {
  std::string result;
  for (const auto &[name, value] : printed())
    result += (result.empty() ? "" : ",") + name + "=" + value;
  return result;
}

} // namespace nereid::kernels
