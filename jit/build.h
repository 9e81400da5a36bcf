#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "dsl/ir/function.h"
#include "dsl/trace.h"
#include "jit/compiled_kernel.h"
#include "jit/disk_cache.h"

namespace nereid::jit {

/// A traced kernel to build.
struct BuildRequest {
  std::shared_ptr<const ir::Function> function; ///< verified and canonical
  std::string config;
  std::vector<ArgumentFacts> facts;
  bool code = true; ///< false: for the interpreter alone
  JitTimes times;   ///< so far
};

/// Hashes, consults the disk cache, else compiles and stores; dumps when asked.
Result<std::shared_ptr<const CompiledKernel>> build_kernel(BuildRequest request, const DiskCache &disk);

} // namespace nereid::jit
