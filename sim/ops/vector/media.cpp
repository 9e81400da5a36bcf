// VOP3: sums of absolute differences of bytes and cube map coordinates.

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/decode/operations.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

using u32 = uint32_t;
using u64 = uint64_t;

u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }
u32 byte_of(u32 word, unsigned k) { return word >> 8 * k & 0xFF; }

/// Sums of absolute differences; the masked form leaves out bytes whose reference, the second operand, is 0.
u32 sum_of_bytes(u32 a, u32 b) {
  u32 sum = 0;
  for (unsigned k = 0; k < 4; ++k)
    sum += difference(byte_of(a, k), byte_of(b, k));
  return sum;
}
u32 masked_sum(u32 a, u32 b) {
  u32 sum = 0;
  for (unsigned k = 0; k < 4; ++k)
    if (byte_of(b, k))
      sum += difference(byte_of(a, k), byte_of(b, k));
  return sum;
}
u32 high_sum(u32 a, u32 b) { return sum_of_bytes(a, b) << 16; }
u32 sum_of_halves(u32 a, u32 b) { return difference(a & 0xFFFF, b & 0xFFFF) + difference(a >> 16, b >> 16); }

u32 clamped_sum(u64 value, u64 max) { return static_cast<u32>(std::min(value, max)); }

/// c + F(a, b), wrapping or clamped.
template <auto F> Operation summing(std::string name) {
  return saturating_operation<[](u32 a, u32 b, u32 c) { return F(a, b) + c; },
                              [](u32 a, u32 b, u32 c) { return clamped_sum(u64{F(a, b)} + c, ~u32{0}); }>(
      std::move(name));
}

/// Four sums against the same four reference bytes: of bytes 0..3, 1..4, 2..5 and 3..6 of the first operand,
/// each with a 16-bit addend.
template <auto F, bool Clamp> u64 four_sums(u64 a, u32 b, u64 c) {
  u64 result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    u32 sum = F(static_cast<u32>(a >> 8 * k), b) + static_cast<u32>(c >> 16 * k & 0xFFFF);
    result |= u64{Clamp ? clamped_sum(sum, 0xFFFF) : sum & 0xFFFF} << 16 * k;
  }
  return result;
}

/// Word `word` of a source of several registers, for all lanes.
u32 source_word(const Wave &wave, const Source &source, unsigned word, unsigned lane) {
  if (source.kind == Source::Kind::Vector)
    return wave.vgpr[source.index + word].word[lane];
  if (source.kind == Source::Kind::Scalar)
    return wave.sgpr[(source.index + word) % scalar_registers];
  return word < 2 ? static_cast<u32>(source.value >> 32 * word) : 0;
}

/// The masked sums with 32-bit addends and results.
template <bool Clamp> void four_wide_sums(Wave &wave, const Instruction &instruction) {
  Lanes result[4];
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    u64 a = source_word(wave, instruction.source[0], 0, lane) |
            u64{source_word(wave, instruction.source[0], 1, lane)} << 32;
    u32 reference = source_word(wave, instruction.source[1], 0, lane);
    for (unsigned k = 0; k < 4; ++k) {
      u64 sum = u64{masked_sum(static_cast<u32>(a >> 8 * k), reference)} +
                source_word(wave, instruction.source[2], k, lane);
      result[k].word[lane] = Clamp ? clamped_sum(sum, ~u32{0}) : static_cast<u32>(sum);
    }
  }
  for (unsigned k = 0; k < 4; ++k) {
    u32 *to = wave.vgpr[instruction.destination + k].word;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (wave.exec_mask.word[lane])
        to[lane] = result[k].word[lane];
  }
}

/// The axis of the largest coordinate; z wins ties, then y.
enum class Axis { X, Y, Z };
Axis major_axis(float x, float y, float z) {
  float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? Axis::Z : ay >= ax ? Axis::Y : Axis::X;
}
float major_value(float x, float y, float z) {
  Axis axis = major_axis(x, y, z);
  return axis == Axis::Z ? z : axis == Axis::Y ? y : x;
}

float cube_face(float x, float y, float z) {
  float face = static_cast<float>(major_axis(x, y, z)) * 2;
  return major_value(x, y, z) < 0 ? face + 1 : face;
}
float cube_s(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
  case Axis::Z:
    return z < 0 ? -x : x;
  case Axis::Y:
    return x;
  default:
    return x < 0 ? z : -z;
  }
}
float cube_t(float x, float y, float z) { return major_axis(x, y, z) == Axis::Y ? (y < 0 ? -z : z) : -y; }
float cube_major(float x, float y, float z) { return 2 * major_value(x, y, z); }

} // namespace

std::vector<Operation> vector_media_operations() {
  constexpr OperandType word = OperandType::Bits32, pair = OperandType::Bits64;
  std::vector<Operation> rows = {
      summing<difference>("v_sad_u32"),
      summing<sum_of_bytes>("v_sad_u8"),
      summing<high_sum>("v_sad_hi_u8"),
      summing<sum_of_halves>("v_sad_u16"),
      summing<masked_sum>("v_msad_u8"),
      saturating_operation<four_sums<sum_of_bytes, false>, four_sums<sum_of_bytes, true>>("v_qsad_pk_u16_u8"),
      saturating_operation<four_sums<masked_sum, false>, four_sums<masked_sum, true>>("v_mqsad_pk_u16_u8"),
      custom_operation("v_mqsad_u32_u8", Category::Valu, four_wide_sums<false>, word, pair, word, pair),
      vector_operation<[](u32 a, u32 b, u32 c) {
        u32 result = 0;
        for (unsigned k = 0; k < 4; ++k)
          result |= ((byte_of(a, k) + byte_of(b, k) + (c >> 8 * k & 1)) >> 1) << 8 * k;
        return result;
      }>("v_lerp_u8"),
      vector_operation<cube_face>("v_cubeid_f32"),
      vector_operation<cube_s>("v_cubesc_f32"),
      vector_operation<cube_t>("v_cubetc_f32"),
      vector_operation<cube_major>("v_cubema_f32"),
  };
  for (Operation &row : rows)
    if (row.handler == four_wide_sums<false>)
      row.clamped = four_wide_sums<true>;
  return rows;
}

} // namespace nereid::sim
