#pragma once

#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// The operation of its block at which the tile of a load is needed, through views; the load itself where
/// that is none but the block's end.
const ir::Op &first_use(const FunctionIndex &index, const ir::Op &load);

} // namespace nereid::codegen
