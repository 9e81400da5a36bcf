#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/host/quantize.h"

/// The memory orders of shuffled operands (aiter's shuffle_weight with (16, 16) and e8m0_shuffle).
namespace nereid::kernels::host {

/// Bytes of a shuffled B of n rows (a multiple of 16) and k columns (a multiple of 32).
int64_t shuffled_b_bytes(int64_t n, int64_t k);

/// Where byte `byte` (0 to k/2 - 1) of row `row` stands in a shuffled B.
int64_t shuffled_b_offset(int64_t row, int64_t byte, int64_t k);

/// Rows and columns of scales after padding: multiples of 256 and of 8.
int64_t padded_scale_rows(int64_t rows);
int64_t padded_scale_columns(int64_t k);

/// Bytes of the shuffled scales of a [rows, k] matrix.
int64_t shuffled_scale_bytes(int64_t rows, int64_t k);

/// Where the scale of (row, column = k/32) stands in shuffled scales.
int64_t shuffled_scale_offset(int64_t row, int64_t column, int64_t k);

/// Codes [n, k/2] in (16,16)-shuffled order. Error (User): n % 16, k % 32 or the length is wrong.
Result<std::vector<uint8_t>> shuffle_b(std::span<const uint8_t> codes, int64_t n, int64_t k);
/// The inverse of shuffle_b.
Result<std::vector<uint8_t>> unshuffle_b(std::span<const uint8_t> shuffled, int64_t n, int64_t k);

/// Scales [rows, k/32] in shuffled order; bytes that belong to no scale are `padding`.
Result<std::vector<uint8_t>> shuffle_scales(std::span<const uint8_t> scales, int64_t rows, int64_t k,
                                            uint8_t padding = 127);
/// The inverse of shuffle_scales: the padding is dropped.
Result<std::vector<uint8_t>> unshuffle_scales(std::span<const uint8_t> shuffled, int64_t rows, int64_t k);

} // namespace nereid::kernels::host
