#pragma once

#include <vector>

#include <llvm/IR/Value.h>

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// The elements that a lane holds of a tile, by register number of its layout.
using Registers = std::vector<llvm::Value *>;

struct Tile {
  LinearLayout layout;
  Registers registers;
};

} // namespace nereid::codegen
