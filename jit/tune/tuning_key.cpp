// Keys of tunings as text, and the order in which people expect them.
#include "jit/tune/tuning_key.h"

#include <fmt/format.h>

namespace nereid {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c > ' ' && c < 0x7f && c != '%' && c != ',' && c != '=')
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

/// The run of digits at the head of `text`, which loses it, without leading zeros.
std::string_view take_number(std::string_view &text) {
  size_t end = 0;
  while (end < text.size() && is_digit(text[end]))
    ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Below, at or above 0: a before, like or after b.
int compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

} // namespace

std::string tuning_key(std::initializer_list<KeyArgument> arguments) {
  std::string key;
  for (const KeyArgument &argument : arguments)
    key += (key.empty() ? "" : ",") + escaped(argument.name) + "=" + escaped(argument.value);
  return key;
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      if (const int order = compare_numbers(take_number(a), take_number(b)))
        return order < 0;
      continue;
    }
    if (a.front() != b.front())
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty())
    return a.empty();
  return whole_a < whole_b; // they differ in leading zeros at most
}

} // namespace nereid
