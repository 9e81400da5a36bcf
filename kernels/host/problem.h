#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/host/gemm.h"

namespace nereid::kernels::host {

/// Operands of a product with seeded normal data, as mxfp4_linear takes them.
struct Operands {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  std::vector<uint16_t> a;       ///< bf16 [m, k]
  std::vector<uint8_t> b;        ///< shuffled codes
  std::vector<uint8_t> b_scales; ///< shuffled
};

/// Operands and their exact product.
struct Problem : Operands {
  std::vector<double> exact; ///< [m, n]
};

/// n is a multiple of 16, k of 32. `padding` fills the bytes of b_scales that belong to no scale; 255, a NaN,
/// shows whether they matter.
Operands random_operands(int64_t m, int64_t n, int64_t k, uint64_t seed, uint8_t padding = 255);
/// The same operands with their product, which takes m n k steps.
Problem random_problem(int64_t m, int64_t n, int64_t k, uint64_t seed, uint8_t padding = 255);

/// Compares C [m, n] in bf16 with the exact product of A (bf16 [m, k], quantised by the even rule) and
/// shuffled B. Error (User): a length or shape is wrong.
Result<Comparison> check_product(int64_t m, int64_t n, int64_t k, std::span<const uint16_t> a,
                                 std::span<const uint8_t> b, std::span<const uint8_t> b_scales,
                                 std::span<const uint16_t> c);

} // namespace nereid::kernels::host
