#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

const FormatFacts &facts(Format format);
std::optional<Format> format_named(std::string_view name);

/// How quantize picks the scale of a group (contracts: even is the competition reference's rule).
enum class ScaleRule : uint8_t { Even, Floor, Ceil };

std::string_view name_of(ScaleRule rule);
std::optional<ScaleRule> scale_rule_named(std::string_view name);

/// Values that share a scale, along K.
inline constexpr int64_t scale_group = 32;

} // namespace nereid::ir
