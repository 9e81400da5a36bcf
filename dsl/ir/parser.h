#pragma once

#include <string_view>

#include "base/result.h"
#include "dsl/ir/function.h"

namespace nereid::ir {

/// Reads the text form of a function (docs/tile-ir.md); the inverse of `print` to the letter. Any white space
/// may separate the words and `//` begins a comment. The error (Owner::User) names line and column of
/// the text and, as its location, `file` and the line. Time is linear in the text. The result is not yet
/// verified.
Result<Function> parse(std::string_view text, std::string_view file = "tile IR");

} // namespace nereid::ir
