#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "sim/code_object.h"
#include "tools/calibrate/measurement.h"

namespace nereid::calibrate {

/// A kernel of a tile, in its code object.
struct TileKernel {
  sim::CodeObject code;
  std::string name;   ///< of the kernel
  std::string digest; ///< SHA-256 of the file, hexadecimal
};

/// The MXFP4 products with bf16 result and shuffled B of a folder of code objects (*.co): kernels whose name
/// has "f4gemm_bf16_per1x32Fp4_BpreShuffle_<tile_m>x<tile_n>"; others are left out. Error (User): the folder
/// cannot be read, a file of it is no gfx950 code object, it has none of these kernels, or one tile twice.
Result<std::map<Tile, TileKernel>> find_tile_kernels(const std::string &folder);

/// The tile of such a name; nothing of others.
std::optional<Tile> tile_of_kernel(const std::string &name);

} // namespace nereid::calibrate
