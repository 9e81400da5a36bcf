// The reference quantiser: groups of 32 to e2m1 codes and e8m0 scales.
#include "kernels/host/quantize.h"

#include <algorithm>
#include <cassert>

#include "base/float_environment.h"
#include "kernels/host/formats.h"

namespace nereid::kernels::host {

MxMatrix::MxMatrix(int64_t row_count, int64_t k_count)
    : rows(row_count), k(k_count), codes(static_cast<size_t>(row_count * k_count / 2)),
      scales(static_cast<size_t>(row_count * k_count / group_size)) {}

uint8_t scale_byte_even(std::span<const uint16_t> group) {
  uint32_t largest = 0;
  for (uint16_t bits : group)
    largest = std::max<uint32_t>(largest, bits & 0x7fffU);
  const uint32_t exponent = ((largest << 16) + 0x200000U) >> 23;
  const uint32_t byte = exponent < 2 ? 0 : exponent - 2;
  return static_cast<uint8_t>(byte >= 253 ? 254 : byte);
}

MxMatrix quantize_even(std::span<const uint16_t> values, int64_t rows, int64_t k) {
  assert(k % group_size == 0 && static_cast<int64_t>(values.size()) == rows * k);
  const FloatEnvironment environment;
  MxMatrix result(rows, k);
  for (int64_t group = 0; group < rows * k / group_size; ++group) {
    const std::span<const uint16_t> elements = values.subspan(group * group_size, group_size);
    const uint8_t byte = scale_byte_even(elements);
    const double scale = e8m0_to_double(byte);
    result.scales[group] = byte;
    for (int64_t i = 0; i < group_size; i += 2) {
      const uint8_t low = e2m1_from_double(bf16_to_float(elements[i]) / scale);
      const uint8_t high = e2m1_from_double(bf16_to_float(elements[i + 1]) / scale);
      result.codes[(group * group_size + i) / 2] = static_cast<uint8_t>(low | (high << 4));
    }
  }
  return result;
}

} // namespace nereid::kernels::host
