// VOP1, VOP2, VOP3: f16 arithmetic. Values are widened, computed and rounded once.

#include <algorithm>
#include <cmath>

#include "sim/decode/operations.h"
#include "sim/ops/vector/float_math.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

constexpr uint32_t preserve = Operation::PreservesHigh;
constexpr uint32_t accumulate = Operation::Accumulates;
constexpr RowFacts transcendental{.hazard = HazardClass::Transcendental};

Half fused_half(Half a, Half b, Half c) { return {fused_halves(a.value, b.value, c.value)}; }
/// The mad forms round the product as well.
Half multiply_then_add(Half a, Half b, Half c) {
  return {half_to_float(float_to_half(a.value * b.value)) + c.value};
}

Half rounded_once(double value) { return {odd_float(value)}; }

template <bool Ieee> Half minimum(Half a, Half b) { return {quiet_min<float, Ieee>(a.value, b.value)}; }
template <bool Ieee> Half maximum(Half a, Half b) { return {quiet_max<float, Ieee>(a.value, b.value)}; }
template <bool Ieee> Half min_of_three(Half a, Half b, Half c) {
  return minimum<Ieee>(minimum<Ieee>(a, b), c);
}
template <bool Ieee> Half max_of_three(Half a, Half b, Half c) {
  return maximum<Ieee>(maximum<Ieee>(a, b), c);
}
template <bool Ieee> Half middle(Half a, Half b, Half c) {
  return {median<float, Ieee>(a.value, b.value, c.value)};
}

Half ldexp_half(Half value, int16_t exponent) { return {std::ldexp(value.value, exponent)}; }

Half frexp_mantissa(Half value) {
  int exponent;
  return {std::isfinite(value.value) ? std::frexp(value.value, &exponent) : value.value};
}
int16_t frexp_exponent(Half value) {
  int exponent = 0;
  if (std::isfinite(value.value) && value.value != 0)
    std::frexp(value.value, &exponent);
  return static_cast<int16_t>(exponent);
}

Half div_fixup(Half quotient, Half denominator, Half numerator) {
  return {fix_division<float, -1000>(quotient.value, denominator.value, numerator.value)};
}

void rows_two(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          vector_operation<[](Half a, Half b) { return Half{a.value + b.value}; }>("v_add_f16"),
          vector_operation<[](Half a, Half b) { return Half{a.value - b.value}; }>("v_sub_f16"),
          vector_operation<[](Half a, Half b) { return Half{b.value - a.value}; }>("v_subrev_f16"),
          vector_operation<[](Half a, Half b) { return Half{a.value * b.value}; }>("v_mul_f16"),
          ieee_operation<minimum<true>, minimum<false>>("v_min_f16"),
          ieee_operation<maximum<true>, maximum<false>>("v_max_f16"),
          vector_operation<ldexp_half>("v_ldexp_f16"),
          vector_operation<fused_half>("v_fma_f16", {.traits = preserve}),
          vector_operation<fused_half>("v_fma_legacy_f16"),
          vector_operation<multiply_then_add>("v_mad_f16", {.traits = preserve}),
          vector_operation<multiply_then_add>("v_mad_legacy_f16"),
          vector_operation<multiply_then_add>("v_mac_f16", {.traits = preserve | accumulate}),
          vector_operation<multiply_then_add>("v_madak_f16", {.traits = preserve | Operation::LiteralLast}),
          vector_operation<multiply_then_add>("v_madmk_f16", {.traits = preserve | Operation::LiteralMiddle}),
      });
}

void rows_one(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          vector_operation<[](Half a) { return rounded_once(1.0 / a.value); }>("v_rcp_f16", transcendental),
          vector_operation<[](Half a) { return rounded_once(std::sqrt(double{a.value})); }>("v_sqrt_f16",
                                                                                            transcendental),
          vector_operation<[](Half a) { return rounded_once(1.0 / std::sqrt(double{a.value})); }>(
              "v_rsq_f16", transcendental),
          vector_operation<[](Half a) { return rounded_once(std::exp2(double{a.value})); }>("v_exp_f16",
                                                                                            transcendental),
          vector_operation<[](Half a) { return rounded_once(std::log2(double{a.value})); }>("v_log_f16",
                                                                                            transcendental),
          vector_operation<[](Half a) { return rounded_once(sine_of_turns(a.value)); }>("v_sin_f16",
                                                                                        transcendental),
          vector_operation<[](Half a) { return rounded_once(cosine_of_turns(a.value)); }>("v_cos_f16",
                                                                                          transcendental),
          vector_operation<[](Half a) { return Half{std::floor(a.value)}; }>("v_floor_f16"),
          vector_operation<[](Half a) { return Half{std::ceil(a.value)}; }>("v_ceil_f16"),
          vector_operation<[](Half a) { return Half{std::trunc(a.value)}; }>("v_trunc_f16"),
          vector_operation<[](Half a) { return Half{round_half_even(a.value)}; }>("v_rndne_f16"),
          vector_operation<[](Half a) { return Half{std::min(a.value - std::floor(a.value), 0x1.ffcp-1f)}; }>(
              "v_fract_f16"),
          vector_operation<frexp_mantissa>("v_frexp_mant_f16"),
          vector_operation<frexp_exponent>("v_frexp_exp_i16_f16"),
      });
}

void rows_three(std::vector<Operation> &rows) {
  rows.insert(rows.end(),
              {
                  ieee_operation<min_of_three<true>, min_of_three<false>>("v_min3_f16", {.traits = preserve}),
                  ieee_operation<max_of_three<true>, max_of_three<false>>("v_max3_f16", {.traits = preserve}),
                  ieee_operation<middle<true>, middle<false>>("v_med3_f16", {.traits = preserve}),
                  vector_operation<div_fixup>("v_div_fixup_f16", {.traits = preserve}),
                  vector_operation<div_fixup>("v_div_fixup_legacy_f16"),
              });
}

} // namespace

std::vector<Operation> vector_half_operations() {
  std::vector<Operation> rows;
  rows_two(rows);
  rows_one(rows);
  rows_three(rows);
  return rows;
}

} // namespace nereid::sim
