#pragma once

#include <string>

#include "dsl/ir/function.h"

namespace nereid::ir {

/// The text of a function; `parse` is its inverse. Line 1 is the kernel's head and line n + 1 is operation n
/// of for_each_op: one operation a line, a region's closing brace follows its last operation.
/// Locations, argument names and host functions are no part of the text.
std::string print(const Function &function);

/// One operation as it is in the text, without its regions, for messages.
std::string print(const Function &function, const Op &op);

} // namespace nereid::ir
