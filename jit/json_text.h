#pragma once

#include <string>

#include <llvm/Support/JSON.h>

namespace nereid::jit {

/// A value as JSON with a newline behind it, with two spaces a level or on one line. Members are sorted by
/// name; numbers that are no integers have the fewest digits that read back as the same number (2.4, where
/// LLVM writes 2.3999999999999999).
std::string json_text(const llvm::json::Value &value, bool indented = true);

/// A JSON string of bytes that a user or a file gave: what is not UTF-8 becomes the replacement character.
llvm::json::Value json_string(const std::string &bytes);

} // namespace nereid::jit
