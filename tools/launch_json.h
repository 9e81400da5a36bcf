#pragma once

#include <string>
#include <vector>

#include <llvm/Support/JSON.h>

#include "jit/compile/compiled_kernel.h"
#include "jit/compile/resources_json.h"
#include "kernels/host/gemm.h"
#include "kernels/library_kernel.h"
#include "tools/instructions_json.h"

/// The JSON of launches and kernels, as docs/command.md promises it.
namespace nereid::tools {

llvm::json::Object config_json(const std::vector<ConfigValue> &config);
llvm::json::Object jit_json(const JitTimes &times);
llvm::json::Object launch_json(const kernels::LaunchRecord &record);
/// The largest error, null where it is infinite.
llvm::json::Value max_error_json(const kernels::host::Comparison &comparison);
llvm::json::Array launches_json(const std::vector<kernels::LaunchRecord> &records);

/// One line for people.
std::string launch_text(const kernels::LaunchRecord &record);

} // namespace nereid::tools
