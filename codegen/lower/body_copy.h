#pragma once

#include <unordered_map>

#include "codegen/lower/registers.h"
#include "dsl/ir/op.h"

namespace nereid::codegen {

/// A loop with register prefetch has its body several times: which copy is emitted, and what the accesses of
/// its loads move that were issued before.
struct BodyCopy {
  unsigned number = 0;
  unsigned count = 1;
  std::unordered_map<const ir::Op *, Registers> issued{};
};

} // namespace nereid::codegen
