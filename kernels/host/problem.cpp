#include "kernels/host/problem.h"

#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"

namespace nereid::kernels::host {

Problem random_problem(int64_t m, int64_t n, int64_t k, uint64_t seed, uint8_t padding) {
  Problem problem{.m = m, .n = n, .k = k, .a = normal_bf16(m * k, seed)};
  const MxMatrix b = normal_mx(n, k, seed + 1);
  problem.b = shuffle_b(b.codes, n, k).value();
  problem.b_scales = shuffle_scales(b.scales, n, k, padding).value();
  problem.exact = gemm(quantize_even(problem.a, m, k), b);
  return problem;
}

Result<Comparison> check_product(int64_t m, int64_t n, int64_t k, std::span<const uint16_t> a,
                                 std::span<const uint8_t> b, std::span<const uint8_t> b_scales,
                                 std::span<const uint16_t> c) {
  Result<std::vector<uint8_t>> codes = unshuffle_b(b, n, k);
  if (!codes)
    return codes.error();
  Result<std::vector<uint8_t>> scales = unshuffle_scales(b_scales, n, k);
  if (!scales)
    return scales.error();
  if (static_cast<int64_t>(a.size()) != m * k || static_cast<int64_t>(c.size()) != m * n)
    return user_error("check_product: A or C has not the length of its shape");
  MxMatrix b_matrix(n, k);
  b_matrix.codes = std::move(*codes);
  b_matrix.scales = std::move(*scales);
  return compare(c, gemm(quantize_even(a, m, k), b_matrix));
}

} // namespace nereid::kernels::host
