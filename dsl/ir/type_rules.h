#pragma once

#include <optional>
#include <string>

#include "dsl/ir/function.h"

namespace nereid::ir {

/// Checks how the types of an operation's operands and results and its attributes belong together. Numbers of
/// operands and results and the kinds of attributes have been checked (op_rules.h). Nothing, or what is
/// wrong.
std::optional<std::string> type_error(const Function &function, const Op &op);

} // namespace nereid::ir
