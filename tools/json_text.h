#pragma once

#include <string>

#include <llvm/Support/JSON.h>

namespace nereid::tools {

/// A value as indented JSON with a newline behind it. Members are sorted by name; numbers that are no
/// integers have the fewest digits that read back as the same number (2.4, where LLVM
/// writes 2.3999999999999999).
std::string json_text(const llvm::json::Value &value);

} // namespace nereid::tools
