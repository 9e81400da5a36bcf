#pragma once

#include "dsl/ir/complaint.h"
#include "dsl/ir/function.h"

namespace nereid::ir {

/// Checks how the types of an operation's operands and results and its attributes belong together. Numbers of
/// operands and results (ops.def) and the kinds of attributes (attribute_rules.h) have been checked.
Complaint type_error(const Function &function, const Op &op);

/// Whether an operation may stand in the combining function of a reduction or scan: constants and elementwise
/// operations on scalars.
bool may_combine(const Function &function, const Op &op);

} // namespace nereid::ir
