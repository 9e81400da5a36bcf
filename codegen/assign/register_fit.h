#pragma once

#include "base/result.h"
#include "codegen/analysis/function_index.h"
#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

/// Refuses a tile that takes all vector registers of a lane by itself, spread evenly over all lanes of the
/// workgroup: LLVM would spend minutes on code that only spills. Error (User) at the operation that makes it.
Status check_registers(const FunctionIndex &index, const LayoutChoice &layouts);

} // namespace nereid::codegen
