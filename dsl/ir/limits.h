#pragma once

#include <cstdint>

/// What a function may have at most. The handles refuse more with the user's line, the parser and the
/// verifier with the operation.
namespace nereid::ir {

/// Largest number of a value that the parser accepts.
inline constexpr uint32_t max_value_id = (1u << 20) - 1;
/// Largest depth of nested regions: what walks regions may recurse.
inline constexpr unsigned max_nesting = 64;
/// Waves of a workgroup.
inline constexpr int max_waves = 16;
/// Stages of a loop's software pipeline.
inline constexpr int max_stages = 16;

} // namespace nereid::ir
