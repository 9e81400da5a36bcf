// What a kernel's code may take for granted of the shape that it is compiled for.
#include "kernels/specialize.h"

namespace nereid::kernels {

bool is_even(const std::optional<ProblemSize> &size, int64_t ProblemSize::*dimension, int block) {
  return size && (*size).*dimension % block == 0;
}

ShapeFacts shape_facts(const TileConfig &tile, const std::optional<ProblemSize> &size) {
  return {.constant_k = size && tile.const_k ? static_cast<int>(size->k) : 0,
          .even_m = is_even(size, &ProblemSize::m, tile.block_m),
          .even_n = is_even(size, &ProblemSize::n, tile.block_n),
          .even_k = is_even(size, &ProblemSize::k, tile.block_k)};
}

} // namespace nereid::kernels
