#pragma once

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

} // namespace nereid::jit
