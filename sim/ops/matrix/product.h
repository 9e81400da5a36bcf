#pragma once

#include <cstdint>

#include "sim/ops/matrix/operands.h"

namespace nereid::sim {

inline constexpr unsigned max_rows = 32, max_k = 128;

/// One side of a product: the numbers at position k of its rows (A) or columns (B) are values[at[k]] and on.
template <class Real> struct ProductSide {
  const Real *values;
  const uint16_t *at;
};

/// Results by row and column, of which a form uses the first ones.
template <class Real> struct ProductSums {
  alignas(64) Real value[max_rows][max_rows];
};

/// The sums over k of a matrix product, with positions of k in increasing order from 0 and one rounding for
/// each addition. Every product of two numbers has to be exact in Real. Rows are a multiple of 4; columns 4,
/// 16 or 32.
template <class Real>
void sum_products(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k, unsigned rows,
                  unsigned columns, ProductSums<Real> &sums);

/// Adds products to sums that have a value already, one fused multiplication and addition after the other.
template <class Real>
void fuse_products(const ProductSide<Real> &a, const ProductSide<Real> &b, unsigned k, unsigned rows,
                   unsigned columns, ProductSums<Real> &sums);

} // namespace nereid::sim
