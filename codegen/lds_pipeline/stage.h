#pragma once

#include <functional>
#include <map>
#include <vector>

#include "codegen/lds_pipeline/accumulators.h"
#include "codegen/lds_pipeline/scalar_offsets.h"

namespace nereid::codegen {

/// What a stage does in addition to its matrix instructions.
struct StageWork {
  bool issues;          ///< loads and copies of later stages
  bool reads_next;      ///< the next stage's first chunk
  unsigned outstanding; ///< at its barrier
};

/// Emits the stages of an LDS pipeline's main loop: matrix instructions with memory instructions between
/// them, and what holds their order.
class StageEmitter {
public:
  using Stage = IterationTemplate::Stage;

  StageEmitter(PipelineState &state, Accumulators &accumulators, ScalarOffsets &offsets)
      : state_(state), accumulators_(accumulators), offsets_(offsets) {}

  /// Under construction, begun when it is first named.
  Stage &stage(unsigned number);
  /// Begins all stages anew.
  void forget() { stages_.clear(); }
  void emit(unsigned number, const StageWork &work);
  /// All waves' copies of the next stage have arrived, and all are done with what the next copies overwrite.
  void wait_for_copies(unsigned outstanding);

private:
  /// A memory instruction that stands between matrix instructions.
  struct MemorySlot {
    unsigned reads; ///< instructions that read LDS, or 0 for one to global memory
    std::function<void()> emit;
  };

  std::vector<MemorySlot> reads_of_chunk(unsigned number, size_t chunk);
  std::vector<MemorySlot> vector_memory_of_chunk(unsigned number, size_t chunk);
  std::vector<MemorySlot> slots_of_chunk(unsigned number, size_t chunk, const StageWork &work);
  void emit_chunk(unsigned number, size_t chunk, const std::vector<MemorySlot> &slots);
  void order_by_groups(size_t chunk, const std::vector<MemorySlot> &slots);

  PipelineState &state_;
  Accumulators &accumulators_;
  ScalarOffsets &offsets_;
  std::map<unsigned, Stage> stages_;
};

} // namespace nereid::codegen
