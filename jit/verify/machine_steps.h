#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "jit/compile/inspection.h"

namespace nereid::jit {

/// Vector memory instructions that a wave can have outstanding; it stalls before the next one.
inline constexpr unsigned max_outstanding = 63;

/// What an instruction does for the waits of one load's pipeline.
enum class StepKind {
  Copy,         ///< an async copy of the contract
  FirstCopy,    ///< the one with which its pipeline starts
  VectorMemory, ///< any other vector memory instruction
  PipelineRead, ///< a read of LDS of the contract
  Lds,          ///< any other LDS instruction
  ScalarMemory,
  Wait,
  Barrier,
  Branch,
  Other
};

struct MachineStep {
  StepKind kind = StepKind::Other;
  unsigned vector_wait = max_outstanding, lds_wait = ~0u; ///< of a Wait
  std::optional<size_t> target;                           ///< of a Branch, as number of a step
  bool falls_through = true;
};

/// A step for each instruction. Error (Nereid's), with the instruction: it is not understood.
Result<std::vector<MachineStep>> read_steps(const MachineFunction &function,
                                            const codegen::PipelineContract &contract);

/// Whether it copies from global memory to LDS.
bool is_async_copy(const MachineInstruction &instruction);

/// "at 0x1c40, s_waitcnt vmcnt(3)", for messages.
std::string text_of(const MachineInstruction &instruction);

} // namespace nereid::jit
