// The table of number formats (formats.def).
#include "dsl/ir/format.h"

#include <array>

namespace nereid::ir {

static constexpr FormatFacts format_table[] = {
#define NEREID_FORMAT(enumerator, name, bits, exponent_bits, mantissa_bits, bias, scaled)                    \
  {name, bits, exponent_bits, mantissa_bits, bias, scaled},
#include "dsl/ir/formats.def"
};
static constexpr std::string_view rules[] = {"even", "floor", "ceil"};

const FormatFacts &facts(Format format) { return format_table[static_cast<size_t>(format)]; }

std::optional<Format> format_named(std::string_view name) {
  for (size_t i = 0; i < std::size(format_table); ++i)
    if (format_table[i].name == name)
      return static_cast<Format>(i);
  return std::nullopt;
}

std::optional<Format> format_of(Element element) {
  return element == Element::FP8   ? std::optional(Format::E4M3)
         : element == Element::BF8 ? std::optional(Format::E5M2)
                                   : std::nullopt;
}

bool holds_codes(Element element, Format format) {
  return facts(format).scaled && (element == Element::U8 || format_of(element) == format);
}

std::string_view name_of(ScaleRule rule) { return rules[static_cast<size_t>(rule)]; }

std::optional<ScaleRule> scale_rule_named(std::string_view name) {
  for (size_t i = 0; i < std::size(rules); ++i)
    if (rules[i] == name)
      return static_cast<ScaleRule>(i);
  return std::nullopt;
}

} // namespace nereid::ir
