#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "dsl/config_macro.h"

/// Lists the fields of a config, a struct of ints (also bools, and enums that have nereid_config_names),
/// once:
///
///     struct AddConfig { int block = 1024; int waves = 4; NEREID_CONFIG(AddConfig, block, waves) };
///
/// The fields waves (1 to 16), stages, mfma (16 or 32), waves_per_eu and wave_split, where they exist, tell
/// the compiler how to build the kernel. An enum takes part with a function beside it:
///
///     constexpr auto nereid_config_names(Reduce) { return std::to_array<std::string_view>({"none",
///     "atomic"}); }
#define NEREID_CONFIG(Type, ...)                                                                             \
  static constexpr auto nereid_fields() {                                                                    \
    return std::tuple_cat(std::tuple<>() NEREID_EACH(NEREID_CONFIG_FIELD, Type, __VA_ARGS__));               \
  }
#define NEREID_CONFIG_FIELD(Type, field)                                                                     \
  , std::make_tuple(::nereid::detail::config_field(#field, &Type::field))

namespace nereid {

/// A struct with NEREID_CONFIG.
template <class C>
concept ListedConfig = requires { C::nereid_fields(); };

/// A field of a config with its value; `names` are those of an enum's values.
struct ConfigValue {
  std::string_view name;
  int64_t value = 0;
  std::vector<std::string_view> names;

  /// "1024", or the name of the enum's value.
  std::string text() const;
};

namespace detail {

template <class C, class M> struct ConfigField {
  std::string_view name;
  M C::*member;
};
template <class C, class M> constexpr ConfigField<C, M> config_field(std::string_view name, M C::*member) {
  static_assert(std::integral<M> || std::is_enum_v<M>, "the fields of a config are ints, bools or enums");
  return {name, member};
}

template <class M> std::vector<std::string_view> names_of_enum() {
  if constexpr (std::is_enum_v<M>) {
    auto names = nereid_config_names(M{});
    return {names.begin(), names.end()};
  } else if constexpr (std::same_as<M, bool>) {
    return {"0", "1"};
  } else {
    return {};
  }
}

/// The index of the field and the value that `text` means for it.
Result<std::pair<size_t, int64_t>> parse_config_value(const std::vector<ConfigValue> &fields,
                                                      std::string_view name, std::string_view text);
/// Pairs of "a=1,b=2".
Result<std::vector<std::pair<std::string_view, std::string_view>>> split_config(std::string_view text);
std::string config_text(const std::vector<ConfigValue> &fields);
std::string config_json(const std::vector<ConfigValue> &fields);

} // namespace detail

/// All fields in the order of the list.
template <ListedConfig C> std::vector<ConfigValue> config_values(const C &config) {
  std::vector<ConfigValue> values;
  std::apply(
      [&](const auto &...field) {
        (values.push_back({field.name, static_cast<int64_t>(config.*field.member),
                           detail::names_of_enum<std::decay_t<decltype(config.*field.member)>>()}),
         ...);
      },
      C::nereid_fields());
  return values;
}

/// The value of a field by name.
template <ListedConfig C> std::optional<int64_t> config_get(const C &config, std::string_view name) {
  for (const ConfigValue &field : config_values(config))
    if (field.name == name)
      return field.value;
  return std::nullopt;
}

/// Sets a field from text. An unknown name is a user error that lists the known ones.
template <ListedConfig C> Status config_set(C &config, std::string_view name, std::string_view text) {
  auto parsed = detail::parse_config_value(config_values(config), name, text);
  if (!parsed)
    return parsed.error();
  size_t index = 0;
  std::apply(
      [&](const auto &...field) {
        ((index++ == parsed->first
              ? void(config.*field.member =
                         static_cast<std::decay_t<decltype(config.*field.member)>>(parsed->second))
              : void()),
         ...);
      },
      C::nereid_fields());
  return {};
}

/// Sets fields from "name=value,name=value"; the config is unchanged on error.
template <ListedConfig C> Status config_parse(C &config, std::string_view text) {
  auto pairs = detail::split_config(text);
  if (!pairs)
    return pairs.error();
  C changed = config;
  for (const auto &[name, value] : *pairs)
    if (Status status = config_set(changed, name, value); !status)
      return status;
  config = changed;
  return {};
}

/// "name=value,name=value", as config_parse reads it.
template <ListedConfig C> std::string config_text(const C &config) {
  return detail::config_text(config_values(config));
}
/// One JSON object; enums are strings.
template <ListedConfig C> std::string config_json(const C &config) {
  return detail::config_json(config_values(config));
}

/// The values in order, to compare and hash without an allocation.
template <ListedConfig C> constexpr auto config_key(const C &config) {
  return std::apply(
      [&](const auto &...field) {
        return std::array<int64_t, sizeof...(field)>{static_cast<int64_t>(config.*field.member)...};
      },
      C::nereid_fields());
}

} // namespace nereid
