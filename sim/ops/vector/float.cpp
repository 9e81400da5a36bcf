// VOP1, VOP2, VOP3: f32 arithmetic.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sim/decode/operations.h"
#include "sim/ops/vector/float_math.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

constexpr RowFacts on_transcendental_unit{.hazard = HazardClass::Transcendental};
constexpr RowFacts packed_f32{.hazard = HazardClass::PackedF32};

float legacy_multiply(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }

/// The transcendental unit reads and writes no f32 denormals.
float transcendental(float argument, double (*function)(double)) {
  return flush_denormal(static_cast<float>(function(flush_denormal(argument))));
}

double base_2_exponential(double value) { return std::exp2(value); }
double base_2_logarithm(double value) { return std::log2(value); }

float reciprocal(float value) { return flush_denormal(1.0f / flush_denormal(value)); }
float reciprocal_root(float value) {
  return flush_denormal(static_cast<float>(1.0 / std::sqrt(static_cast<double>(flush_denormal(value)))));
}
float square_root(float value) { return std::sqrt(flush_denormal(value)); }

/// The fraction stays below 1 also for tiny negative values.
float fraction(float value) { return std::min(value - std::floor(value), 0x1.fffffep-1f); }

WithMask<float> div_scale(float value, float denominator, float numerator) {
  return scale_for_division<float, 96, 64, 23>(value, denominator, numerator);
}

/// The last step of a division: fused, then scaled back where div_scale set VCC. It moved the quotient by
/// 2^64 in either direction; the magnitude of the third operand, which is the quotient, tells which.
void div_fmas(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  Operand operand[3];
  for (unsigned k = 0; k < 3; ++k)
    operand[k] = fetch(wave, instruction, instruction.source[k], buffers[k]);
  uint64_t scaled = wave.scalar_pair(scalar::vcc);
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    float a = std::bit_cast<float>(operand[0].low[lane]), b = std::bit_cast<float>(operand[1].low[lane]),
          c = std::bit_cast<float>(operand[2].low[lane]);
    float quotient = std::fma(a, b, c);
    if (scaled >> lane & 1) {
      double exact = std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
      quotient = static_cast<float>(std::ldexp(exact, std::fabs(c) >= 2.0f ? 64 : -64));
    }
    result.word[lane] = std::bit_cast<uint32_t>(quotient);
  }
  store_result(wave, instruction, OperandType::Float32, result, result);
}

float div_fixup(float quotient, float denominator, float numerator) {
  return fix_division<float, -150>(quotient, denominator, numerator);
}

float frexp_mantissa(float value) {
  int exponent;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
int32_t frexp_exponent(float value) {
  int exponent = 0;
  if (std::isfinite(value) && value != 0)
    std::frexp(value, &exponent);
  return exponent;
}
float scale_by_power(float value, int32_t exponent) {
  return std::ldexp(value, std::clamp<int32_t>(exponent, -10000, 10000));
}

using FusedLanes = void (*)(const uint32_t *, const uint32_t *, const uint32_t *, uint32_t *);

__attribute__((target("avx2,fma"))) void fused_lanes_avx2(const uint32_t *a, const uint32_t *b,
                                                          const uint32_t *c, uint32_t *out) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < lane_count; ++lane)
    out[lane] = std::bit_cast<uint32_t>(__builtin_fmaf(
        std::bit_cast<float>(a[lane]), std::bit_cast<float>(b[lane]), std::bit_cast<float>(c[lane])));
}
void fused_lanes_portable(const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *out) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    out[lane] = std::bit_cast<uint32_t>(std::fma(std::bit_cast<float>(a[lane]), std::bit_cast<float>(b[lane]),
                                                 std::bit_cast<float>(c[lane])));
}

const FusedLanes fused_lanes =
    __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? fused_lanes_avx2 : fused_lanes_portable;

void fused_multiply_add(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  const uint32_t *operand[3];
  for (unsigned k = 0; k < 3; ++k)
    operand[k] = fetch(wave, instruction, instruction.source[k], buffers[k]).low;
  Lanes result;
  fused_lanes(operand[0], operand[1], operand[2], result.word);
  store_result(wave, instruction, OperandType::Float32, result, result);
}

void packed_fused_multiply_add(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  Operand operand[3];
  for (unsigned k = 0; k < 3; ++k)
    operand[k] = fetch(wave, instruction, instruction.source[k], buffers[k]);
  Lanes low, high;
  fused_lanes(operand[0].low, operand[1].low, operand[2].low, low.word);
  fused_lanes(operand[0].high, operand[1].high, operand[2].high, high.word);
  store_result(wave, instruction, OperandType::PackedFloat32, low, high);
}

Operation fused(std::string name, uint32_t traits = 0) {
  constexpr OperandType type = OperandType::Float32;
  return custom_operation(std::move(name), Category::Valu, fused_multiply_add, type, type, type, type,
                          {.traits = traits});
}

void rows_two(std::vector<Operation> &rows) {
  rows.insert(rows.end(), {
                              vector_operation<[](float a, float b) { return a + b; }>("v_add_f32"),
                              vector_operation<[](float a, float b) { return a - b; }>("v_sub_f32"),
                              vector_operation<[](float a, float b) { return b - a; }>("v_subrev_f32"),
                              vector_operation<[](float a, float b) { return a * b; }>("v_mul_f32"),
                              vector_operation<legacy_multiply>("v_mul_legacy_f32"),
                              ieee_operation<quiet_min<float>, quiet_min<float, false>>("v_min_f32"),
                              ieee_operation<quiet_max<float>, quiet_max<float, false>>("v_max_f32"),
                              vector_operation<scale_by_power>("v_ldexp_f32"),
                              fused("v_fma_f32"),
                              fused("v_fmac_f32", Operation::Accumulates),
                              fused("v_fmaak_f32", Operation::LiteralLast),
                              fused("v_fmamk_f32", Operation::LiteralMiddle),
                          });
}

void rows_one(std::vector<Operation> &rows) {
  rows.insert(rows.end(), {
                              vector_operation<fraction>("v_fract_f32"),
                              vector_operation<[](float a) { return std::trunc(a); }>("v_trunc_f32"),
                              vector_operation<[](float a) { return std::ceil(a); }>("v_ceil_f32"),
                              vector_operation<[](float a) { return std::floor(a); }>("v_floor_f32"),
                              vector_operation<round_half_even<float>>("v_rndne_f32"),
                              vector_operation<reciprocal>("v_rcp_f32", on_transcendental_unit),
                              vector_operation<reciprocal>("v_rcp_iflag_f32", on_transcendental_unit),
                              vector_operation<reciprocal_root>("v_rsq_f32", on_transcendental_unit),
                              vector_operation<square_root>("v_sqrt_f32", on_transcendental_unit),
                              vector_operation<[](float a) { return transcendental(a, base_2_exponential); }>(
                                  "v_exp_f32", on_transcendental_unit),
                              vector_operation<[](float a) { return transcendental(a, base_2_exponential); }>(
                                  "v_exp_legacy_f32", on_transcendental_unit),
                              vector_operation<[](float a) { return transcendental(a, base_2_logarithm); }>(
                                  "v_log_f32", on_transcendental_unit),
                              vector_operation<[](float a) { return transcendental(a, base_2_logarithm); }>(
                                  "v_log_legacy_f32", on_transcendental_unit),
                              vector_operation<[](float a) { return transcendental(a, sine_of_turns); }>(
                                  "v_sin_f32", on_transcendental_unit),
                              vector_operation<[](float a) { return transcendental(a, cosine_of_turns); }>(
                                  "v_cos_f32", on_transcendental_unit),
                              vector_operation<frexp_mantissa>("v_frexp_mant_f32"),
                              vector_operation<frexp_exponent>("v_frexp_exp_i32_f32"),
                          });
}

template <bool Ieee> float min_of_three(float a, float b, float c) {
  return quiet_min<float, Ieee>(quiet_min<float, Ieee>(a, b), c);
}
template <bool Ieee> float max_of_three(float a, float b, float c) {
  return quiet_max<float, Ieee>(quiet_max<float, Ieee>(a, b), c);
}

void rows_three(std::vector<Operation> &rows) {
  rows.insert(rows.end(), {
                              ieee_operation<min_of_three<true>, min_of_three<false>>("v_min3_f32"),
                              ieee_operation<max_of_three<true>, max_of_three<false>>("v_max3_f32"),
                              ieee_operation<median<float>, median<float, false>>("v_med3_f32"),
                              vector_operation<[](float a, float b, float c) {
                                return propagating_min(propagating_min(a, b), c);
                              }>("v_minimum3_f32"),
                              vector_operation<[](float a, float b, float c) {
                                return propagating_max(propagating_max(a, b), c);
                              }>("v_maximum3_f32"),
                              vector_operation<div_scale>("v_div_scale_f32"),
                              vector_operation<div_fixup>("v_div_fixup_f32"),
                          });
  constexpr OperandType type = OperandType::Float32;
  rows.push_back(custom_operation("v_div_fmas_f32", Category::Valu, div_fmas, type, type, type, type,
                                  {.traits = Operation::ImplicitVcc}));
}

void rows_packed(std::vector<Operation> &rows) {
  rows.push_back(vector_operation<[](PackedFloat a, PackedFloat b) {
    return PackedFloat{a.low + b.low, a.high + b.high};
  }>("v_pk_add_f32", packed_f32));
  rows.push_back(vector_operation<[](PackedFloat a, PackedFloat b) {
    return PackedFloat{a.low * b.low, a.high * b.high};
  }>("v_pk_mul_f32", packed_f32));
  constexpr OperandType type = OperandType::PackedFloat32;
  rows.push_back(custom_operation("v_pk_fma_f32", Category::Valu, packed_fused_multiply_add, type, type, type,
                                  type, packed_f32));
  // The low result takes the half of the first source that its op_sel bit names, the high one that of the
  // second.
  rows.push_back(vector_operation<[](PackedFloat a, PackedFloat b) { return PackedFloat{a.low, b.low}; }>(
      "v_pk_mov_b32", {.traits = Operation::IgnoresMode, .taint = taint::move}));
}

} // namespace

std::vector<Operation> vector_float_operations() {
  std::vector<Operation> rows;
  rows_two(rows);
  rows_one(rows);
  rows_three(rows);
  rows_packed(rows);
  return rows;
}

} // namespace nereid::sim
