#pragma once

#include <cstdint>

namespace nereid::codegen::testing {

inline constexpr int64_t input_elements = 16384;  ///< of each buffer that is read
inline constexpr int64_t output_elements = 16384; ///< that a program may write to each buffer
inline constexpr int64_t max_iterations = 3;      ///< of one loop
inline constexpr int64_t known_scalar = 3;        ///< the value of the first scalar argument
inline constexpr int64_t small_input = 4;         ///< largest number in buffers of small numbers

} // namespace nereid::codegen::testing
