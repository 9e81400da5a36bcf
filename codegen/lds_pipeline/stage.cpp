// One stage of an LDS pipeline: matrix instructions with memory instructions between them, and what holds
// their order.
#include "codegen/lds_pipeline/emitter.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

namespace nereid::codegen {

namespace {

/// Kinds of a group barrier.
constexpr unsigned matrix_group = 8, vector_memory_group = 32, lds_read_group = 256;

/// How a chunk's memory instructions stand between its matrix instructions: `at_once` after every
/// `distance`-th, over the first nine tenths of the chunk.
struct Spacing {
  size_t distance, at_once;

  Spacing(size_t matrix_instructions, size_t slots) {
    const size_t covered = std::max<size_t>(1, matrix_instructions * 9 / 10);
    distance = std::max<size_t>(1, covered / std::max<size_t>(1, slots));
    at_once = std::max<size_t>(1, slots / covered + (slots % covered != 0));
  }
};

} // namespace

LdsPipelineEmitter::Stage &LdsPipelineEmitter::stage(unsigned number) {
  auto found = stages_.find(number);
  return found != stages_.end() ? found->second
                                : stages_.emplace(number, template_.new_stage()).first->second;
}

void LdsPipelineEmitter::group_barrier(unsigned mask, size_t count) {
  builder_.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_sched_group_barrier, {},
      {builder_.getInt32(mask), builder_.getInt32(static_cast<uint32_t>(count)), builder_.getInt32(0)});
}

/// All waves' copies of the next stage have arrived, and all are done with what the next copies overwrite.
void LdsPipelineEmitter::wait_and_barrier(unsigned outstanding) {
  lowering_.context.set_line(loop_);
  order_barrier(builder_, only_vector_memory_stays);
  wait(builder_, outstanding, true);
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  order_barrier(builder_, only_vector_memory_stays);
}

void LdsPipelineEmitter::emit_stage(unsigned number, const StageWork &work) {
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const bool is_last = chunk + 1 == chunks_.size();
    if (is_last && work.reads_next)
      wait_and_barrier(work.outstanding);
    std::vector<MemorySlot> slots = slots_of_chunk(number, chunk, work);
    emit_chunk(number, chunk, slots);
    if (!schedule_.group_barriers) {
      order_barrier(builder_, arithmetic_crosses);
      continue;
    }
    if (is_last)
      order_barrier(builder_, only_vector_memory_stays);
    order_by_groups(chunk, slots);
  }
  if (!schedule_.group_barriers)
    order_barrier(builder_, only_vector_memory_stays);
  if (work.issues)
    offsets_.advance();
}

/// In the first chunk loads of a later stage, in the last one copies; in each the reads of the next, in turn
/// with them.
std::vector<LdsPipelineEmitter::MemorySlot> LdsPipelineEmitter::slots_of_chunk(unsigned number, size_t chunk,
                                                                               const StageWork &work) {
  const bool is_last = chunk + 1 == chunks_.size();
  std::vector<MemorySlot> vector_memory, reads;
  if (!is_last || work.reads_next) {
    const unsigned read_stage = is_last ? number + 1 : number;
    for (LoadGroup group : chunk_reads_[is_last ? 0 : chunk + 1])
      reads.push_back({pipeline_.loads[group.load].image->reads_of_group(), [this, group, read_stage] {
                         stage(read_stage).loaded[group.load][group.group] =
                             memory_.read(group, read_stage % schedule_.buffers);
                       }});
  }
  const unsigned loaded_stage = number + schedule_.load_distance(), copied_stage = number + schedule_.buffers;
  if (work.issues && chunk == 0)
    for (LoadGroup group : direct_groups(pipeline_))
      vector_memory.push_back({0, [this, group, loaded_stage] {
                                 stage(loaded_stage).loaded[group.load][group.group] =
                                     memory_.load(group, offsets_.current(group.load));
                               }});
  if (work.issues && is_last)
    for (size_t load = 0; load < pipeline_.loads.size(); ++load)
      for (size_t n = 0; n < pipeline_.loads[load].copies.first.size(); ++n)
        vector_memory.push_back({0, [this, load, n, copied_stage] {
                                   memory_.copy(load, n, copied_stage % schedule_.buffers,
                                                offsets_.current(load));
                                 }});
  std::vector<MemorySlot> slots;
  for (size_t i = 0, j = 0; i < vector_memory.size() || j < reads.size();)
    if (j >= reads.size() || (i < vector_memory.size() && i * reads.size() <= j * vector_memory.size()))
      slots.push_back(std::move(vector_memory[i++]));
    else
      slots.push_back(std::move(reads[j++]));
  return slots;
}

void LdsPipelineEmitter::emit_chunk(unsigned number, size_t chunk, std::vector<MemorySlot> &slots) {
  constexpr size_t pinned = 2; ///< matrix instructions between barriers
  const std::vector<MmaStep> &steps = chunks_[chunk];
  const Spacing spacing(steps.size(), slots.size());
  size_t next = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const unsigned tile = template_.tile(steps[i]);
    llvm::Value *&accumulator = accumulators_[steps[i].accumulator][tile];
    accumulator = template_.multiply(steps[i], stage(number), accumulator);
    if (i % spacing.distance == 0)
      for (size_t n = 0; n < spacing.at_once && next < slots.size(); ++n)
        slots[next++].emit();
    if (!schedule_.group_barriers && (i + 1) % pinned == 0)
      order_barrier(builder_, arithmetic_crosses);
  }
  while (next < slots.size())
    slots[next++].emit();
}

void LdsPipelineEmitter::order_slot(const MemorySlot &slot) {
  if (slot.reads != 0)
    group_barrier(lds_read_group, slot.reads);
  else
    group_barrier(vector_memory_group, 1);
}

void LdsPipelineEmitter::order_by_groups(size_t chunk, const std::vector<MemorySlot> &slots) {
  const size_t steps = chunks_[chunk].size();
  const Spacing spacing(steps, slots.size());
  size_t next = 0;
  for (size_t i = 0; i < steps; i += spacing.distance) {
    group_barrier(matrix_group, std::min(spacing.distance, steps - i));
    for (size_t n = 0; n < spacing.at_once && next < slots.size(); ++n)
      order_slot(slots[next++]);
  }
}

} // namespace nereid::codegen
