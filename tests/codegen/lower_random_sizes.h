#pragma once

#include <cstdint>

#include "dsl/ir/element.h"

namespace nereid::codegen::testing {

inline constexpr int64_t input_elements = 16384;  ///< of each buffer that is read
inline constexpr int64_t output_elements = 16384; ///< that a program may write to each buffer
inline constexpr int64_t max_iterations = 3;      ///< of one loop
inline constexpr int64_t known_scalar = 3;        ///< the value of the first scalar argument
inline constexpr int64_t small_input = 4;         ///< largest number in buffers of small numbers

/// Elements that have arithmetic: the first ones, up to f64.
inline constexpr int64_t arithmetic_elements = static_cast<int64_t>(ir::Element::F64) + 1;

} // namespace nereid::codegen::testing
