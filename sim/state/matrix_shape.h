#pragma once

#include <cstdint>

#include "sim/state/isa_limits.h"

namespace nereid::sim {

/// How one side's elements or the result of an MFMA are encoded.
enum class Element : uint8_t { F32, F64, F16, Bf16, I8, Fp8, Bf8, Fp6, Bf6, Fp4, F8F6F4, I32 };

/// The facts of an MFMA that its mnemonic states: D[m][n] += A[m][k] * B[k][n], `blocks` times.
struct MatrixShape {
  unsigned m, n, k, blocks;
  Element a, b, result;

  unsigned result_registers() const { return m * n * blocks / lane_count * (result == Element::F64 ? 2 : 1); }
  /// K elements that one lane holds, and the number of lane groups along K.
  unsigned groups() const { return lane_count / (m * blocks); }
  unsigned elements() const { return k / groups(); }
};

} // namespace nereid::sim
