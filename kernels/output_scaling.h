#pragma once

#include <array>
#include <string_view>

#include "kernels/device_memory.h"

namespace nereid::kernels {

/// What of alpha (sum) + beta C an output needs.
enum class Scaling : int { None, Alpha, AlphaBeta };
constexpr auto nereid_config_names(Scaling) {
  return std::to_array<std::string_view>({"none", "alpha", "alpha_beta"});
}

/// The epilogue D = alpha A B + beta C.
struct Epilogue {
  float alpha = 1;
  float beta = 0;
  DeviceMemory c = {}; ///< bf16 [m, n]; read only where beta is not 0

  Scaling scaling() const {
    return beta != 0 ? Scaling::AlphaBeta : alpha != 1 ? Scaling::Alpha : Scaling::None;
  }
};

} // namespace nereid::kernels
