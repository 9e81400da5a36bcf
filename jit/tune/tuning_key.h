#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace nereid {

/// An argument that a config is chosen by: a size, an element type, a flag.
struct KeyArgument {
  template <std::integral T>
  KeyArgument(std::string_view argument, T number) : name(argument), value(std::to_string(number)) {}
  KeyArgument(std::string_view argument, std::string_view text) : name(argument), value(text) {}

  std::string name;
  std::string value;
};

/// "M=16,N=2112,K=7168" of {{"M", 16}, {"N", 2112}, {"K", 7168}}: the key of a tuning. Lists that differ have
/// keys that differ: in names and values a percent sign, a comma, an equals sign, and bytes that are no
/// printable ASCII become "%" and two hexadecimal digits.
std::string tuning_key(std::initializer_list<KeyArgument> arguments);

/// Whether `a` comes before `b` where runs of digits compare as numbers: "M=8" before "M=16". A total order.
bool natural_less(std::string_view a, std::string_view b);

/// natural_less as an order of maps that takes any kind of string.
struct NaturalLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
};

} // namespace nereid
