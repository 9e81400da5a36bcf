// One stage of an LDS pipeline.
#include "codegen/lds_pipeline/stage.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lds_pipeline/waits.h"

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

void group_barrier(llvm::IRBuilder<> &builder, unsigned mask, size_t count) {
  builder.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_sched_group_barrier, {},
      {builder.getInt32(mask), builder.getInt32(static_cast<uint32_t>(count)), builder.getInt32(0)});
}

} // namespace

StageEmitter::Stage &StageEmitter::stage(unsigned number) {
  auto found = stages_.find(number);
  return found != stages_.end() ? found->second
                                : stages_.emplace(number, state_.iteration.new_stage()).first->second;
}

void StageEmitter::wait_for_copies(unsigned outstanding) {
  state_.lowering.context.set_line(state_.loop);
  order_barrier(state_.builder, only_vector_memory_stays);
  wait(state_.builder, outstanding, true);
  state_.builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  order_barrier(state_.builder, only_vector_memory_stays);
}

void StageEmitter::emit(unsigned number, const StageWork &work) {
  const bool by_groups = state_.schedule.group_barriers;
  for (size_t chunk = 0; chunk < state_.chunks.size(); ++chunk) {
    const bool is_last = chunk + 1 == state_.chunks.size();
    if (is_last && work.reads_next)
      wait_for_copies(work.outstanding);
    const std::vector<MemorySlot> slots = slots_of_chunk(number, chunk, work);
    emit_chunk(number, chunk, slots);
    if (!by_groups) {
      order_barrier(state_.builder, arithmetic_crosses);
      continue;
    }
    if (is_last)
      order_barrier(state_.builder, only_vector_memory_stays);
    order_by_groups(chunk, slots);
  }
  if (!by_groups)
    order_barrier(state_.builder, only_vector_memory_stays);
  if (work.issues)
    offsets_.advance();
}

/// Those that the next chunk needs, which may be the first one of the next stage.
std::vector<StageEmitter::MemorySlot> StageEmitter::reads_of_chunk(unsigned number, size_t chunk) {
  const bool is_last = chunk + 1 == state_.chunks.size();
  const unsigned read_stage = is_last ? number + 1 : number;
  std::vector<MemorySlot> reads;
  for (LoadGroup group : state_.chunk_reads[is_last ? 0 : chunk + 1])
    reads.push_back({state_.pipeline.loads[group.load].image->reads_of_group(), [this, group, read_stage] {
                       stage(read_stage).loaded[group.load][group.group] =
                           state_.memory.read(group, read_stage % state_.schedule.buffers);
                     }});
  return reads;
}

/// In the first chunk loads of a later stage, in the last one copies.
std::vector<StageEmitter::MemorySlot> StageEmitter::vector_memory_of_chunk(unsigned number, size_t chunk) {
  const unsigned loaded_stage = number + state_.schedule.load_distance(),
                 copied_stage = number + state_.schedule.buffers;
  const std::vector<PipelinedLoad> &loads = state_.pipeline.loads;
  std::vector<MemorySlot> vector_memory;
  if (chunk == 0)
    for (LoadGroup group : direct_groups(state_.pipeline))
      vector_memory.push_back({0, [this, group, loaded_stage] {
                                 stage(loaded_stage).loaded[group.load][group.group] =
                                     state_.memory.load(group, offsets_.current(group.load));
                               }});
  if (chunk + 1 == state_.chunks.size())
    for (size_t load = 0; load < loads.size(); ++load)
      for (size_t n = 0; n < loads[load].copies.first.size(); ++n)
        vector_memory.push_back({0, [this, load, n, copied_stage] {
                                   state_.memory.copy(load, n, copied_stage % state_.schedule.buffers,
                                                      offsets_.current(load));
                                 }});
  return vector_memory;
}

/// Loads and copies in turn with reads.
std::vector<StageEmitter::MemorySlot> StageEmitter::slots_of_chunk(unsigned number, size_t chunk,
                                                                   const StageWork &work) {
  std::vector<MemorySlot> vector_memory, reads;
  if (chunk + 1 < state_.chunks.size() || work.reads_next)
    reads = reads_of_chunk(number, chunk);
  if (work.issues)
    vector_memory = vector_memory_of_chunk(number, chunk);
  std::vector<MemorySlot> slots;
  for (size_t i = 0, j = 0; i < vector_memory.size() || j < reads.size();)
    if (j >= reads.size() || (i < vector_memory.size() && i * reads.size() <= j * vector_memory.size()))
      slots.push_back(std::move(vector_memory[i++]));
    else
      slots.push_back(std::move(reads[j++]));
  return slots;
}

void StageEmitter::emit_chunk(unsigned number, size_t chunk, const std::vector<MemorySlot> &slots) {
  constexpr size_t pinned = 2; ///< matrix instructions between barriers
  const std::vector<MmaStep> &steps = state_.chunks[chunk];
  const Spacing spacing(steps.size(), slots.size());
  size_t next = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    llvm::Value *&accumulator = accumulators_.tile(steps[i].accumulator, state_.iteration.tile(steps[i]));
    accumulator = state_.iteration.multiply(steps[i], stage(number), accumulator);
    if (i % spacing.distance == 0)
      for (size_t n = 0; n < spacing.at_once && next < slots.size(); ++n)
        slots[next++].emit();
    if (!state_.schedule.group_barriers && (i + 1) % pinned == 0)
      order_barrier(state_.builder, arithmetic_crosses);
  }
  while (next < slots.size())
    slots[next++].emit();
}

void StageEmitter::order_by_groups(size_t chunk, const std::vector<MemorySlot> &slots) {
  const size_t steps = state_.chunks[chunk].size();
  const Spacing spacing(steps, slots.size());
  size_t next = 0;
  for (size_t i = 0; i < steps; i += spacing.distance) {
    group_barrier(state_.builder, matrix_group, std::min(spacing.distance, steps - i));
    for (size_t n = 0; n < spacing.at_once && next < slots.size(); ++n) {
      const unsigned reads = slots[next++].reads;
      group_barrier(state_.builder, reads != 0 ? lds_read_group : vector_memory_group, std::max(1U, reads));
    }
  }
}

} // namespace nereid::codegen
