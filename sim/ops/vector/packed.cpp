// VOP3P: two 16-bit operations at once, mixed precision multiply-add, dot products.

#include <algorithm>
#include <cmath>

#include "sim/decode/operations.h"
#include "sim/ops/vector/float_math.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

using PI = PackedInt;
using PU = PackedUint;
using PH = PackedHalf;

template <class T> T saturate(int64_t value) {
  return static_cast<T>(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Applies a function of halves to both.
template <auto F, class P, class... Rest> P both(P a, Rest... rest) {
  using T = decltype(a.low);
  return {static_cast<T>(F(a.low, rest.low...)), static_cast<T>(F(a.high, rest.high...))};
}

void rows_integer(std::vector<Operation> &rows) {
  using i16 = int16_t;
  using u16 = uint16_t;
  rows.insert(
      rows.end(),
      {
          saturating_operation<[](PU a, PU b) { return both<[](u16 x, u16 y) { return x + y; }>(a, b); },
                               [](PU a, PU b) {
                                 return both<[](u16 x, u16 y) { return saturate<u16>(x + y); }>(a, b);
                               }>("v_pk_add_u16"),
          saturating_operation<[](PU a, PU b) { return both<[](u16 x, u16 y) { return x - y; }>(a, b); },
                               [](PU a, PU b) {
                                 return both<[](u16 x, u16 y) { return saturate<u16>(x - y); }>(a, b);
                               }>("v_pk_sub_u16"),
          saturating_operation<[](PI a, PI b) { return both<[](i16 x, i16 y) { return x + y; }>(a, b); },
                               [](PI a, PI b) {
                                 return both<[](i16 x, i16 y) { return saturate<i16>(x + y); }>(a, b);
                               }>("v_pk_add_i16"),
          saturating_operation<[](PI a, PI b) { return both<[](i16 x, i16 y) { return x - y; }>(a, b); },
                               [](PI a, PI b) {
                                 return both<[](i16 x, i16 y) { return saturate<i16>(x - y); }>(a, b);
                               }>("v_pk_sub_i16"),
          saturating_operation<[](PU a, PU b) {
            return both<[](u16 x, u16 y) { return uint32_t{x} * y; }>(a, b);
          },
                               [](PU a, PU b) {
                                 return both<[](u16 x, u16 y) { return saturate<u16>(int64_t{x} * y); }>(a,
                                                                                                         b);
                               }>("v_pk_mul_lo_u16"),
          vector_operation<[](PU a, PU b) { return both<[](u16 x, u16 y) { return y << (x & 15); }>(a, b); }>(
              "v_pk_lshlrev_b16", {.taint = taint::move_by({0}, 0x000F000F)}),
          vector_operation<[](PU a, PU b) {
            return both<[](u16 x, u16 y) { return (y >> (x & 15)); }>(a, b);
          }>("v_pk_lshrrev_b16", {.taint = taint::move_by({0}, 0x000F000F)}),
          vector_operation<[](PI a, PI b) {
            return both<[](i16 x, i16 y) { return (y >> (x & 15)); }>(a, b);
          }>("v_pk_ashrrev_i16", {.taint = taint::move_by({0}, 0x000F000F)}),
          vector_operation<[](PI a, PI b) {
            return both<[](i16 x, i16 y) { return std::min(x, y); }>(a, b);
          }>("v_pk_min_i16"),
          vector_operation<[](PI a, PI b) {
            return both<[](i16 x, i16 y) { return std::max(x, y); }>(a, b);
          }>("v_pk_max_i16"),
          vector_operation<[](PU a, PU b) {
            return both<[](u16 x, u16 y) { return std::min(x, y); }>(a, b);
          }>("v_pk_min_u16"),
          vector_operation<[](PU a, PU b) {
            return both<[](u16 x, u16 y) { return std::max(x, y); }>(a, b);
          }>("v_pk_max_u16"),
          saturating_operation<[](PU a, PU b, PU c) {
            return both<[](u16 x, u16 y, u16 z) { return uint32_t{x} * y + z; }>(a, b, c);
          },
                               [](PU a, PU b, PU c) {
                                 return both<[](u16 x, u16 y, u16 z) {
                                   return saturate<u16>(int64_t{x} * y + z);
                                 }>(a, b, c);
                               }>("v_pk_mad_u16"),
          saturating_operation<
              [](PI a, PI b, PI c) { return both<[](i16 x, i16 y, i16 z) { return x * y + z; }>(a, b, c); },
              [](PI a, PI b, PI c) {
                return both<[](i16 x, i16 y, i16 z) { return saturate<i16>(int64_t{x} * y + z); }>(a, b, c);
              }>("v_pk_mad_i16"),
      });
}

void rows_half(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          vector_operation<[](PH a, PH b) { return PH{a.low + b.low, a.high + b.high}; }>("v_pk_add_f16"),
          vector_operation<[](PH a, PH b) { return PH{a.low * b.low, a.high * b.high}; }>("v_pk_mul_f16"),
          ieee_operation<[](PH a, PH b) { return both<quiet_min<float>>(a, b); },
                         [](PH a, PH b) { return both<quiet_min<float, false>>(a, b); }>("v_pk_min_f16"),
          ieee_operation<[](PH a, PH b) { return both<quiet_max<float>>(a, b); },
                         [](PH a, PH b) { return both<quiet_max<float, false>>(a, b); }>("v_pk_max_f16"),
          vector_operation<[](PH a, PH b, PH c) { return both<fused_halves>(a, b, c); }>("v_pk_fma_f16"),
          vector_operation<[](PH a, PH b, PH c) { return both<fused_halves>(a, b, c); }>(
              "v_pk_fmac_f16", {.traits = Operation::Accumulates}),
          vector_operation<[](PH a, PH b, PH c) {
            return both<propagating_min<float>>(both<propagating_min<float>>(a, b), c);
          }>("v_pk_minimum3_f16"),
          vector_operation<[](PH a, PH b, PH c) {
            return both<propagating_max<float>>(both<propagating_max<float>>(a, b), c);
          }>("v_pk_maximum3_f16"),
      });
}

/// v_fma_mix: op_sel_hi says that a source is f16, op_sel which half; neg_lo negates, neg_hi takes the
/// magnitude.
float mixed_source(const Instruction &instruction, unsigned k, uint32_t word) {
  float value = std::bit_cast<float>(word);
  if (instruction.op_sel_hi >> k & 1)
    value = half_to_float((instruction.op_sel >> k & 1) ? word >> 16 : word & 0xFFFF);
  if (instruction.neg_hi >> k & 1)
    value = std::fabs(value);
  return instruction.neg_lo >> k & 1 ? -value : value;
}

enum class MixResult { Single, LowHalf, HighHalf };

template <MixResult R> void mixed_fma(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  const uint32_t *operand[3];
  for (unsigned k = 0; k < 3; ++k)
    operand[k] = fetch(wave, instruction, instruction.source[k], buffers[k]).low;
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    float value = std::fma(mixed_source(instruction, 0, operand[0][lane]),
                           mixed_source(instruction, 1, operand[1][lane]),
                           mixed_source(instruction, 2, operand[2][lane]));
    if (instruction.clamp)
      value = value > 0 ? std::min(value, 1.0f) : 0.0f;
    uint32_t old = wave.vgpr[instruction.destination].word[lane];
    if constexpr (R == MixResult::Single)
      result.word[lane] = std::bit_cast<uint32_t>(value);
    else if constexpr (R == MixResult::LowHalf)
      result.word[lane] = (old & 0xFFFF0000) | float_to_half(value);
    else
      result.word[lane] = (old & 0xFFFF) | float_to_half(value) << 16;
  }
  // The clamp is done; the result is stored as bits.
  store_result(wave, instruction, OperandType::Bits32, result, result);
}

Operation mix(std::string name, Handler handler, RegisterPart result = RegisterPart::Whole) {
  constexpr OperandType type = OperandType::Bits32;
  return custom_operation(std::move(name), Category::Valu, handler, type, type, type, type,
                          {.taint = taint::to_part(result)});
}

float dot_bfloat(uint32_t a, uint32_t b, float c) {
  c += bfloat_to_float(a & 0xFFFF) * bfloat_to_float(b & 0xFFFF);
  return c + bfloat_to_float(a >> 16) * bfloat_to_float(b >> 16);
}
float dot_half(uint32_t a, uint32_t b, float c) {
  c += half_to_float(a & 0xFFFF) * half_to_float(b & 0xFFFF);
  return c + half_to_float(a >> 16) * half_to_float(b >> 16);
}
/// The three-operand form of bf16 sums the products first.
float dot_bfloat_first(uint32_t a, uint32_t b, float c) {
  return bfloat_to_float(a & 0xFFFF) * bfloat_to_float(b & 0xFFFF) +
         bfloat_to_float(a >> 16) * bfloat_to_float(b >> 16) + c;
}
float dot_halves(PH a, PH b, float c) { return c + a.low * b.low + a.high * b.high; }

template <unsigned Bits, bool Signed> int64_t dot_fields(uint32_t a, uint32_t b) {
  int64_t sum = 0;
  for (unsigned at = 0; at < 32; at += Bits) {
    int64_t x = a >> at & ((1u << Bits) - 1), y = b >> at & ((1u << Bits) - 1);
    if (Signed) {
      x -= x >> (Bits - 1) << Bits;
      y -= y >> (Bits - 1) << Bits;
    }
    sum += x * y;
  }
  return sum;
}
template <unsigned Bits, bool Signed> uint32_t dot(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>(dot_fields<Bits, Signed>(a, b)) + c;
}
template <unsigned Bits> int32_t dot_signed_clamped(uint32_t a, uint32_t b, int32_t c) {
  return saturate<int32_t>(dot_fields<Bits, true>(a, b) + c);
}
template <unsigned Bits> uint32_t dot_unsigned_clamped(uint32_t a, uint32_t b, uint32_t c) {
  return saturate<uint32_t>(dot_fields<Bits, false>(a, b) + c);
}

void rows_dot(std::vector<Operation> &rows) {
  constexpr RowFacts dot_product{.hazard = HazardClass::DotProduct};
  constexpr RowFacts accumulating{.traits = Operation::Accumulates, .hazard = HazardClass::DotProduct};
  rows.insert(
      rows.end(),
      {
          vector_operation<dot_bfloat_first>("v_dot2_f32_bf16", dot_product),
          vector_operation<dot_halves>("v_dot2_f32_f16", dot_product),
          vector_operation<dot_bfloat>("v_dot2c_f32_bf16", accumulating),
          vector_operation<dot_half>("v_dot2c_f32_f16", accumulating),
          saturating_operation<dot<16, true>, dot_signed_clamped<16>>("v_dot2_i32_i16", dot_product),
          saturating_operation<dot<16, false>, dot_unsigned_clamped<16>>("v_dot2_u32_u16", dot_product),
          saturating_operation<dot<8, true>, dot_signed_clamped<8>>("v_dot4_i32_i8", dot_product),
          saturating_operation<dot<8, false>, dot_unsigned_clamped<8>>("v_dot4_u32_u8", dot_product),
          saturating_operation<dot<4, true>, dot_signed_clamped<4>>("v_dot8_i32_i4", dot_product),
          saturating_operation<dot<4, false>, dot_unsigned_clamped<4>>("v_dot8_u32_u4", dot_product),
          saturating_operation<dot<16, true>, dot_signed_clamped<16>>("v_dot2c_i32_i16", accumulating),
          saturating_operation<dot<8, true>, dot_signed_clamped<8>>("v_dot4c_i32_i8", accumulating),
          saturating_operation<dot<4, true>, dot_signed_clamped<4>>("v_dot8c_i32_i4", accumulating),
      });
}

} // namespace

std::vector<Operation> vector_packed_operations() {
  std::vector<Operation> rows;
  rows_integer(rows);
  rows_half(rows);
  rows.push_back(mix("v_fma_mix_f32", mixed_fma<MixResult::Single>));
  rows.push_back(mix("v_fma_mixlo_f16", mixed_fma<MixResult::LowHalf>, RegisterPart::LowHalf));
  rows.push_back(mix("v_fma_mixhi_f16", mixed_fma<MixResult::HighHalf>, RegisterPart::HighHalf));
  rows_dot(rows);
  return rows;
}

} // namespace nereid::sim
