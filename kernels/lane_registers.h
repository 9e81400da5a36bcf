#pragma once

#include <string_view>

#include "base/result.h"
#include "kernels/tile_config.h"

namespace nereid::kernels {

/// Error (User) where the registers of a lane do not hold its part of an iteration of a product. `fused`: A
/// is bf16 and quantised in the kernel. An estimate, fitted to what compiled without scratch.
Status check_lane(std::string_view kernel, bool fused, const TileConfig &config);

} // namespace nereid::kernels
