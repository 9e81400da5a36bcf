#pragma once

#include <vector>

#include "base/result.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "jit/compile/inspection.h"

namespace nereid::jit {

/// Follows a wave through all paths of a function and checks the contract of a pipeline's load
/// (codegen/schedule/lds_pipeline_contract.h): a read of a stage happens after a barrier at which this wave's
/// copies of the stage had arrived by its own waits; a copy into a buffer happens after a barrier at which
/// all reads of the stage before in that buffer had returned. Error (Nereid's), naming the instruction: the
/// contract is broken, or cannot be shown to be kept.
Status verify_waits(const MachineFunction &function, const codegen::PipelineContract &contract);

/// Whether LLVM left out a pipeline's load, as it found that its loop never runs: nothing of it is in the
/// code, and all async copies that are there are those of the other contracts of the kernel.
bool is_left_out(const MachineFunction &function, const codegen::PipelineContract &contract,
                 const std::vector<codegen::PipelineContract> &all);

} // namespace nereid::jit
