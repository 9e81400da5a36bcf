// Parses JSON with the checks that LLVM's parser lacks.

#include "sim/launch_file/json.h"

#include "base/json_nesting.h"

namespace nereid::sim {

Result<llvm::json::Value> parse_json(std::string_view text) {
  NEREID_CHECK(check_json_nesting(text));
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value)
    return user_error("is not JSON: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace nereid::sim
