#pragma once

#include <string_view>

#include "base/result.h"

namespace nereid {

/// Two checks that LLVM's parser of JSON lacks, made before it. Error (User): an object has a key twice, or
/// the nesting is deeper than 64, which would exhaust the parser's stack. The message begins with a verb, for
/// a name to stand before it.
Status check_json_nesting(std::string_view text);

} // namespace nereid
