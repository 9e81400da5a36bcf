#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "dsl/ir/function.h"
#include "dsl/trace.h"
#include "jit/cache/disk_cache.h"
#include "jit/compile/compiled_kernel.h"

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

/// Refuses a kernel with more than 4 KiB of spilled registers a lane: LLVM 22.1 can give those beyond that an
/// offset that the instruction's signed 13 bits do not hold, and the store goes elsewhere. Error: User. Its
/// remedy names a tile whose size has a large odd factor, of which each lane holds all.
Status check_spills(const ir::Function &function, const Resources &resources);

} // namespace nereid::jit
