#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/host/quantize.h"

/// The reference of a decoder layer's parts between its products.
namespace nereid::kernels::host {

/// The scale byte of a group whose largest magnitude is finite. Ceil: the smallest byte under which no value
/// exceeds 6.
enum class Rule { Even, Ceil };
uint8_t scale_byte(float largest, Rule rule);

/// MXFP4 of an f32 matrix [rows, k]; k is a multiple of 32, all values are finite.
MxMatrix quantize(std::span<const float> values, int64_t rows, int64_t k, Rule rule);

/// Elements of [rows, k] whose code or scale none of the values in value (1 +- relative) +- absolute has; a
/// group's scale may be any from those of its smallest to those of its largest values.
int64_t wrong_codes(const MxMatrix &quantised, std::span<const float> values, Rule rule, double relative,
                    double absolute = 0);

/// What add + RMSNorm gives: y [rows, k] in f32 and, in bf16, the sum.
struct Normed {
  std::vector<float> y;
  std::vector<uint16_t> sum;
};
/// r = x + residual (where it is not empty), y = r weight[k] / sqrt(mean(r^2) + epsilon); in double
/// precision, r rounded to f32. Where the sum of a row's squares exceeds f32 it is infinite: y = r 0.
Normed add_rmsnorm(std::span<const float> x, std::span<const uint16_t> residual,
                   std::span<const uint16_t> weight, int64_t k, float epsilon);

/// g sigmoid(g) u; g Phi(g) u; g sigmoid(1.702 g) (u + 1) with g at most 7 and u from -7 to 7.
enum class Gate { Silu, Gelu, Swiglu };
double activate(Gate gate, double g, double u);

/// Sums of slices f32 [slices, count], in their order.
std::vector<float> sum_of_slices(std::span<const float> slices, int64_t count);

} // namespace nereid::kernels::host
