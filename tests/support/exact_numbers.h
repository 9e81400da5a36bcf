#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "dsl/ir/element.h"

/// Numbers of every element type as exact binary fractions, and the one rounding of such a fraction to a
/// type: the reference for conversions and for operations that round once. Written from the definitions of
/// the formats.
namespace nereid::test {

using Wide = __uint128_t;

/// (negative ? -1 : 1) * magnitude * 2^exponent, or one of the two that are no numbers.
struct Exact {
  enum class Kind { Finite, Infinite, Nan } kind = Kind::Finite;
  bool negative = false;
  Wide magnitude = 0;
  int exponent = 0;
};

inline constexpr ir::Element all_elements[] = {
#define NEREID_ELEMENT(enumerator, name, bits, kind) ir::Element::enumerator,
#include "dsl/ir/elements.def"
};

/// Significand bits with the hidden one, and the exponent of the last bit of a subnormal.
struct FloatFormat {
  int precision;
  int last_exponent;
};

inline FloatFormat float_format(ir::Element element) {
  return element == ir::Element::F64    ? FloatFormat{53, -1074}
         : element == ir::Element::F32  ? FloatFormat{24, -149}
         : element == ir::Element::BF16 ? FloatFormat{8, -133}
         : element == ir::Element::FP8  ? FloatFormat{4, -9}
         : element == ir::Element::BF8  ? FloatFormat{3, -16}
                                        : FloatFormat{11, -24};
}

/// e4m3 has one NaN of each sign and no infinity: the rest of the last exponent are numbers.
inline bool has_infinity(ir::Element element) { return element != ir::Element::FP8; }

inline int bit_width(Wide value) {
  const auto high = static_cast<uint64_t>(value >> 64), low = static_cast<uint64_t>(value);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(low);
}

inline Exact exact_of(ir::Element element, uint64_t bits) {
  const unsigned width = ir::facts(element).bits;
  const uint64_t sign = uint64_t{1} << (width - 1);
  Exact result;
  if (!ir::is_float(element)) {
    result.negative = ir::is_signed(element) && (bits & sign) != 0;
    result.magnitude = result.negative ? (sign << 1) - bits : bits; // 64 bits: 0 - bits
    return result;
  }
  const FloatFormat format = float_format(element);
  const int fraction_bits = format.precision - 1;
  const uint64_t all_ones = (sign >> fraction_bits) - 1;
  const uint64_t field = (bits & ~sign) >> fraction_bits,
                 fraction = bits & ((uint64_t{1} << fraction_bits) - 1);
  result.negative = (bits & sign) != 0;
  const bool is_last = fraction == (uint64_t{1} << fraction_bits) - 1;
  if (field == all_ones && (is_last || has_infinity(element)))
    result.kind = fraction != 0 ? Exact::Kind::Nan : Exact::Kind::Infinite;
  result.magnitude = field == 0 ? fraction : fraction | uint64_t{1} << fraction_bits;
  result.exponent = format.last_exponent + (field == 0 ? 0 : static_cast<int>(field) - 1);
  return result;
}

/// A finite double.
inline Exact exact_of(double value) {
  int exponent = 0;
  const double significand = std::frexp(std::fabs(value), &exponent);
  return {Exact::Kind::Finite, std::signbit(value), static_cast<Wide>(std::ldexp(significand, 53)),
          exponent - 53};
}

/// To nearest, ties to even; the bits of a quiet NaN for a NaN.
inline uint64_t rounded(const Exact &x, ir::Element element) {
  const FloatFormat format = float_format(element);
  const int fraction_bits = format.precision - 1;
  const uint64_t sign = uint64_t{1} << (ir::facts(element).bits - 1);
  const uint64_t last_exponent = ((sign >> fraction_bits) - 1) << fraction_bits;
  const uint64_t infinity = has_infinity(element) ? last_exponent : sign - 1;
  const uint64_t sign_bit = x.negative ? sign : 0;
  if (x.kind != Exact::Kind::Finite)
    return sign_bit | infinity | (x.kind == Exact::Kind::Nan ? uint64_t{1} << (fraction_bits - 1) : 0);
  if (x.magnitude == 0)
    return sign_bit;
  // The exponent of the result's last bit, by the leading bit.
  const int last = std::max(x.exponent + bit_width(x.magnitude) - format.precision, format.last_exponent);
  const int shift = last - x.exponent;
  Wide significand = 0;
  if (shift <= 0) {
    significand = x.magnitude << -shift;
  } else if (shift <= bit_width(x.magnitude)) {
    const Wide rest = x.magnitude & ((Wide{1} << shift) - 1), half = Wide{1} << (shift - 1);
    significand = x.magnitude >> shift;
    significand += rest > half || (rest == half && (significand & 1) != 0);
  }
  // A carry runs on into the exponent; a significand without the hidden bit is a subnormal.
  const Wide field = static_cast<Wide>(last - format.last_exponent) << fraction_bits;
  const Wide bits = field + significand;
  return sign_bit | (bits >= infinity ? infinity : static_cast<uint64_t>(bits));
}

/// a * b + c; what is far below the larger part leaves a trace below its last bit, which is all that rounding
/// sees.
inline Exact exact_fma(const Exact &a, const Exact &b, const Exact &c) {
  constexpr int room = 96; // bits between the parts
  Exact p{Exact::Kind::Finite, a.negative != b.negative, a.magnitude * b.magnitude, a.exponent + b.exponent};
  Exact q = c;
  if (p.magnitude == 0 || q.magnitude == 0) {
    Exact result = q.magnitude == 0 ? p : q;
    if (p.magnitude == 0 && q.magnitude == 0)
      result.negative = p.negative && q.negative;
    return result;
  }
  if (p.exponent + bit_width(p.magnitude) < q.exponent + bit_width(q.magnitude))
    std::swap(p, q);
  // p is the larger; bring both to one exponent, q to a sticky bit when it is too far down.
  const int top = p.exponent + bit_width(p.magnitude);
  const int floor = top - room;
  if (q.exponent < floor) {
    const int shift = floor - q.exponent;
    const bool lost = shift > 127 || (q.magnitude & ((Wide{1} << shift) - 1)) != 0;
    q.magnitude = (shift > 127 ? 0 : q.magnitude >> shift) << 1 | lost;
    q.exponent = floor - 1;
  }
  const int exponent = std::min(p.exponent, q.exponent);
  const Wide x = p.magnitude << (p.exponent - exponent), y = q.magnitude << (q.exponent - exponent);
  Exact result{Exact::Kind::Finite, p.negative, x + y, exponent};
  if (p.negative != q.negative) {
    result.magnitude = x >= y ? x - y : y - x;
    result.negative = x == y ? false : x > y ? p.negative : q.negative;
  }
  return result;
}

/// A conversion as the language has it.
inline uint64_t converted(ir::Element from, uint64_t bits, ir::Element to) {
  const Exact x = exact_of(from, bits);
  const bool is_nan = x.kind == Exact::Kind::Nan;
  if (to == ir::Element::I1)
    return is_nan || x.kind == Exact::Kind::Infinite || x.magnitude != 0;
  if (ir::is_float(to))
    return rounded(x, to);
  const unsigned width = ir::facts(to).bits;
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (!ir::is_float(from))
    return (x.negative ? 0 - static_cast<uint64_t>(x.magnitude) : static_cast<uint64_t>(x.magnitude)) & mask;
  // Floats truncate and saturate to u32, i64, u64, else to i32; then bits beyond the width are cut off.
  const bool is_unsigned = to == ir::Element::U32 || to == ir::Element::U64;
  const unsigned saturated = width < 32 ? 32 : width;
  const Wide limit = is_unsigned  ? (x.negative ? 0 : (Wide{1} << saturated) - 1)
                     : x.negative ? Wide{1} << (saturated - 1)
                                  : (Wide{1} << (saturated - 1)) - 1;
  Wide magnitude = x.exponent > 64                        ? limit
                   : x.exponent >= 0                      ? x.magnitude << x.exponent
                   : x.exponent > -bit_width(x.magnitude) ? x.magnitude >> -x.exponent
                                                          : 0;
  magnitude = x.kind == Exact::Kind::Infinite || magnitude > limit ? limit : magnitude;
  const auto low = static_cast<uint64_t>(is_nan ? 0 : magnitude);
  return (x.negative ? 0 - low : low) & mask;
}

/// Numbers of a float half way between two neighbours of narrower floats, the last of which is the first that
/// is too large.
inline std::vector<double> ties_of_narrower(ir::Element element) {
  using ir::Element;
  std::vector<double> result;
  for (const Element narrow : {Element::FP8, Element::BF8, Element::F16, Element::BF16, Element::F32}) {
    if (ir::facts(narrow).bits >= ir::facts(element).bits)
      continue;
    const uint64_t codes = (uint64_t{1} << (ir::facts(narrow).bits - 1)) - 1;
    const uint64_t step = ir::is_small_float(narrow) ? 1 : codes / 61;
    for (uint64_t code = 0; code < codes; code += step)
      for (const uint64_t low : {code, code + 1}) {
        const Exact x = exact_of(narrow, low), y = exact_of(narrow, low + 1);
        if (x.kind == Exact::Kind::Finite)
          result.push_back(std::ldexp(
              static_cast<double>(x.magnitude + y.magnitude * (Wide{1} << (y.exponent - x.exponent))),
              x.exponent - 1));
      }
  }
  return result;
}

/// Bit patterns where conversions change their course: around every power of two (of f64 those within the
/// reach of other elements), at the ends, special values.
inline std::vector<uint64_t> edge_bits(ir::Element element) {
  const unsigned width = ir::facts(element).bits;
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t sign = uint64_t{1} << (width - 1);
  if (element == ir::Element::I1)
    return {0, 1};
  std::vector<uint64_t> result;
  const auto add = [&](uint64_t bits) {
    for (uint64_t near : {bits - 1, bits, bits + 1})
      result.push_back(near & mask);
  };
  if (ir::is_small_float(element)) {
    for (uint64_t bits = 0; bits <= mask; ++bits)
      result.push_back(bits);
    return result;
  }
  if (!ir::is_float(element)) {
    for (unsigned k = 0; k < width; ++k)
      for (uint64_t low :
           {uint64_t{0}, uint64_t{1} << (k / 2), (uint64_t{1} << k) / 256, (uint64_t{3} << k) / 512}) {
        add((uint64_t{1} << k) + low);
        add(0 - (uint64_t{1} << k) - low);
      }
    return result;
  }
  const int fraction_bits = float_format(element).precision - 1;
  const uint64_t fields = sign >> fraction_bits, one = fields / 2 - 1;
  for (uint64_t field = 0; field < fields; ++field) {
    const bool is_far = field + 160 < one || field > one + 160;
    if (is_far && field > 1 && field + 2 < fields)
      continue;
    for (uint64_t fraction : {uint64_t{0}, uint64_t{1} << (fraction_bits - 1),
                              uint64_t{1} << fraction_bits >> 3, uint64_t{3} << (fraction_bits - 3)}) {
      add(field << fraction_bits | fraction);
      add(sign | field << fraction_bits | fraction);
    }
  }
  // Half way between two bf16 or two f16, and next to it.
  for (uint64_t tie :
       {0x3f808000u, 0x3f818000u, 0x477fe000u, 0x477ff000u, 0x38801000u, 0x33000000u, 0x33400000u})
    if (element == ir::Element::F32) {
      add(tie);
      add(sign | tie);
    }
  for (const double tie : ties_of_narrower(element))
    if (element == ir::Element::F64 || element == ir::Element::F32) {
      add(rounded(exact_of(tie), element));
      add(sign | rounded(exact_of(tie), element));
    }
  return result;
}

/// Triples of bf16 or f16 for fma: ties of the product that only the addend breaks, then any bits, most with
/// parts that meet near the last bit of their sum.
inline std::vector<std::vector<uint64_t>> fma_operands(ir::Element element, size_t count) {
  std::mt19937_64 random(7);
  const int fraction_bits = float_format(element).precision - 1;
  const uint64_t fields = (uint64_t{1} << (15 - fraction_bits)) - 1;
  const auto number = [&](uint64_t field) {
    return (random() & 1) << 15 | std::min(field, fields - 1) << fraction_bits |
           (random() & ((uint64_t{1} << fraction_bits) - 1) & (random() % 2 == 0 ? ~uint64_t{0} : random()));
  };
  std::vector<std::vector<uint64_t>> operands(3);
  static constexpr double ties[][3] = {{0.000337839126587, -0.361328125, -0.361328125},
                                       {1 + 0x1p-7, 1 + 0x1p-7, 0x1p-120},
                                       {1 + 0x1p-7, 1 + 0x1p-7, -0x1p-120},
                                       {1.5, 1 + 0x1p-7, 0x1p-24},
                                       {0x1p-130, 1.5, 0x1p-133},
                                       {0x1p-14, 0x1p-11, 0x1p-24}};
  for (const auto &tie : ties)
    for (size_t k = 0; k < 3; ++k)
      operands[k].push_back(rounded(exact_of(tie[k]), element));
  while (operands[0].size() < count) {
    const uint64_t a = random() % fields, b = random() % fields;
    const uint64_t product = std::clamp<int64_t>(static_cast<int64_t>(a + b) - fields / 2, 0, fields - 1);
    const uint64_t near =
        std::clamp<int64_t>(static_cast<int64_t>(product + random() % 48) - 24, 0, fields - 1);
    operands[0].push_back(number(a));
    operands[1].push_back(number(b));
    operands[2].push_back(number(random() % 4 == 0 ? random() % fields : near));
  }
  return operands;
}

/// Bit patterns as memory holds them, and back.
inline std::vector<uint8_t> packed(ir::Element element, const std::vector<uint64_t> &bits) {
  const unsigned size = ir::byte_size(element);
  std::vector<uint8_t> bytes(bits.size() * size);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(bits[i / size] >> (i % size * 8));
  return bytes;
}
inline std::vector<uint64_t> unpacked(ir::Element element, const std::vector<uint8_t> &bytes) {
  const unsigned size = ir::byte_size(element);
  std::vector<uint64_t> bits(bytes.size() / size);
  for (size_t i = 0; i < bytes.size(); ++i)
    bits[i / size] |= uint64_t{bytes[i]} << (i % size * 8);
  return bits;
}

inline bool is_nan(ir::Element element, uint64_t bits) {
  return ir::is_float(element) && exact_of(element, bits).kind == Exact::Kind::Nan;
}

} // namespace nereid::test
