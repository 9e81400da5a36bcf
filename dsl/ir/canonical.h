#pragma once

#include "dsl/ir/function.h"

namespace nereid::ir {

/// The form that is hashed, compiled and numbered: one text for all orders in which a host compiler may have
/// traced the pure operations of a kernel. `function` must verify.
///
/// Every operation stays in the region that it was traced in. Loads, effects and regions keep the order of
/// the trace; a pure operation comes before its first use, operands first and in order. Pure operations and
/// loads that nothing needs are gone. Equal pure operations (opcode, operands, attributes, types) are one
/// where a region that encloses both has one. Values, and host functions, are numbered in the order of the
/// text. Idempotent.
Function canonicalize(const Function &function);

} // namespace nereid::ir
