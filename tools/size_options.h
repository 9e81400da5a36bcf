#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kernels/problem_size.h"

namespace nereid::tools {

/// "M,N,K" of three integers. Error (User) otherwise.
Result<kernels::ProblemSize> parse_size(const std::string &text);

/// "M,N,K", or nothing for an empty text.
Result<std::optional<kernels::ProblemSize>> parse_optional_size(const std::string &text);

} // namespace nereid::tools
