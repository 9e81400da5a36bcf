// Shapes on the command line.
#include "tools/size_options.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

namespace nereid::tools {

Result<kernels::ProblemSize> parse_size(const std::string &text) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  llvm::StringRef(text).split(parts, ',');
  int64_t values[3] = {};
  bool right = parts.size() == 3;
  for (size_t i = 0; right && i < 3; ++i)
    right = !parts[i].getAsInteger(10, values[i]);
  if (!right)
    return user_error(fmt::format("'{}' is not a shape M,N,K", text), "for instance --shape 16,2112,7168");
  return kernels::ProblemSize{values[0], values[1], values[2]};
}

Result<std::optional<kernels::ProblemSize>> parse_optional_size(const std::string &text) {
  if (text.empty())
    return std::optional<kernels::ProblemSize>();
  NEREID_TRY(const kernels::ProblemSize size, parse_size(text));
  return std::optional(size);
}

} // namespace nereid::tools
