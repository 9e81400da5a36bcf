// This file is compiled with contraction: where a product is exact, a multiplication and an addition are the
// same as a fused one, and hosts that have it need half the instructions.

#include "sim/ops/matrix/product.h"

#include "sim/state/simd.h"

namespace nereid::sim {

namespace {

/// A vector of the host.
template <class Real, unsigned Bytes> struct VectorOf {
  typedef Real Type __attribute__((vector_size(Bytes), may_alias));
  static constexpr unsigned lanes = Bytes / sizeof(Real);
};

/// `Rows` rows and `Vectors` vectors of columns from `row` and `column` on; the sums stay in registers.
template <class Real, unsigned Bytes, unsigned Rows, unsigned Vectors>
inline __attribute__((always_inline)) void sum_tile(const ProductSide<Real> &a, const ProductSide<Real> &b,
                                                    unsigned k, unsigned row, unsigned column,
                                                    ProductSums<Real> &sums) {
  using Vector = typename VectorOf<Real, Bytes>::Type;
  constexpr unsigned lanes = VectorOf<Real, Bytes>::lanes;
  Vector sum[Rows][Vectors] = {};
  const uint16_t *a_at = a.at, *b_at = b.at;
  for (unsigned p = 0; p < k; ++p) {
    const Real *from_a = a.values + a_at[p] + row, *from_b = b.values + b_at[p] + column;
    Vector columns[Vectors];
#pragma GCC unroll 4
    for (unsigned v = 0; v < Vectors; ++v)
      columns[v] = *reinterpret_cast<const Vector *>(from_b + v * lanes);
#pragma GCC unroll 8
    for (unsigned r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (unsigned v = 0; v < Vectors; ++v)
        sum[r][v] += from_a[r] * columns[v];
  }
#pragma GCC unroll 8
  for (unsigned r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (unsigned v = 0; v < Vectors; ++v)
      *reinterpret_cast<Vector *>(sums.value[row + r] + column + v * lanes) = sum[r][v];
}

template <class Real, unsigned Bytes>
inline __attribute__((always_inline)) void sum_tiles(const ProductSide<Real> &a, const ProductSide<Real> &b,
                                                     unsigned k, unsigned rows, unsigned columns,
                                                     ProductSums<Real> &sums) {
  constexpr unsigned lanes = VectorOf<Real, Bytes>::lanes;
  if (columns == 4) {
    constexpr unsigned narrow = 4 * sizeof(Real) < Bytes ? 4 * sizeof(Real) : Bytes;
    for (unsigned row = 0; row < rows; row += 4)
      sum_tile<Real, narrow, 4, 4 * sizeof(Real) / narrow>(a, b, k, row, 0, sums);
  } else if constexpr (2 * lanes > 16) { // eight sums hide the latency of an addition
    for (unsigned row = 0; row < rows; row += 8)
      for (unsigned column = 0; column < columns; column += lanes)
        sum_tile<Real, Bytes, 8, 1>(a, b, k, row, column, sums);
  } else {
    for (unsigned row = 0; row < rows; row += 4)
      for (unsigned column = 0; column < columns; column += 2 * lanes)
        sum_tile<Real, Bytes, 4, 2>(a, b, k, row, column, sums);
  }
}

template <class Real>
void sum_portable(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k, unsigned rows,
                  unsigned columns, ProductSums<Real> &sums) {
  sum_tiles<Real, 16>(a, b, k, rows, columns, sums);
}
template <class Real>
NEREID_SIM_AVX2 void sum_avx2(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k,
                              unsigned rows, unsigned columns, ProductSums<Real> &sums) {
  sum_tiles<Real, 32>(a, b, k, rows, columns, sums);
}

template <class Real>
NEREID_SIM_AVX512 void sum_avx512(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k,
                                  unsigned rows, unsigned columns, ProductSums<Real> &sums) {
  sum_tiles<Real, 64>(a, b, k, rows, columns, sums);
}

inline __attribute__((always_inline)) float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline __attribute__((always_inline)) double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

template <class Real>
inline __attribute__((always_inline)) void fuse_all(const ProductSide<Real> &a, const ProductSide<Real> &b,
                                                    unsigned k, unsigned rows, unsigned columns,
                                                    ProductSums<Real> &sums) {
  for (unsigned p = 0; p < k; ++p) {
    const Real *from_a = a.values + a.at[p], *from_b = b.values + b.at[p];
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns; ++j)
        sums.value[i][j] = fused(from_a[i], from_b[j], sums.value[i][j]);
  }
}

template <class Real>
void fuse_portable(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k, unsigned rows,
                   unsigned columns, ProductSums<Real> &sums) {
  fuse_all(a, b, k, rows, columns, sums);
}
template <class Real>
NEREID_SIM_AVX2 void fuse_avx2(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k,
                               unsigned rows, unsigned columns, ProductSums<Real> &sums) {
  fuse_all(a, b, k, rows, columns, sums);
}

} // namespace

template <class Real>
void sum_products(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k, unsigned rows,
                  unsigned columns, ProductSums<Real> &sums) {
  auto *host = uses_avx512() ? sum_avx512<Real> : uses_avx2() ? sum_avx2<Real> : sum_portable<Real>;
  host(a, b, k, rows, columns, sums);
}

template <class Real>
void fuse_products(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k, unsigned rows,
                   unsigned columns, ProductSums<Real> &sums) {
  uses_avx2() ? fuse_avx2(a, b, k, rows, columns, sums) : fuse_portable(a, b, k, rows, columns, sums);
}

template void sum_products(const ProductSide<float> &, const ProductSide<float> &, unsigned, unsigned,
                           unsigned, ProductSums<float> &);
template void sum_products(const ProductSide<double> &, const ProductSide<double> &, unsigned, unsigned,
                           unsigned, ProductSums<double> &);
template void fuse_products(const ProductSide<float> &, const ProductSide<float> &, unsigned, unsigned,
                            unsigned, ProductSums<float> &);
template void fuse_products(const ProductSide<double> &, const ProductSide<double> &, unsigned, unsigned,
                            unsigned, ProductSums<double> &);

} // namespace nereid::sim
