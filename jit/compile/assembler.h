#pragma once

#include <string>

#include "base/result.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace nereid::jit {

/// Assembles text for gfx950 to a relocatable object, as llvm-mc does: what it says is appended to
/// `messages`. Within run_guarded, which an object of more than 256 MiB ends.
Status assemble(llvm::StringRef text, llvm::SmallVectorImpl<char> &object, std::string &messages);

} // namespace nereid::jit
