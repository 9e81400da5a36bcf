// Reference of a decoder layer's parts between its products.
#include "kernels/host/layer.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/float_environment.h"
#include "kernels/host/formats.h"

namespace nereid::kernels::host {

uint8_t scale_byte(float largest, Rule rule) {
  const uint32_t bits = std::bit_cast<uint32_t>(largest);
  const uint32_t up = rule == Rule::Even ? 0x200000 : 0x3fffff; // from a mantissa of 1.75, or above 1.5
  const uint32_t exponent = (bits + up) >> 23;
  const uint32_t byte = exponent < 2 ? 0 : exponent - 2;
  return static_cast<uint8_t>(rule == Rule::Even && byte >= 253 ? 254 : byte);
}

MxMatrix quantize(std::span<const float> values, int64_t rows, int64_t k, Rule rule) {
  assert(k % group_size == 0 && static_cast<int64_t>(values.size()) == rows * k);
  const FloatEnvironment environment;
  MxMatrix result(rows, k);
  for (int64_t group = 0; group < rows * k / group_size; ++group) {
    const std::span<const float> elements = values.subspan(group * group_size, group_size);
    float largest = 0;
    for (float value : elements)
      largest = std::max(largest, std::fabs(value));
    const uint8_t byte = scale_byte(largest, rule);
    const double scale = e8m0_to_double(byte);
    result.scales[group] = byte;
    for (int64_t i = 0; i < group_size; i += 2)
      result.codes[(group * group_size + i) / 2] = static_cast<uint8_t>(
          e2m1_from_double(elements[i] / scale) | (e2m1_from_double(elements[i + 1] / scale) << 4));
  }
  return result;
}

int64_t wrong_codes(const MxMatrix &quantised, std::span<const float> values, Rule rule, double relative,
                    double absolute) {
  assert(static_cast<int64_t>(values.size()) == quantised.rows * quantised.k);
  const FloatEnvironment environment;
  int64_t wrong = 0;
  for (int64_t group = 0; group < static_cast<int64_t>(quantised.scales.size()); ++group) {
    const std::span<const float> elements = values.subspan(group * group_size, group_size);
    double least = 0, largest = 0;
    for (float value : elements) {
      least = std::max(least, std::fabs(value) * (1 - relative) - absolute);
      largest = std::max(largest, std::fabs(value) * (1 + relative) + absolute);
    }
    const uint8_t byte = quantised.scales[group];
    if (byte < scale_byte(static_cast<float>(least), rule) ||
        byte > scale_byte(static_cast<float>(largest), rule)) {
      wrong += group_size;
      continue;
    }
    const double scale = e8m0_to_double(byte);
    for (int64_t i = 0; i < group_size; ++i) {
      const double value = elements[i], around = std::fabs(value) * relative + absolute;
      const float code = e2m1_to_float(quantised.code(0, group * group_size + i));
      wrong += code < e2m1_to_float(e2m1_from_double((value - around) / scale)) ||
               code > e2m1_to_float(e2m1_from_double((value + around) / scale));
    }
  }
  return wrong;
}

Normed add_rmsnorm(std::span<const float> x, std::span<const uint16_t> residual,
                   std::span<const uint16_t> weight, int64_t k, float epsilon) {
  const FloatEnvironment environment;
  Normed result{std::vector<float>(x.size()), std::vector<uint16_t>(x.size())};
  std::vector<float> r(x.begin(), x.end());
  for (size_t i = 0; i < residual.size(); ++i)
    r[i] += bf16_to_float(residual[i]);
  for (size_t first = 0; first < x.size(); first += k) {
    double squares = 0;
    for (int64_t i = 0; i < k; ++i)
      squares += static_cast<double>(r[first + i]) * r[first + i];
    const bool overflows = squares > std::numeric_limits<float>::max();
    const double factor = overflows ? 0 : 1 / std::sqrt(squares / static_cast<double>(k) + epsilon);
    for (int64_t i = 0; i < k; ++i) {
      result.y[first + i] = static_cast<float>(r[first + i] * factor * bf16_to_float(weight[i]));
      result.sum[first + i] = bf16_from_float(r[first + i]);
    }
  }
  return result;
}

double activate(Gate gate, double g, double u) {
  switch (gate) {
  case Gate::Silu:
    return g / (1 + std::exp(-g)) * u;
  case Gate::Gelu:
    return g * std::erfc(-g / std::sqrt(2.0)) / 2 * u;
  case Gate::Swiglu:
    break;
  }
  g = std::min(g, 7.0);
  return g / (1 + std::exp(-1.702 * g)) * (std::clamp(u, -7.0, 7.0) + 1);
}

std::vector<float> sum_of_slices(std::span<const float> slices, int64_t count) {
  std::vector<float> sum(slices.begin(), slices.begin() + count);
  for (size_t i = static_cast<size_t>(count); i < slices.size(); ++i)
    sum[i % static_cast<size_t>(count)] += slices[i];
  return sum;
}

} // namespace nereid::kernels::host
