#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dsl/ir/element.h"

namespace nereid::ir {

/// Number formats of dot_scaled's operands, of quantize and of the scaled conversions.
/// The microscaling formats live in u8 tiles, packed along K: e2m1 two a byte (even k in the low nibble),
/// e2m3 and e3m2 as a little-endian bit string (32 values in 24 bytes), e4m3 and e5m2 one a byte. bf16 and
/// f16 are tiles of their own element type and carry no scale. Formats: OCP Microscaling Formats (MX) v1.0.
enum class Format : uint8_t {
#define NEREID_FORMAT(enumerator, name, bits, exponent_bits, mantissa_bits, bias, scaled) enumerator,
#include "dsl/ir/formats.def"
};

/// One line of formats.def.
struct FormatFacts {
  std::string_view name;
  unsigned bits;
  unsigned exponent_bits;
  unsigned mantissa_bits;
  int bias;
  bool scaled; ///< has an e8m0 scale for each group of 32 along K
};

/// The line of a format, and the format of a name ("e2m1"), if there is one.
const FormatFacts &facts(Format format);
std::optional<Format> format_named(std::string_view name);
/// The format of fp8's and bf8's elements.
std::optional<Format> format_of(Element element);
/// Whether tiles of the element hold packed codes of a microscaling format: u8, or the format's own element.
bool holds_codes(Element element, Format format);

/// How quantize picks the e8m0 byte of a group. E is the exponent field of the group's largest magnitude, m
/// the format's mantissa bits, x the exponent of the format's largest value.
/// - Even: E counts one up where the mantissa rounds up to 2 in m bits; max(E - x, 0), but 254 if E is 255
/// then.
/// - Floor: max(E - x, 0).
/// - Ceil: the smallest byte under which no value of the group exceeds the format's largest.
///
/// A group with a NaN or an infinity has 254; these elements become the format's largest value with their
/// sign (e4m3: NaN for both, e5m2: NaN and infinity). Finite values saturate.
enum class ScaleRule : uint8_t { Even, Floor, Ceil };

/// "even", "floor" or "ceil", and back.
std::string_view name_of(ScaleRule rule);
std::optional<ScaleRule> scale_rule_named(std::string_view name);

/// Values that share a scale, along K.
inline constexpr int64_t scale_group = 32;

} // namespace nereid::ir
