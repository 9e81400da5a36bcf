// f64 arithmetic.

#include <algorithm>
#include <cmath>

#include "sim/decode/operations.h"
#include "sim/ops/vector/float_math.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

double fused(double a, double b, double c) { return std::fma(a, b, c); }

WithMask<double> div_scale(double value, double denominator, double numerator) {
  return scale_for_division<double, 768, 128, 53>(value, denominator, numerator);
}

/// As v_div_fmas_f32, with steps of 2^128.
void div_fmas(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  Operand operand[3];
  for (unsigned k = 0; k < 3; ++k)
    operand[k] = fetch(wave, instruction, instruction.source[k], buffers[k]);
  uint64_t scaled = wave.scalar_pair(scalar::vcc);
  Lanes low, high;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    auto value = [&](unsigned k) {
      return std::bit_cast<double>(operand[k].low[lane] | uint64_t{operand[k].high[lane]} << 32);
    };
    double quotient = std::fma(value(0), value(1), value(2));
    if (scaled >> lane & 1) {
      // The wider host type keeps the bits that a denormal quotient loses to a single rounding.
      long double exact = std::fma(static_cast<long double>(value(0)), static_cast<long double>(value(1)),
                                   static_cast<long double>(value(2)));
      quotient = static_cast<double>(std::ldexp(exact, std::fabs(value(2)) >= 2.0 ? 128 : -128));
    }
    uint64_t bits = std::bit_cast<uint64_t>(quotient);
    low.word[lane] = static_cast<uint32_t>(bits);
    high.word[lane] = static_cast<uint32_t>(bits >> 32);
  }
  store_result(wave, instruction, OperandType::Float64, low, high);
}

double div_fixup(double quotient, double denominator, double numerator) {
  return fix_division<double, -1075>(quotient, denominator, numerator);
}

double scale_by_power(double value, int32_t exponent) {
  return std::ldexp(value, std::clamp<int32_t>(exponent, -10000, 10000));
}
double frexp_mantissa(double value) {
  int exponent;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
int32_t frexp_exponent(double value) {
  int exponent = 0;
  if (std::isfinite(value) && value != 0)
    std::frexp(value, &exponent);
  return exponent;
}

/// The first 1201 bits of 2 / pi, the highest first.
constexpr uint64_t two_over_pi[] = {
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B0000};

/// v_trig_preop_f64: 53 bits of 2 / pi for the reduction of a large angle: those of a segment, further on the
/// larger the angle is, at their place below the point.
double segment_of_two_over_pi(double angle, uint32_t segment) {
  constexpr unsigned kept = 53;
  const unsigned exponent = static_cast<unsigned>(biased_exponent(angle));
  unsigned shift = (segment & 31) * kept;
  if (exponent > 1077)
    shift += exponent - 1077;
  const unsigned index = shift / 64, within = shift % 64;
  const auto word = [](unsigned k) { return k < std::size(two_over_pi) ? two_over_pi[k] : 0; };
  const uint64_t bits = within ? word(index) << within | word(index + 1) >> (64 - within) : word(index);
  // An angle near the largest double takes the result out of the range of products with it.
  const int scale = -static_cast<int>(kept + shift) + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(static_cast<double>(bits >> (64 - kept)), scale);
}

} // namespace

std::vector<Operation> vector_double_operations() {
  constexpr OperandType type = OperandType::Float64;
  return {
      vector_operation<[](double a, double b) { return a + b; }>("v_add_f64"),
      vector_operation<[](double a, double b) { return a * b; }>("v_mul_f64"),
      ieee_operation<quiet_min<double>, quiet_min<double, false>>("v_min_f64"),
      ieee_operation<quiet_max<double>, quiet_max<double, false>>("v_max_f64"),
      vector_operation<fused>("v_fma_f64", {.hazard = HazardClass::F64Fma}),
      vector_operation<fused>("v_fmac_f64",
                              {.traits = Operation::Accumulates, .hazard = HazardClass::F64Fma}),
      vector_operation<scale_by_power>("v_ldexp_f64"),
      vector_operation<segment_of_two_over_pi>("v_trig_preop_f64"),
      vector_operation<[](double a) { return 1.0 / a; }>("v_rcp_f64",
                                                         {.hazard = HazardClass::Transcendental}),
      vector_operation<[](double a) { return std::sqrt(a); }>("v_sqrt_f64",
                                                              {.hazard = HazardClass::Transcendental}),
      // In the wider host type: two roundings to double are more than one ulp.
      vector_operation<[](double a) {
        return static_cast<double>(1.0L / std::sqrt(static_cast<long double>(a)));
      }>("v_rsq_f64", {.hazard = HazardClass::Transcendental}),
      vector_operation<[](double a) { return std::trunc(a); }>("v_trunc_f64"),
      vector_operation<[](double a) { return std::ceil(a); }>("v_ceil_f64"),
      vector_operation<[](double a) { return std::floor(a); }>("v_floor_f64"),
      vector_operation<round_half_even<double>>("v_rndne_f64"),
      vector_operation<[](double a) { return std::min(a - std::floor(a), 0x1.fffffffffffffp-1); }>(
          "v_fract_f64"),
      vector_operation<frexp_mantissa>("v_frexp_mant_f64"),
      vector_operation<frexp_exponent>("v_frexp_exp_i32_f64"),
      vector_operation<div_scale>("v_div_scale_f64"),
      vector_operation<div_fixup>("v_div_fixup_f64"),
      custom_operation("v_div_fmas_f64", Category::Valu, div_fmas, type, type, type, type,
                       {.traits = Operation::ImplicitVcc}),
  };
}

} // namespace nereid::sim
