#pragma once

#include <cstddef>
#include <vector>

namespace nereid::kernels::test {

/// Rows of value indices, one for each factor, such that any two values of any two factors meet in some row.
/// `sizes` are the factors' numbers of values. Greedy and deterministic; about as long as the product of the
/// two largest sizes.
std::vector<std::vector<size_t>> pairwise(const std::vector<size_t> &sizes);

/// Every combination.
std::vector<std::vector<size_t>> full_product(const std::vector<size_t> &sizes);

} // namespace nereid::kernels::test
