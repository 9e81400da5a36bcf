#pragma once

#include "sim/ops/matrix/product.h"

namespace nereid::sim {

/// The sums of the products of 32 fp4 elements, which are small integers: those of lane group `block` of both
/// operands, for a form of `Size` rows and columns.
template <unsigned Size>
void sum_fp4_products(const Lanes *a, const Lanes *b, unsigned block, ProductSums<float> &sums);

} // namespace nereid::sim
