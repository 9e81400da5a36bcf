#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "jit/compile/compiler.h"
#include "jit/compile/jit_times.h"

namespace nereid::jit {

/// The code of a kernel, and where it came from.
struct Obtained {
  std::shared_ptr<const Binary> binary;
  CacheLevel level = CacheLevel::None;
};

/// Of the concurrent calls in this process with one key, for whichever devices, one runs `obtain`, and the
/// others wait and get its binary (CacheLevel::Memory) or error.
Result<Obtained> obtain_once(const std::string &key, const std::function<Result<Obtained>()> &obtain);

} // namespace nereid::jit
