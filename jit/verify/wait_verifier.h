#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "jit/compile/compiler.h"
#include "jit/compile/inspection.h"

namespace nereid::jit {

/// Follows a wave through all paths of a function and checks a staged loop's promise (codegen): a read of a
/// stage happens after a barrier at which this wave's copies of the stage had arrived by its own waits; a
/// copy into a buffer happens after a barrier at which all reads of the stage before in that buffer had
/// returned. All waves run the same code, so that what holds for one at its barrier holds for all. What is
/// wrong, with the instruction; nothing if it is proven.
std::optional<std::string> verify_waits(const MachineFunction &function,
                                        const codegen::PipelineContract &contract);

/// Compiles, and checks all promises that the module carries. A kernel that fails is compiled again with
/// every wait of its own waiting for everything, and a warning is printed. Error (Nereid's): that fails too.
Result<Binary> compile_and_verify(const Compiler &compiler, const ModuleMaker &make, JitTimes &times);

} // namespace nereid::jit
