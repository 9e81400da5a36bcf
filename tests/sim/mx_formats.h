#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::sim::test {

/// A matrix of e2m1 codes, one a byte, with a scale byte (e8m0) for 32 values of a row.
struct MxMatrix {
  size_t rows = 0, columns = 0;
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;

  MxMatrix(size_t row_count, size_t column_count)
      : rows(row_count), columns(column_count), codes(row_count * column_count),
        scales(row_count * column_count / 32) {}
};

uint16_t bf16_of(float x); ///< nearest, ties to even; no NaN
float of_bf16(uint16_t bits);

/// Quantises rows of bf16 in groups of 32: the scale is that of the largest magnitude, whose exponent is
/// rounded up from 1.75 on; codes are the nearest, ties to even, at most 6.
MxMatrix quantised(const std::vector<uint16_t> &values, size_t rows, size_t columns);

/// A times B transposed, rounded once to bf16. The scales must be such that sums of f32 are exact.
std::vector<uint16_t> mx_product(const MxMatrix &a, const MxMatrix &b);

/// Two codes a byte, the even column in the low half.
std::vector<uint8_t> packed_rows(const MxMatrix &matrix);
/// The packed bytes in the order in which 16 rows by 16 bytes are contiguous.
std::vector<uint8_t> shuffled_rows(const MxMatrix &matrix);
/// The place of the scale (row, group) among shuffled scales of `groups` groups a row.
size_t shuffled_scale_place(size_t row, size_t group, size_t groups);
/// Shuffled scales; what belongs to no scale holds `padding`.
std::vector<uint8_t> shuffled_scales(const MxMatrix &matrix, uint8_t padding);

} // namespace nereid::sim::test
