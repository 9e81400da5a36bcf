#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace nereid::codegen {

/// A layout that cannot be was asked for. Whatever kernel shows it, it is a defect of Nereid. The algebra of
/// layouts throws it, `choose_layouts` and `lower` turn it into an error value.
class LayoutError {
public:
  explicit LayoutError(std::string what) : what_(std::move(what)) {}
  const std::string &what() const { return what_; }
  Error error(SourceLine where = {}) const {
    return nereid_error("a layout cannot be made: " + what_,
                        "this is a defect of Nereid: please report it with the kernel; dimensions that are "
                        "powers of two avoid it",
                        std::move(where));
  }

private:
  std::string what_;
};

/// Throws LayoutError unless the condition holds.
inline void require_layout(bool holds, const char *what) {
  if (!holds)
    throw LayoutError(what);
}

} // namespace nereid::codegen
