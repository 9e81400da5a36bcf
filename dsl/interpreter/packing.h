#pragma once

#include <cstddef>
#include <cstdint>

#include "dsl/ir/format.h"

namespace nereid::interpreter {

/// Code k of a packed row whose bytes are `stride` apart: the format's bits from bit k * bits on, the lowest
/// first.
inline uint8_t packed_code(const uint8_t *row, size_t stride, unsigned bits, size_t k) {
  const size_t bit = k * bits, byte = bit / 8;
  unsigned window = row[byte * stride];
  if (bit % 8 + bits > 8)
    window |= static_cast<unsigned>(row[(byte + 1) * stride]) << 8;
  return static_cast<uint8_t>(window >> bit % 8 & ((1u << bits) - 1));
}

/// Adds a code to a packed row that held zeros.
inline void pack_code(uint8_t *row, unsigned bits, size_t k, uint8_t code) {
  const size_t bit = k * bits, byte = bit / 8;
  const unsigned window = static_cast<unsigned>(code) << bit % 8;
  row[byte] = static_cast<uint8_t>(row[byte] | window);
  if (bit % 8 + bits > 8)
    row[byte + 1] = static_cast<uint8_t>(row[byte + 1] | window >> 8);
}

} // namespace nereid::interpreter
