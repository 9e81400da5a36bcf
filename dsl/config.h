#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "dsl/config_macro.h"
#include "dsl/ir/function.h"

/// Lists the fields of a config once:
///
///     struct AddConfig { int block = 1024; int waves = 4; NEREID_CONFIG(AddConfig, block, waves) };
///
/// A config is a struct of ints, bools, floats, enums and other configs; the fields of a config in a config
/// stand in its place, so that all names in it differ. Every field is listed, or the struct does not compile:
/// a kernel is found again by the listed values. The fields waves and stages (1 to 16), mfma (16 or 32),
/// waves_per_eu, wave_split and fast_math (0 or 1), where they exist, tell the compiler how to build the
/// kernel. An enum takes part with a function beside it:
///
///     constexpr auto nereid_config_names(Reduce) { return std::to_array<std::string_view>({"none",
///     "atomic"}); }
#define NEREID_CONFIG(Type, ...)                                                                             \
  struct NereidPartial {                                                                                     \
    using NereidConfig [[maybe_unused]] = Type;                                                              \
    NEREID_EACH(NEREID_PARTIAL_FIELD, Type, __VA_ARGS__)                                                     \
    bool operator==(const NereidPartial &) const = default;                                                  \
  };                                                                                                         \
  /* A structured binding has as many names as there are fields, or it does not compile. */                  \
  static void nereid_config_lists_every_field([[maybe_unused]] const Type &nereid_config) {                  \
    static_assert(!std::string_view(#__VA_ARGS__).empty() || std::is_empty_v<Type>,                          \
                  "NEREID_CONFIG lists every field of the config");                                          \
    static_assert(                                                                                           \
        !::nereid::detail::has_more_fields<Type, 0 NEREID_EACH(NEREID_COUNT_FIELD, Type, __VA_ARGS__)>(),    \
        "the config has a field that NEREID_CONFIG does not list, or a base with fields");                   \
    __VA_OPT__([[maybe_unused]] const auto &[__VA_ARGS__] = nereid_config;)                                  \
  }                                                                                                          \
  static constexpr auto nereid_fields() {                                                                    \
    static_cast<void>(&nereid_config_lists_every_field);                                                     \
    return std::tuple_cat(std::tuple<>() NEREID_EACH(NEREID_CONFIG_FIELD, Type, __VA_ARGS__));               \
  }
#define NEREID_PARTIAL_FIELD(Type, field) ::nereid::detail::PartialField<decltype(Type::field)> field = {};
/* Of arrays, whose elements would count as fields, config_field tells. */
#define NEREID_COUNT_FIELD(Type, field) +(std::is_array_v<decltype(Type::field)> ? 1000 : 1)
#define NEREID_CONFIG_FIELD(Type, field)                                                                     \
  , std::make_tuple(::nereid::detail::config_field(#field, &Type::field, &NereidPartial::field))

namespace nereid {

/// What the waves of a workgroup share: the config key wave_split.
using ir::WaveSplit;

/// A struct with NEREID_CONFIG.
template <class C>
concept ListedConfig = requires { C::nereid_fields(); };

/// The config with each field in a std::optional, a config in it as a Partial of its own: what a caller sets
/// of a config, `Partial<AddConfig>{.waves = 8}`.
template <ListedConfig C> using Partial = typename C::NereidPartial;

template <class P>
concept PartialConfig = requires { requires std::same_as<Partial<typename P::NereidConfig>, P>; };

/// What kind of field it is and which values it may have.
struct ConfigType {
  enum class Kind : uint8_t { Integer, Bool, Float, Enum };
  Kind kind;
  int64_t min; ///< of an integer
  uint64_t max;
  std::span<const std::string_view> names; ///< of an enum's values
};

/// A field of a config with its value.
struct ConfigValue {
  std::string_view name;
  const ConfigType *type = nullptr;
  int64_t value = 0; ///< of an enum its number, of a float or uint64_t its bits

  /// "1024", or the name of the enum's value.
  std::string text() const;
};

/// Narrower limits of an integer field, by its name.
struct ConfigLimits {
  std::string_view name;
  int64_t min;
  int64_t max;
  std::span<const int> values = {}; ///< the only ones between min and max, ascending; empty: all
};

namespace detail {

/// In the place of a field of any type.
struct AnyField {
  template <class M> operator M() const;
};
template <class C, size_t... i> constexpr bool takes_fields(std::index_sequence<i...>) {
  return requires { C{((void)i, AnyField{})...}; };
}
/// Whether a struct has more fields than those listed. A structured binding refuses it too, in words of its
/// own.
template <class C, size_t listed> constexpr bool has_more_fields() {
  if constexpr (std::is_aggregate_v<C> && listed < 1000)
    return takes_fields<C>(std::make_index_sequence<listed + 1>());
  else
    return false;
}

/// A field of a config C and of its Partial P.
template <class C, class M, class P, class PM> struct ConfigField {
  using Member = M;
  std::string_view name;
  M C::*member;
  PM P::*partial;

  constexpr M &of(C &config) const { return config.*member; }
  constexpr const M &of(const C &config) const { return config.*member; }
  constexpr PM &of(P &config) const { return config.*partial; }
  constexpr const PM &of(const P &config) const { return config.*partial; }
};
template <class M, class... Types> inline constexpr bool is_one_of = (std::same_as<M, Types> || ...);
/// Also bool. Characters would be read and printed as numbers.
template <class M>
concept ConfigInteger = std::integral<M> && sizeof(M) <= sizeof(int64_t) && !std::is_const_v<M> &&
                        !is_one_of<M, char, wchar_t, char8_t, char16_t, char32_t>;
template <class M>
concept NamedEnum = std::is_enum_v<M> && requires { nereid_config_names(M{}); };
template <class C, class M, class P, class PM>
constexpr ConfigField<C, M, P, PM> config_field(std::string_view name, M C::*member, PM P::*partial) {
  static_assert(ConfigInteger<M> || NamedEnum<M> || std::same_as<M, float> || ListedConfig<M>,
                "the fields of a config are ints, bools, floats, enums with nereid_config_names, or configs; "
                "none is const, a character or an array");
  return {name, member, partial};
}

template <class M> struct PartialOf {
  using type = std::optional<M>;
};
/// No field of a config can be an array, which config_field says.
template <class M>
  requires std::is_array_v<M>
struct PartialOf<M> {
  using type = M;
};
template <ListedConfig M> struct PartialOf<M> {
  using type = Partial<M>;
};
template <class M> using PartialField = typename PartialOf<M>::type;

template <class E> inline constexpr auto enum_names = nereid_config_names(E{});

template <class M> constexpr ConfigType make_config_type() {
  if constexpr (std::same_as<M, bool>)
    return {ConfigType::Kind::Bool, 0, 1, {}};
  else if constexpr (std::same_as<M, float>)
    return {ConfigType::Kind::Float, 0, 0, {}};
  else if constexpr (std::is_enum_v<M>)
    return {ConfigType::Kind::Enum, 0, 0, enum_names<M>};
  else
    return {ConfigType::Kind::Integer,
            std::numeric_limits<M>::min(),
            static_cast<uint64_t>(std::numeric_limits<M>::max()),
            {}};
}
template <class M> inline constexpr ConfigType config_type = make_config_type<M>();

template <class M> constexpr int64_t to_config_value(const M &member) {
  if constexpr (std::same_as<M, float>)
    return std::bit_cast<uint32_t>(member);
  else
    return static_cast<int64_t>(member);
}
template <class M> constexpr M from_config_value(int64_t value) {
  if constexpr (std::same_as<M, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(value));
  else
    return static_cast<M>(value);
}

/// Calls visit(field, the field of each object) for all fields; the objects are configs C and Partials of it.
template <ListedConfig C, class Visit, class... Objects>
constexpr void for_each_field(const Visit &visit, Objects &...objects) {
  const auto visit_one = [&]<class Field>(const Field &field) {
    if constexpr (ListedConfig<typename Field::Member>)
      for_each_field<typename Field::Member>(visit, field.of(objects)...);
    else
      visit(field, field.of(objects)...);
  };
  std::apply([&](const auto &...field) { (visit_one(field), ...); }, C::nereid_fields());
}

template <ListedConfig C> consteval size_t count_fields() {
  size_t count = 0;
  for_each_field<C>([&](const auto &) { ++count; });
  return count;
}

template <ListedConfig C> consteval bool names_differ() {
  std::array<std::string_view, count_fields<C>()> names;
  size_t count = 0;
  for_each_field<C>([&](const auto &field) { names[count++] = field.name; });
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < i; ++j)
      if (names[i] == names[j])
        return false;
  return true;
}

template <ListedConfig C> constexpr void check_names() {
  static_assert(names_differ<C>(), "a field of the config has the name of a field of a config in it");
}

/// Index of a field and its new value.
using ConfigChange = std::pair<size_t, int64_t>;

/// What "name=value" changes of the fields, whose values are not looked at.
Result<ConfigChange> parse_config_value(std::span<const ConfigValue> fields, std::string_view name,
                                        std::string_view text, std::span<const ConfigLimits> limits);
/// What "name=value,name=value" changes; each field once at most.
Result<std::vector<ConfigChange>> parse_config(std::span<const ConfigValue> fields, std::string_view text,
                                               std::span<const ConfigLimits> limits);

/// Sets a field of a config or Partial.
template <ListedConfig C, class Object> void apply_change(Object &object, const ConfigChange &change) {
  size_t index = 0;
  for_each_field<C>(
      [&]<class Field>(const Field &, auto &member) {
        if (index++ == change.first)
          member = from_config_value<typename Field::Member>(change.second);
      },
      object);
}

} // namespace detail

/// All fields of a config type in the order of the lists, without values.
template <ListedConfig C> std::vector<ConfigValue> config_fields() {
  detail::check_names<C>();
  std::vector<ConfigValue> fields;
  detail::for_each_field<C>([&]<class Field>(const Field &field) {
    fields.push_back({field.name, &detail::config_type<typename Field::Member>});
  });
  return fields;
}

/// All fields with their values.
template <ListedConfig C> std::vector<ConfigValue> config_values(const C &config) {
  detail::check_names<C>();
  std::vector<ConfigValue> values;
  detail::for_each_field<C>(
      [&]<class M>(const auto &field, const M &member) {
        values.push_back({field.name, &detail::config_type<M>, detail::to_config_value(member)});
      },
      config);
  return values;
}

/// The fields that are set.
template <PartialConfig P> std::vector<ConfigValue> config_values(const P &config) {
  std::vector<ConfigValue> values;
  detail::for_each_field<typename P::NereidConfig>(
      [&]<class M>(const auto &field, const std::optional<M> &member) {
        if (member)
          values.push_back({field.name, &detail::config_type<M>, detail::to_config_value(*member)});
      },
      config);
  return values;
}

/// The value of a field by name, as ConfigValue has it.
template <ListedConfig C> std::optional<int64_t> config_get(const C &config, std::string_view name) {
  for (const ConfigValue &field : config_values(config))
    if (field.name == name)
      return field.value;
  return std::nullopt;
}

/// Sets a field from text. An unknown name is a user error that lists the known ones.
template <ListedConfig C> Status config_set(C &config, std::string_view name, std::string_view text) {
  NEREID_TRY(const detail::ConfigChange change,
             detail::parse_config_value(config_fields<C>(), name, text, {}));
  detail::apply_change<C>(config, change);
  return {};
}

/// The fields of "name=value,name=value", no field twice.
template <ListedConfig C>
Result<Partial<C>> parse_partial(std::string_view text, std::span<const ConfigLimits> limits = {}) {
  NEREID_TRY(const auto changes, detail::parse_config(config_fields<C>(), text, limits));
  Partial<C> partial;
  for (const detail::ConfigChange &change : changes)
    detail::apply_change<C>(partial, change);
  return partial;
}

/// The config with the fields that are set in place of its own.
template <ListedConfig C> C config_merge(C config, const Partial<C> &changes) {
  detail::for_each_field<C>(
      [](const auto &, auto &member, const auto &change) {
        if (change)
          member = *change;
      },
      config, changes);
  return config;
}

/// Sets fields from "name=value,name=value"; the config is unchanged on error.
template <ListedConfig C> Status config_parse(C &config, std::string_view text) {
  NEREID_TRY(const Partial<C> changes, parse_partial<C>(text));
  config = config_merge(config, changes);
  return {};
}

/// "name=value,name=value", as config_parse reads it.
std::string config_text(std::span<const ConfigValue> values);
/// One JSON object; enums are strings, bools 0 or 1, floats that are no number strings.
std::string config_json(std::span<const ConfigValue> values);

template <class C>
  requires ListedConfig<C> || PartialConfig<C>
std::string config_text(const C &config) {
  return config_text(std::span<const ConfigValue>(config_values(config)));
}
template <class C>
  requires ListedConfig<C> || PartialConfig<C>
std::string config_json(const C &config) {
  return config_json(std::span<const ConfigValue>(config_values(config)));
}

/// The values in order, to compare and hash without an allocation. Padding is no part of it.
template <ListedConfig C> constexpr auto config_key(const C &config) {
  detail::check_names<C>();
  std::array<int64_t, detail::count_fields<C>()> key{};
  size_t index = 0;
  detail::for_each_field<C>(
      [&](const auto &, const auto &member) { key[index++] = detail::to_config_value(member); }, config);
  return key;
}

} // namespace nereid
