#pragma once

#include "dsl/ir/complaint.h"
#include "dsl/ir/function.h"

namespace nereid::ir {

/// The type rules of dot, dot_scaled and quantize: shapes that belong together in every format.
Complaint matrix_error(const Function &function, const Op &op);

} // namespace nereid::ir
