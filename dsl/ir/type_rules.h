#pragma once

#include "dsl/ir/complaint.h"
#include "dsl/ir/function.h"

namespace nereid::ir {

/// Checks how the types of an operation's operands and results and its attributes belong together. Numbers of
/// operands and results (ops.def) and the kinds of attributes (attribute_rules.h) have been checked.
Complaint type_error(const Function &function, const Op &op);

} // namespace nereid::ir
