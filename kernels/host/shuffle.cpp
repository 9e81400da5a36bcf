// Matrices and scales into AMD's shuffled order and back.
#include "kernels/host/shuffle.h"

#include <fmt/format.h>

#include "kernels/host/formats.h"

namespace nereid::kernels::host {
namespace {

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Status check(const char *what, size_t length, int64_t expected, int64_t rows, int64_t k, int64_t row_unit) {
  if (rows <= 0 || rows % row_unit != 0)
    return user_error(fmt::format("{}: {} rows are not a positive multiple of {}", what, rows, row_unit));
  if (k <= 0 || k % group_size != 0)
    return user_error(fmt::format("{}: K = {} is not a positive multiple of 32", what, k));
  if (static_cast<int64_t>(length) != expected)
    return user_error(fmt::format("{}: {} bytes given, {} expected for {} rows and K = {}", what, length,
                                  expected, rows, k));
  return {};
}

} // namespace

int64_t shuffled_b_bytes(int64_t n, int64_t k) { return n * (k / 2); }

int64_t shuffled_b_offset(int64_t row, int64_t byte, int64_t k) {
  return row / 16 * 16 * (k / 2) + byte / 16 * 256 + row % 16 * 16 + byte % 16;
}

int64_t padded_scale_rows(int64_t rows) { return round_up(rows, 256); }
int64_t padded_scale_columns(int64_t k) { return round_up(k / group_size, 8); }
int64_t shuffled_scale_bytes(int64_t rows, int64_t k) {
  return padded_scale_rows(rows) * padded_scale_columns(k);
}

int64_t shuffled_scale_offset(int64_t row, int64_t column, int64_t k) {
  return row % 32 / 16 + column % 8 / 4 * 2 + row % 16 * 4 + column % 4 * 64 + column / 8 * 256 +
         row / 32 * 32 * padded_scale_columns(k);
}

Result<std::vector<uint8_t>> shuffle_b(std::span<const uint8_t> codes, int64_t n, int64_t k) {
  if (Status status = check("shuffle_b", codes.size(), n * (k / 2), n, k, 16); !status)
    return status.error();
  std::vector<uint8_t> shuffled(codes.size());
  for (int64_t row = 0; row < n; ++row)
    for (int64_t byte = 0; byte < k / 2; ++byte)
      shuffled[shuffled_b_offset(row, byte, k)] = codes[row * (k / 2) + byte];
  return shuffled;
}

Result<std::vector<uint8_t>> unshuffle_b(std::span<const uint8_t> shuffled, int64_t n, int64_t k) {
  if (Status status = check("unshuffle_b", shuffled.size(), shuffled_b_bytes(n, k), n, k, 16); !status)
    return status.error();
  std::vector<uint8_t> codes(shuffled.size());
  for (int64_t row = 0; row < n; ++row)
    for (int64_t byte = 0; byte < k / 2; ++byte)
      codes[row * (k / 2) + byte] = shuffled[shuffled_b_offset(row, byte, k)];
  return codes;
}

Result<std::vector<uint8_t>> shuffle_scales(std::span<const uint8_t> scales, int64_t rows, int64_t k,
                                            uint8_t padding) {
  const int64_t columns = k / group_size;
  if (Status status = check("shuffle_scales", scales.size(), rows * columns, rows, k, 1); !status)
    return status.error();
  std::vector<uint8_t> shuffled(shuffled_scale_bytes(rows, k), padding);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      shuffled[shuffled_scale_offset(row, column, k)] = scales[row * columns + column];
  return shuffled;
}

Result<std::vector<uint8_t>> unshuffle_scales(std::span<const uint8_t> shuffled, int64_t rows, int64_t k) {
  const int64_t columns = k / group_size;
  if (Status status = check("unshuffle_scales", shuffled.size(), shuffled_scale_bytes(rows, k), rows, k, 1);
      !status)
    return status.error();
  std::vector<uint8_t> scales(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      scales[row * columns + column] = shuffled[shuffled_scale_offset(row, column, k)];
  return scales;
}

} // namespace nereid::kernels::host
