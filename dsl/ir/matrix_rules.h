#pragma once

#include <optional>
#include <string>

#include "dsl/ir/function.h"

namespace nereid::ir {

/// The type rules of dot, dot_scaled and quantize: shapes that belong together in every format. Nothing, or
/// what is wrong.
std::optional<std::string> matrix_error(const Function &function, const Op &op);

} // namespace nereid::ir
