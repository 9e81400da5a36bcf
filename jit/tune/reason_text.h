#pragma once

#include <string>

#include "base/error.h"

namespace nereid::jit {

/// An error as tables keep it: with the name of a source file, not the place where it was built.
inline std::string reason_text(Error error) {
  error.where.file.erase(0, error.where.file.find_last_of('/') + 1);
  return error.text();
}

} // namespace nereid::jit
