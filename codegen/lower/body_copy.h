#pragma once

#include <array>
#include <functional>
#include <unordered_map>

#include "codegen/lower/registers.h"
#include "dsl/ir/op.h"

namespace nereid::codegen {

/// A loop with prefetch has its body several times: which copy is emitted, what the accesses of its loads
/// move that were issued before, how the loads are emitted whose tiles are in LDS, and codes and scales of
/// what was quantised before.
struct BodyCopy {
  unsigned number = 0;
  unsigned count = 1;
  std::unordered_map<const ir::Op *, Registers> issued{};
  std::unordered_map<const ir::Op *, std::function<void()>> loads{};
  std::unordered_map<const ir::Op *, std::array<Tile, 2>> quantized{};
};

} // namespace nereid::codegen
