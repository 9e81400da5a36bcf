#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Data that a quantiser must get right to the bit.
namespace nereid::kernels::test {

/// bf16 [rows, columns].
struct QuantData {
  std::string name;
  int64_t rows;
  int64_t columns;
  std::vector<uint16_t> values;
};

/// Normal data with standard deviation 2^exponent; neither dimension is a multiple of a block.
QuantData normal_data(int exponent);

/// Every finite pattern at every position of a group: groups of 32 patterns of neighbouring magnitude, in all
/// 32 rotations.
QuantData rotated_patterns();

/// Every finite pattern alone among zeros, at position (pattern + shift) % 32.
QuantData lone_patterns(int shift);

/// Groups whose largest magnitude is 0, subnormal, at and around 6 * 2^e and 7 * 2^e, at and above 1.75 *
/// 2^127, or the largest finite; both zeros; NaN and Inf of both signs.
QuantData special_groups();

} // namespace nereid::kernels::test
