#pragma once

#include "dsl/ir/function.h"

namespace nereid::ir {

/// Makes values that a `for` carries only to count functions of the loop's index: integers and pointers to
/// which each iteration adds the same scalars. `p += 64` in a loop over k from 0 in steps of 64 becomes
/// p + k, so that all that looks at addresses sees one form. Loops whose step is not a positive constant stay
/// as they are. The function has to verify, and still does.
void rewrite_inductions(Function &function);

} // namespace nereid::ir
