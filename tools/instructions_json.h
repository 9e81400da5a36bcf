#pragma once

#include <cstdint>

#include <llvm/Support/JSON.h>

#include "sim/launch/instruction_counts.h"

namespace nereid::tools {

/// JSON has no unsigned numbers.
inline int64_t integer(uint64_t value) { return static_cast<int64_t>(value); }

/// Counted wave instructions as docs/command.md names them; of a launch or of a run of the simulator.
inline llvm::json::Object instructions_json(const sim::InstructionCounts &counts) {
  return llvm::json::Object{{"total", integer(counts.total)},
                            {"mfma", integer(counts.mfma)},
                            {"valu", integer(counts.valu)},
                            {"salu", integer(counts.salu)},
                            {"smem", integer(counts.smem)},
                            {"lds", integer(counts.lds)},
                            {"vmem_load", integer(counts.vmem_load)},
                            {"vmem_store", integer(counts.vmem_store)},
                            {"vmem_atomic", integer(counts.vmem_atomic)},
                            {"barrier", integer(counts.barrier)},
                            {"waitcnt", integer(counts.waitcnt)},
                            {"branch", integer(counts.branch)},
                            {"other", integer(counts.other)}};
}

} // namespace nereid::tools
