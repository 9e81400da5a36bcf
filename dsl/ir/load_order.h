#pragma once

#include <map>

#include "dsl/ir/function.h"

namespace nereid::ir {

/// Puts the loads of one C++ expression into an order of data flow: that in which the operands of later
/// operations want them. C++ does not say in which order an expression runs its loads, and compilers differ;
/// the function may not depend on that. Loads of different expressions, effects and regions keep the order of
/// the trace. `expressions`: a number for the expression of each load, by the load's result.
void order_loads(Function &function, const std::map<ValueId, unsigned> &expressions);

} // namespace nereid::ir
