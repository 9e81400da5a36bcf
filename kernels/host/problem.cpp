// Random operands of a product in the memory formats of the library, with the exact result.
#include "kernels/host/problem.h"

#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"

namespace nereid::kernels::host {

namespace {

struct Drawn {
  Operands operands;
  MxMatrix b; ///< in plain order
};

Drawn draw(int64_t m, int64_t n, int64_t k, uint64_t seed, uint8_t padding) {
  Drawn result{{.m = m, .n = n, .k = k, .a = normal_bf16(m * k, seed)}, normal_mx(n, k, seed + 1)};
  result.operands.b = shuffle_b(result.b.codes, n, k).value();
  result.operands.b_scales = shuffle_scales(result.b.scales, n, k, padding).value();
  return result;
}

} // namespace

Operands random_operands(int64_t m, int64_t n, int64_t k, uint64_t seed, uint8_t padding) {
  return draw(m, n, k, seed, padding).operands;
}

Problem random_problem(int64_t m, int64_t n, int64_t k, uint64_t seed, uint8_t padding) {
  Drawn made = draw(m, n, k, seed, padding);
  std::vector<double> exact = gemm(quantize_even(made.operands.a, m, k), made.b);
  return {std::move(made.operands), std::move(exact)};
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
