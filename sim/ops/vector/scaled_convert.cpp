// v_cvt_scalef32_*: conversions to and from fp4, fp6, bf6, fp8 and bf8 with an e8m0 scale. The scale operand
// is a float of which only the exponent counts; towards the small format values are divided by it, back they
// are multiplied.

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/decode/operations.h"
#include "sim/ops/vector/fp4_convert.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

enum class Group : uint8_t {
  One,        ///< a single element
  Pair,       ///< two
  ThirtyTwo,  ///< a register tuple
  TwoSixteen, ///< 32 elements interleaved from two tuples of 16
};

/// One conversion; the operation's detail is its index.
struct Conversion {
  const char *name;
  bool to_small;
  bool stochastic;
  Group group;
  SmallFormat small;
  Wide wide;
};

constexpr bool down = true, up = false, exact = false, random = true;

constexpr Conversion conversions[] = {
    {"pk_fp4_f32", down, exact, Group::Pair, fp4, Wide::F32},
    {"pk_fp4_f16", down, exact, Group::Pair, fp4, Wide::F16},
    {"pk_fp4_bf16", down, exact, Group::Pair, fp4, Wide::Bf16},
    {"sr_pk_fp4_f32", down, random, Group::Pair, fp4, Wide::F32},
    {"sr_pk_fp4_f16", down, random, Group::Pair, fp4, Wide::F16},
    {"sr_pk_fp4_bf16", down, random, Group::Pair, fp4, Wide::Bf16},
    {"pk_fp8_f32", down, exact, Group::Pair, fp8, Wide::F32},
    {"pk_fp8_f16", down, exact, Group::Pair, fp8, Wide::F16},
    {"pk_fp8_bf16", down, exact, Group::Pair, fp8, Wide::Bf16},
    {"pk_bf8_f32", down, exact, Group::Pair, bf8, Wide::F32},
    {"pk_bf8_f16", down, exact, Group::Pair, bf8, Wide::F16},
    {"pk_bf8_bf16", down, exact, Group::Pair, bf8, Wide::Bf16},
    {"sr_fp8_f32", down, random, Group::One, fp8, Wide::F32},
    {"sr_fp8_f16", down, random, Group::One, fp8, Wide::F16},
    {"sr_fp8_bf16", down, random, Group::One, fp8, Wide::Bf16},
    {"sr_bf8_f32", down, random, Group::One, bf8, Wide::F32},
    {"sr_bf8_f16", down, random, Group::One, bf8, Wide::F16},
    {"sr_bf8_bf16", down, random, Group::One, bf8, Wide::Bf16},
    {"2xpk16_fp6_f32", down, exact, Group::TwoSixteen, fp6, Wide::F32},
    {"2xpk16_bf6_f32", down, exact, Group::TwoSixteen, bf6, Wide::F32},
    {"pk32_fp6_f16", down, exact, Group::ThirtyTwo, fp6, Wide::F16},
    {"pk32_fp6_bf16", down, exact, Group::ThirtyTwo, fp6, Wide::Bf16},
    {"pk32_bf6_f16", down, exact, Group::ThirtyTwo, bf6, Wide::F16},
    {"pk32_bf6_bf16", down, exact, Group::ThirtyTwo, bf6, Wide::Bf16},
    {"sr_pk32_fp6_f32", down, random, Group::ThirtyTwo, fp6, Wide::F32},
    {"sr_pk32_fp6_f16", down, random, Group::ThirtyTwo, fp6, Wide::F16},
    {"sr_pk32_fp6_bf16", down, random, Group::ThirtyTwo, fp6, Wide::Bf16},
    {"sr_pk32_bf6_f32", down, random, Group::ThirtyTwo, bf6, Wide::F32},
    {"sr_pk32_bf6_f16", down, random, Group::ThirtyTwo, bf6, Wide::F16},
    {"sr_pk32_bf6_bf16", down, random, Group::ThirtyTwo, bf6, Wide::Bf16},
    {"pk_f32_fp4", up, exact, Group::Pair, fp4, Wide::F32},
    {"pk_f16_fp4", up, exact, Group::Pair, fp4, Wide::F16},
    {"pk_bf16_fp4", up, exact, Group::Pair, fp4, Wide::Bf16},
    {"pk_f32_fp8", up, exact, Group::Pair, fp8, Wide::F32},
    {"pk_f16_fp8", up, exact, Group::Pair, fp8, Wide::F16},
    {"pk_bf16_fp8", up, exact, Group::Pair, fp8, Wide::Bf16},
    {"pk_f32_bf8", up, exact, Group::Pair, bf8, Wide::F32},
    {"pk_f16_bf8", up, exact, Group::Pair, bf8, Wide::F16},
    {"pk_bf16_bf8", up, exact, Group::Pair, bf8, Wide::Bf16},
    {"f32_fp8", up, exact, Group::One, fp8, Wide::F32},
    {"f16_fp8", up, exact, Group::One, fp8, Wide::F16},
    {"f32_bf8", up, exact, Group::One, bf8, Wide::F32},
    {"f16_bf8", up, exact, Group::One, bf8, Wide::F16},
    {"pk32_f32_fp6", up, exact, Group::ThirtyTwo, fp6, Wide::F32},
    {"pk32_f16_fp6", up, exact, Group::ThirtyTwo, fp6, Wide::F16},
    {"pk32_bf16_fp6", up, exact, Group::ThirtyTwo, fp6, Wide::Bf16},
    {"pk32_f32_bf6", up, exact, Group::ThirtyTwo, bf6, Wide::F32},
    {"pk32_f16_bf6", up, exact, Group::ThirtyTwo, bf6, Wide::F16},
    {"pk32_bf16_bf6", up, exact, Group::ThirtyTwo, bf6, Wide::Bf16},
};

uint32_t exponent_field(uint32_t word) { return word >> 23 & 0xFF; }
/// The generator of v_prng_b32: each further element of a stochastic conversion takes its next value.
uint32_t next_random(uint32_t value) { return value << 1 ^ (value >> 31 ? 197u : 0u); }

double widened(Wide wide, uint32_t bits) {
  switch (wide) {
  case Wide::F32:
    return std::bit_cast<float>(bits);
  case Wide::F16:
    return half_to_float(bits & 0xFFFF);
  case Wide::Bf16:
    return bfloat_to_float(bits & 0xFFFF);
  }
  return 0;
}

uint32_t narrowed(Wide wide, double value) {
  switch (wide) {
  case Wide::F32:
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  case Wide::F16:
    return double_to_half(value, 0);
  case Wide::Bf16:
    return float_to_bfloat(static_cast<float>(value));
  }
  return 0;
}

/// Reads a source by words; what is not a register is the same in every word and lane.
class Words {
public:
  Words(Wave &wave, const Instruction &instruction, unsigned k)
      : wave_(wave), source_(instruction.source[k]), first_(fetch(wave, instruction, source_, buffers_).low) {
  }
  uint32_t operator()(unsigned word, unsigned lane) const {
    return word && source_.kind == Source::Kind::Vector ? wave_.vgpr[source_.index + word].word[lane]
                                                        : first_[lane];
  }

private:
  const Wave &wave_;
  const Source &source_;
  OperandBuffers buffers_;
  const uint32_t *first_;
};

uint32_t wide_element(const Conversion &conversion, const Words &words, unsigned element, unsigned lane) {
  if (conversion.wide == Wide::F32)
    return words(element, lane);
  return words(element / 2, lane) >> 16 * (element % 2) & 0xFFFF;
}

struct SmallResult {
  std::array<uint32_t, 6> words{};
  void put(unsigned bit, unsigned width, uint32_t code) {
    words[bit / 32] |= code << bit % 32;
    if (bit % 32 + width > 32)
      words[bit / 32 + 1] |= code >> (32 - bit % 32);
  }
};

/// The element of a lane before conversion: where it comes from depends on the group and on the width.
double element_value(const Conversion &conversion, const Words &a, const Words &b, unsigned element,
                     unsigned lane) {
  if (conversion.group == Group::TwoSixteen)
    return widened(Wide::F32, (element % 2 ? b : a)(element / 2, lane));
  bool two_registers =
      conversion.wide == Wide::F32 && conversion.group == Group::Pair && !conversion.stochastic;
  if (two_registers)
    return widened(Wide::F32, (element ? b : a)(0, lane));
  return widened(conversion.wide, wide_element(conversion, a, element, lane));
}

unsigned element_count(Group group) { return group == Group::One ? 1 : group == Group::Pair ? 2 : 32; }

void to_small(Wave &wave, const Instruction &instruction) {
  const Conversion &conversion = conversions[instruction.operation->detail];
  bool two_sources = (conversion.wide == Wide::F32 && conversion.group == Group::Pair) ||
                     conversion.group == Group::TwoSixteen || conversion.stochastic;
  Words a(wave, instruction, 0), b(wave, instruction, 1), scale(wave, instruction, two_sources ? 2 : 1);
  unsigned width = conversion.small.bits(), count = element_count(conversion.group);
  const bool saturate = wave.mode & Wave::half_overflow;
  std::array<Lanes, 6> results;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    double factor = 1.0 / e8m0_value(exponent_field(scale(0, lane)));
    uint32_t seed = b(0, lane);
    SmallResult result;
    for (unsigned k = 0; k < count; ++k) {
      double value = element_value(conversion, a, b, k, lane);
      // A NaN scale keeps the sign of the element.
      double scaled = std::copysign(value * factor, value);
      uint32_t code = conversion.stochastic
                          ? float_to_small_stochastic(conversion.small, scaled, saturate, seed)
                          : float_to_small(conversion.small, scaled, saturate);
      result.put(k * width, width, code);
      seed = next_random(seed);
    }
    for (unsigned k = 0; k < 6; ++k)
      results[k].word[lane] = result.words[k];
  }
  unsigned words = count == 32 ? 6 : 1;
  if (words == 1) {
    // A part of the destination register, chosen by op_sel: bytes for fp4 and single elements, else a half.
    bool half = width == 8 && count == 2;
    unsigned shift = half ? (instruction.op_sel & 8 ? 16 : 0) : 8 * (instruction.op_sel >> 2 & 3);
    uint32_t part = (half ? 0xFFFFu : 0xFFu) << shift;
    const uint32_t *old = wave.vgpr[instruction.destination].word;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      results[0].word[lane] = (old[lane] & ~part) | results[0].word[lane] << shift;
  }
  for (unsigned k = 0; k < words; ++k) {
    uint32_t *to = wave.vgpr[instruction.destination + k].word;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (wave.exec_mask.word[lane])
        to[lane] = results[k].word[lane];
  }
}

uint32_t small_code(const Words &words, unsigned lane, unsigned bit, unsigned width) {
  uint64_t both = words(bit / 32, lane);
  if (bit % 32 + width > 32)
    both |= uint64_t{words(bit / 32 + 1, lane)} << 32;
  return static_cast<uint32_t>(both >> bit % 32) & ((1u << width) - 1);
}

void to_wide(Wave &wave, const Instruction &instruction) {
  const Conversion &conversion = conversions[instruction.operation->detail];
  Words a(wave, instruction, 0), scale(wave, instruction, 1);
  unsigned width = conversion.small.bits(), count = element_count(conversion.group);
  unsigned first_bit = 0;
  if (count == 2 && width == 8)
    first_bit = instruction.op_sel & 1 ? 16 : 0;
  else if (count <= 2)
    first_bit = 8 * (instruction.op_sel & 3);
  bool halves = conversion.wide != Wide::F32;
  unsigned words = halves ? (count + 1) / 2 : count;
  std::array<Lanes, 32> results;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    double factor = e8m0_value(exponent_field(scale(0, lane)));
    for (unsigned k = 0; k < words; ++k)
      results[k].word[lane] = 0;
    for (unsigned k = 0; k < count; ++k) {
      double value = small_to_float(conversion.small, small_code(a, lane, first_bit + k * width, width));
      uint32_t bits = narrowed(conversion.wide, value * factor);
      if (halves)
        results[k / 2].word[lane] |= bits << 16 * (k % 2);
      else
        results[k].word[lane] = bits;
    }
    if (count == 1 && halves) { // op_sel bit 3 picks the half, the other one stays
      uint32_t old = wave.vgpr[instruction.destination].word[lane], bits = results[0].word[lane];
      results[0].word[lane] =
          instruction.op_sel & 8 ? (old & 0xFFFF) | bits << 16 : (old & 0xFFFF0000) | bits;
    }
  }
  for (unsigned k = 0; k < words; ++k) {
    uint32_t *to = wave.vgpr[instruction.destination + k].word;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (wave.exec_mask.word[lane])
        to[lane] = results[k].word[lane];
  }
}

bool reads_two_values(const Conversion &conversion) {
  return conversion.to_small && conversion.wide == Wide::F32 && !conversion.stochastic &&
         (conversion.group == Group::Pair || conversion.group == Group::TwoSixteen);
}

/// Few values have a half or a byte of a register on their small side, which op_sel names.
Taint taint_of(const Conversion &conversion) {
  Taint taint;
  taint.applies_scale = !conversion.to_small;
  if (conversion.group == Group::ThirtyTwo || conversion.group == Group::TwoSixteen)
    return taint;
  const bool two_bytes = conversion.group == Group::Pair && conversion.small.bits() == 8;
  const RegisterPart small = two_bytes ? RegisterPart::SelectedHalf : RegisterPart::SelectedByte;
  (conversion.to_small ? taint.result_part : taint.source_part) = small;
  if (!conversion.to_small && conversion.group == Group::One && conversion.wide == Wide::F16)
    taint.result_part = RegisterPart::SelectedHalf;
  return taint;
}

HazardClass hazard_of(const Conversion &conversion) {
  if (!conversion.to_small || conversion.small.bits() == 6)
    return HazardClass::None;
  return conversion.stochastic && conversion.group == Group::Pair ? HazardClass::MovedResult
                                                                  : HazardClass::SelectedByteResult;
}

Handler handler_of(const Conversion &conversion) {
  if (!conversion.to_small)
    return to_wide;
  return conversion.small.bits() == 4 && !conversion.stochastic ? pair_to_fp4(conversion.wide) : to_small;
}

} // namespace

std::vector<Operation> vector_scaled_convert_operations() {
  constexpr OperandType none = OperandType::None, word = OperandType::Bits32, value = OperandType::Float32;
  std::vector<Operation> rows;
  for (size_t k = 0; k < std::size(conversions); ++k) {
    const Conversion &conversion = conversions[k];
    const OperandType first = conversion.to_small && conversion.wide == Wide::F32 ? value : word;
    const OperandType second = conversion.stochastic ? word : value;
    const OperandType third = conversion.stochastic || reads_two_values(conversion) ? value : none;
    rows.push_back(custom_operation(
        std::string("v_cvt_scalef32_") + conversion.name, Category::Valu, handler_of(conversion), word, first,
        second, third,
        {.traits = Operation::IgnoresMode, .taint = taint_of(conversion), .hazard = hazard_of(conversion)}));
    rows.back().detail = static_cast<uint32_t>(k);
  }
  return rows;
}

} // namespace nereid::sim
