#include "tests/sim/mx_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

namespace nereid::sim::test {

namespace {

/// Twice the values of the codes 0 to 7.
constexpr int doubled[8] = {0, 1, 2, 3, 4, 6, 8, 12};

uint8_t code_of(float x) {
  const float twice = 2 * std::fabs(x);
  uint8_t best = 0;
  for (uint8_t code = 1; code < 8; ++code) {
    const float before = std::fabs(twice - static_cast<float>(doubled[best])),
                now = std::fabs(twice - static_cast<float>(doubled[code]));
    if (now < before || (now == before && code % 2 == 0))
      best = code;
  }
  return static_cast<uint8_t>(best | (std::signbit(x) ? 8 : 0));
}

} // namespace

uint16_t bf16_of(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float of_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

MxMatrix quantised(const std::vector<uint16_t> &values, size_t rows, size_t columns) {
  MxMatrix result(rows, columns);
  for (size_t group = 0; group < result.scales.size(); ++group) {
    float largest = 0;
    for (size_t i = 0; i < 32; ++i)
      largest = std::max(largest, std::fabs(of_bf16(values[32 * group + i])));
    const int exponent = static_cast<int>((std::bit_cast<uint32_t>(largest) + 0x200000) >> 23);
    const int scale = std::max(exponent - 2, 0);
    result.scales[group] = static_cast<uint8_t>(scale);
    for (size_t i = 0; i < 32; ++i)
      result.codes[32 * group + i] = code_of(std::ldexp(of_bf16(values[32 * group + i]), 127 - scale));
  }
  return result;
}

std::vector<uint16_t> mx_product(const MxMatrix &a, const MxMatrix &b) {
  auto numbers = [](const MxMatrix &matrix) {
    std::vector<int8_t> result;
    for (const uint8_t code : matrix.codes)
      result.push_back(static_cast<int8_t>(code & 8 ? -doubled[code & 7] : doubled[code & 7]));
    return result;
  };
  const std::vector<int8_t> x = numbers(a), y = numbers(b);
  const size_t groups = a.columns / 32;
  // Scales of four successive exponents each: products of sums stay below 2^24 units.
  auto span = [](const MxMatrix &matrix) {
    const auto [low, high] = std::minmax_element(matrix.scales.begin(), matrix.scales.end());
    EXPECT_LE(*high - *low, 3);
    return *low;
  };
  const int low = span(a) + span(b);
  std::vector<uint16_t> result(a.rows * b.rows);
  for (size_t i = 0; i < a.rows; ++i)
    for (size_t j = 0; j < b.rows; ++j) {
      int64_t sum = 0;
      for (size_t group = 0; group < groups; ++group) {
        const int8_t *p = &x[i * a.columns + 32 * group], *q = &y[j * b.columns + 32 * group];
        int part = 0;
        for (int k = 0; k < 32; ++k)
          part += p[k] * q[k];
        sum += int64_t{part} << (a.scales[i * groups + group] + b.scales[j * groups + group] - low);
      }
      EXPECT_LT(std::abs(sum), 1 << 24);
      result[i * b.rows + j] = bf16_of(std::ldexp(static_cast<float>(sum), low - 2 * 127 - 2));
    }
  return result;
}

std::vector<uint8_t> packed_rows(const MxMatrix &matrix) {
  std::vector<uint8_t> result(matrix.codes.size() / 2);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<uint8_t>(matrix.codes[2 * i] | matrix.codes[2 * i + 1] << 4);
  return result;
}

std::vector<uint8_t> shuffled_rows(const MxMatrix &matrix) {
  const std::vector<uint8_t> rows = packed_rows(matrix);
  const size_t bytes = matrix.columns / 2;
  std::vector<uint8_t> result(rows.size());
  for (size_t row = 0; row < matrix.rows; ++row)
    for (size_t at = 0; at < bytes; ++at)
      result[row / 16 * 16 * bytes + at / 16 * 256 + row % 16 * 16 + at % 16] = rows[row * bytes + at];
  return result;
}

size_t shuffled_scale_place(size_t row, size_t group, size_t groups) {
  const size_t padded = (groups + 7) / 8 * 8;
  return row % 32 / 16 + group % 8 / 4 * 2 + row % 16 * 4 + group % 4 * 64 + group / 8 * 256 +
         row / 32 * 32 * padded;
}

std::vector<uint8_t> shuffled_scales(const MxMatrix &matrix, uint8_t padding) {
  const size_t groups = matrix.columns / 32;
  std::vector<uint8_t> result((matrix.rows + 255) / 256 * 256 * ((groups + 7) / 8 * 8), padding);
  for (size_t row = 0; row < matrix.rows; ++row)
    for (size_t group = 0; group < groups; ++group)
      result[shuffled_scale_place(row, group, groups)] = matrix.scales[row * groups + group];
  return result;
}

} // namespace nereid::sim::test
