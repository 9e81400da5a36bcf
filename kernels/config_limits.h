#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dsl/config.h"

/// The values that the config keys of the library may have.
namespace nereid::kernels {

/// Rows and columns of the smaller matrix instruction.
inline constexpr int instruction_rows = 16;

/// What --config may give.
std::span<const ConfigLimits> key_limits();

/// Error (User) naming the first value that is below or above its key's limits.
Status check_limits(std::span<const ConfigValue> values);

/// What the value of a key must be a multiple of.
int unit_of(std::string_view key);
/// Blocks are powers of two or multiples of 16, counts of waves powers of two.
bool is_allowed(std::string_view key, int value);
/// The values within the limits that are allowed.
std::vector<int> allowed_values(std::string_view key);

} // namespace nereid::kernels
