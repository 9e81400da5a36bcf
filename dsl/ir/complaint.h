#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "dsl/ir/type.h"

namespace nereid::ir {

/// What a rule finds wrong with an operation, or nothing.
using Complaint = std::optional<std::string>;

inline Complaint want(const Type &found, const Type &wanted, std::string_view what) {
  if (found == wanted)
    return {};
  return fmt::format("{} is {}, not {}", what, found.text(), wanted.text());
}

} // namespace nereid::ir
