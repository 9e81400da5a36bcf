#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "llvm/ADT/StringRef.h"

namespace nereid::jit {

/// Links one relocatable AMDGPU object to a code object, with LLD in this process; one link at a time.
Result<std::vector<uint8_t>> link_code_object(llvm::StringRef object);

} // namespace nereid::jit
