#pragma once

#include "kernels/library_kernel.h"
#include "kernels/tile_config.h"

namespace nereid::kernels {

/// The tile of a product with the library's choice for what is not given; nothing is checked. `fused`: A is
/// bf16 and quantised in the kernel; `is_split`: several programs share the K of a tile.
TileConfig tile_defaults(const Partial<TileConfig> &given, const MaybeSize &size, bool fused, bool is_split);

} // namespace nereid::kernels
