// f64 arithmetic.

#include <algorithm>
#include <cmath>

#include "sim/float_math.h"
#include "sim/lanes.h"
#include "sim/operations.h"

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

} // namespace

std::vector<Operation> vector_double_operations() {
  constexpr OperandType type = OperandType::Float64;
  return {
      vector_operation<[](double a, double b) { return a + b; }>("v_add_f64"),
      vector_operation<[](double a, double b) { return a * b; }>("v_mul_f64"),
      vector_operation<quiet_min<double>>("v_min_f64"),
      vector_operation<quiet_max<double>>("v_max_f64"),
      vector_operation<fused>("v_fma_f64"),
      vector_operation<fused>("v_fmac_f64", Operation::Accumulates),
      vector_operation<scale_by_power>("v_ldexp_f64"),
      vector_operation<[](double a) { return 1.0 / a; }>("v_rcp_f64"),
      vector_operation<[](double a) { return std::sqrt(a); }>("v_sqrt_f64"),
      vector_operation<[](double a) { return 1.0 / std::sqrt(a); }>("v_rsq_f64"),
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
      custom_operation("v_div_fmas_f64", Category::Valu, div_fmas, type, type, type, type),
  };
}

} // namespace nereid::sim
