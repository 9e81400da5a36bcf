#pragma once

#include "base/result.h"
#include "dsl/ir/function.h"

namespace nereid::ir {

/// Checks every rule of the tile IR: options and arguments, numbers of operands and results, attributes,
/// element types, shapes, formats, single definition, dominance, regions. The handles refuse a user's
/// mistakes while tracing, so that a malformed function is Nereid's (Owner::Nereid); the message gives the
/// operation's line of for_each_op and its text, the location is its source line.
Status verify(const Function &function);

} // namespace nereid::ir
