// The accumulators of an LDS pipeline.
#include "codegen/lds_pipeline/accumulators.h"

#include "codegen/lower/opaque_value.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

void Accumulators::start() {
  llvm::IRBuilder<> &builder = state_.builder;
  const LayoutChoice &layouts = state_.lowering.context.plan.layouts;
  for (size_t i = 0; i < state_.pipeline.loop.accumulators.size(); ++i) {
    const DotPlan &plan = layouts.dots.at(state_.pipeline.loop.accumulators[i].dots.front());
    const Registers start = state_.lowering.values.get(state_.loop.operands[i + 3], plan.result);
    const unsigned used = plan.mfma->result_registers();
    LlvmValues &tiles = tiles_.emplace_back();
    auto *type = llvm::FixedVectorType::get(start[0]->getType(), used);
    for (size_t first = 0; first < start.size(); first += used) {
      llvm::Value *tile = llvm::Constant::getNullValue(type);
      for (unsigned r = 0; r < used; ++r)
        tile = builder.CreateInsertElement(tile, start[first + r], r);
      tiles.push_back(in_accumulators(tile));
    }
  }
}

std::vector<llvm::Value **> Accumulators::all() {
  std::vector<llvm::Value **> result;
  for (LlvmValues &tiles : tiles_)
    for (llvm::Value *&tile : tiles)
      result.push_back(&tile);
  return result;
}

void Accumulators::note_exit() { exits_.emplace_back(state_.builder.GetInsertBlock(), tiles_); }

void Accumulators::merge() {
  const auto count = static_cast<unsigned>(exits_.size());
  for (size_t i = 0; i < tiles_.size(); ++i)
    for (size_t tile = 0; tile < tiles_[i].size(); ++tile) {
      llvm::PHINode *phi = state_.builder.CreatePHI(tiles_[i][tile]->getType(), count);
      for (const auto &[block, tiles] : exits_)
        phi->addIncoming(tiles[i][tile], block);
      tiles_[i][tile] = phi;
    }
  exits_.clear();
  for (llvm::Value **tile : all())
    *tile = in_accumulators(*tile);
}

void Accumulators::define_results() {
  for (size_t i = 0; i < tiles_.size(); ++i) {
    Registers registers;
    for (llvm::Value *tile : tiles_[i])
      for (unsigned r = 0; r < llvm::cast<llvm::FixedVectorType>(tile->getType())->getNumElements(); ++r)
        registers.push_back(state_.builder.CreateExtractElement(tile, r));
    const ir::ValueId result = state_.loop.results[i];
    state_.lowering.values.define(result, assigned_layout(state_.lowering.context.plan, result), registers);
  }
}

/// Accumulators that are to live in AGPRs start and end there: else LLVM moves each of them once an
/// iteration.
llvm::Value *Accumulators::in_accumulators(llvm::Value *tile) const {
  if (!state_.schedule.accumulators_in_agprs)
    return tile;
  return opaque_value(state_.builder, tile, OpaqueIn::Accumulator);
}

} // namespace nereid::codegen
