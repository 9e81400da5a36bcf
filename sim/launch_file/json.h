#pragma once

#include <string_view>

#include <llvm/Support/JSON.h>

#include "base/result.h"

namespace nereid::sim {

/// Parses JSON. Errors (User) are those of the parser, with line and column, and two things that it lets
/// pass: a key that an object has twice, and nesting deeper than 64, which would exhaust its stack.
Result<llvm::json::Value> parse_json(std::string_view text);

} // namespace nereid::sim
