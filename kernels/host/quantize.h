#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nereid::kernels::host {

/// An MXFP4 matrix in plain order: e2m1 codes, two a byte (low nibble = even k), and one e8m0 scale per 32 k.
struct MxMatrix {
  int64_t rows = 0;
  int64_t k = 0;               ///< a multiple of 32
  std::vector<uint8_t> codes;  ///< [rows, k/2]
  std::vector<uint8_t> scales; ///< [rows, k/32]

  MxMatrix() = default;
  MxMatrix(int64_t row_count, int64_t k_count);

  uint8_t code(int64_t row, int64_t index) const {
    const uint8_t byte = codes[row * (k / 2) + index / 2];
    return (index & 1) != 0 ? byte >> 4 : byte & 15;
  }
};

/// The scale byte of a group by the even rule: with a the largest magnitude and e the exponent field of a
/// after adding a quarter of its exponent's unit (a mantissa from 1.75 up counts as the next exponent), max(e
/// - 2, 0), where 253 and more become 254. The group's Inf and NaN count as larger than every finite value.
uint8_t scale_byte_even(std::span<const uint16_t> group);

/// MXFP4 by the even rule of a bf16 matrix [rows, k]; k is a multiple of 32. Inf and NaN become code 7 with
/// their sign.
MxMatrix quantize_even(std::span<const uint16_t> values, int64_t rows, int64_t k);

} // namespace nereid::kernels::host
