// The text of configs: reading "name=value,...", and printing as such text or as JSON.
#include "dsl/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid {

using Kind = ConfigType::Kind;

static float float_of(const ConfigValue &field) { return detail::from_config_value<float>(field.value); }

std::string ConfigValue::text() const {
  if (type->kind == Kind::Float)
    return fmt::format("{}", float_of(*this));
  if (type->kind == Kind::Enum && value >= 0 && static_cast<size_t>(value) < type->names.size())
    return std::string(type->names[static_cast<size_t>(value)]);
  const bool is_unsigned = !std::in_range<int64_t>(type->max);
  return is_unsigned ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
}

std::string config_text(std::span<const ConfigValue> values) {
  std::vector<std::string> items;
  for (const ConfigValue &field : values)
    items.push_back(fmt::format("{}={}", field.name, field.text()));
  return fmt::format("{}", fmt::join(items, ","));
}

std::string config_json(std::span<const ConfigValue> values) {
  std::vector<std::string> items;
  for (const ConfigValue &field : values) {
    const bool is_string = field.type->kind == Kind::Enum ||
                           (field.type->kind == Kind::Float && !std::isfinite(float_of(field)));
    const std::string_view quote = is_string ? "\"" : "";
    items.push_back(fmt::format("\"{}\": {}{}{}", field.name, quote, field.text(), quote));
  }
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

namespace detail {
namespace {

/// The whole text as a number, and whether T has it; else the value is not changed.
template <class T> Result<bool> read_number(const ConfigValue &field, std::string_view text, T &value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || status == std::errc::invalid_argument)
    return user_error(fmt::format("config value {}={} is not a number", field.name, text));
  return status != std::errc::result_out_of_range;
}

template <class Values> Error none_of(const ConfigValue &field, std::string_view text, const Values &values) {
  return user_error(
      fmt::format("config value {}={} is none of {}", field.name, text, fmt::join(values, ", ")));
}

/// The error names the values next to it.
Error none_of_a_few(const ConfigValue &field, std::string_view text, int64_t value,
                    std::span<const int> values) {
  const auto above = std::lower_bound(values.begin(), values.end(), value);
  std::vector<std::string> nearest;
  if (above != values.begin())
    nearest.push_back(fmt::format("{}={}", field.name, *std::prev(above)));
  if (above != values.end())
    nearest.push_back(fmt::format("{}={}", field.name, *above));
  Error error = none_of(field, text, values);
  error.remedy = fmt::format("use {}", fmt::join(nearest, " or "));
  return error;
}

Result<int64_t> parse_integer(const ConfigValue &field, std::string_view text,
                              std::span<const ConfigLimits> limits) {
  const bool is_negative = text.starts_with('-');
  // What is beyond 64 bits is beyond the limits on its side.
  int64_t below_zero = INT64_MIN;
  uint64_t from_zero = UINT64_MAX;
  NEREID_TRY(const bool fits,
             is_negative ? read_number(field, text, below_zero) : read_number(field, text, from_zero));
  const auto check = [&](int64_t min, auto max) -> Status {
    const auto is_inside = [&](auto number) {
      return std::cmp_greater_equal(number, min) && std::cmp_less_equal(number, max);
    };
    if (fits && (is_negative ? is_inside(below_zero) : is_inside(from_zero)))
      return {};
    return user_error(fmt::format("config value {}={} is outside {} to {}", field.name, text, min, max));
  };
  const int64_t nearest =
      is_negative ? below_zero : static_cast<int64_t>(std::min<uint64_t>(from_zero, INT64_MAX));
  for (const ConfigLimits &narrower : limits) {
    if (narrower.name != field.name)
      continue;
    const std::span<const int> values = narrower.values;
    if (!values.empty() && !std::binary_search(values.begin(), values.end(), nearest))
      return none_of_a_few(field, text, nearest, values);
    NEREID_CHECK(check(narrower.min, narrower.max));
  }
  NEREID_CHECK(check(field.type->min, field.type->max));
  return is_negative ? below_zero : static_cast<int64_t>(from_zero);
}

Result<int64_t> parse_float(const ConfigValue &field, std::string_view text) {
  float number = 0;
  NEREID_TRY(const bool fits, read_number(field, text, number));
  if (!fits)
    return user_error(fmt::format("config value {}={} is beyond the range of a float", field.name, text));
  return to_config_value(number);
}

Result<int64_t> parse_value(const ConfigValue &field, std::string_view text,
                            std::span<const ConfigLimits> limits) {
  switch (field.type->kind) {
  case Kind::Float:
    return parse_float(field, text);
  case Kind::Integer:
    return parse_integer(field, text, limits);
  case Kind::Bool:
    if (text == "0" || text == "1")
      return int64_t{text == "1"};
    return none_of(field, text, std::array{0, 1});
  case Kind::Enum:
    break;
  }
  const auto &names = field.type->names;
  const auto name = std::find(names.begin(), names.end(), text);
  if (name == names.end())
    return none_of(field, text, names);
  return int64_t{name - names.begin()};
}

} // namespace

Result<ConfigChange> parse_config_value(std::span<const ConfigValue> fields, std::string_view name,
                                        std::string_view text, std::span<const ConfigLimits> limits) {
  std::vector<std::string_view> known;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) {
      NEREID_TRY(const int64_t value, parse_value(fields[i], text, limits));
      return ConfigChange{i, value};
    }
    known.push_back(fields[i].name);
  }
  return user_error(fmt::format("unknown config key '{}'", name),
                    fmt::format("known keys: {}", fmt::join(known, ", ")));
}

Result<std::vector<ConfigChange>> parse_config(std::span<const ConfigValue> fields, std::string_view text,
                                               std::span<const ConfigLimits> limits) {
  std::vector<ConfigChange> changes;
  for (bool more = !text.empty(); more;) {
    const std::string_view item = text.substr(0, text.find(','));
    more = item.size() < text.size();
    text.remove_prefix(item.size() + (more ? 1 : 0));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return user_error(fmt::format("config entry '{}' is not key=value", item), "write key=value,key=value");
    const std::string_view name = item.substr(0, equals);
    NEREID_TRY(const ConfigChange change, parse_config_value(fields, name, item.substr(equals + 1), limits));
    for (const ConfigChange &earlier : changes)
      if (earlier.first == change.first)
        return user_error(fmt::format("config key '{}' is given twice", name));
    changes.push_back(change);
  }
  return changes;
}

} // namespace detail
} // namespace nereid
