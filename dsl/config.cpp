#include "dsl/config.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid {

std::string ConfigValue::text() const {
  if (value >= 0 && static_cast<size_t>(value) < names.size())
    return std::string(names[static_cast<size_t>(value)]);
  return std::to_string(value);
}

namespace detail {

static Result<int64_t> parse_value(const ConfigValue &field, std::string_view text) {
  for (size_t i = 0; i < field.names.size(); ++i)
    if (field.names[i] == text)
      return static_cast<int64_t>(i);
  if (!field.names.empty())
    return user_error(fmt::format("config key {} has no value '{}'", field.name, text),
                      fmt::format("Use one of: {}", fmt::join(field.names, ", ")));
  int value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return user_error(fmt::format("config key {}: '{}' is no 32-bit integer", field.name, text),
                      fmt::format("Write {}=<integer>", field.name));
  return int64_t{value};
}

Result<std::pair<size_t, int64_t>> parse_config_value(const std::vector<ConfigValue> &fields,
                                                      std::string_view name, std::string_view text) {
  std::vector<std::string_view> known;
  for (size_t i = 0; i < fields.size(); ++i) {
    known.push_back(fields[i].name);
    if (fields[i].name != name)
      continue;
    Result<int64_t> value = parse_value(fields[i], text);
    if (!value)
      return value.error();
    return std::pair{i, *value};
  }
  return user_error(fmt::format("unknown config key '{}'", name),
                    fmt::format("Known keys: {}", fmt::join(known, ", ")));
}

Result<std::vector<std::pair<std::string_view, std::string_view>>> split_config(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return user_error(fmt::format("config '{}' is not of the form key=value", item),
                        "Write key=value,key=value");
    pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return pairs;
}

std::string config_text(const std::vector<ConfigValue> &fields) {
  std::vector<std::string> items;
  for (const ConfigValue &field : fields)
    items.push_back(fmt::format("{}={}", field.name, field.text()));
  return fmt::format("{}", fmt::join(items, ","));
}

std::string config_json(const std::vector<ConfigValue> &fields) {
  std::vector<std::string> items;
  for (const ConfigValue &field : fields)
    items.push_back(field.names.empty() ? fmt::format("\"{}\": {}", field.name, field.value)
                                        : fmt::format("\"{}\": \"{}\"", field.name, field.text()));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

} // namespace detail
} // namespace nereid
