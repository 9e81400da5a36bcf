// An LDS pipeline from its plan: what stands around its loops.
#include "codegen/lds_pipeline/emitter.h"

#include <algorithm>
#include <unordered_map>

#include <llvm/IR/InlineAsm.h>

#include "codegen/assign/memory_layout.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

void emit_lds_pipeline(Lowering &parts, const LdsPipeline &pipeline) {
  LdsPipelineEmitter(parts, pipeline).emit();
}

LdsPipelineEmitter::LdsPipelineEmitter(Lowering &lowering, const LdsPipeline &pipeline)
    : lowering_(lowering), pipeline_(pipeline), schedule_(pipeline.schedule), loop_(*pipeline.loop.op),
      body_(loop_.blocks.front()), builder_(lowering.context.builder),
      template_(lowering, pipeline, IterationTemplate::Masks::KnownTrue),
      memory_(lowering, pipeline.loads, pipeline.schedule.buffers, OperandMemory::Kind::Pipeline),
      offsets_(lowering.context.builder), chunks_(mma_chunks(pipeline, lowering.context.plan.layouts)) {
  for (const PipelinedLoad &load : pipeline.loads)
    offsets_.add_load(load.offset_step(), load.through_lds() ? schedule_.buffers : schedule_.load_distance());
}

void LdsPipelineEmitter::emit() {
  if (!template_.is_clonable())
    lowering_.context.fail(loop_, "the body of an LDS pipeline has effects",
                           "this is a defect of Nereid; please report it with the kernel");
  list_reads();
  note_contracts();
  for (const PipelinedLoad &load : pipeline_.loads)
    lowering_.order.before(*load.op);
  if (is_nested())
    lowering_.order.barrier(); // iterations of the loop around it may still read what is copied now
  lowering_.context.set_line(loop_);
  count_iterations();
  RegionCache::Scope region(lowering_.cache);
  lower_scalars(first_);
  memory_.emit_addresses();
  template_.clone_invariants();
  start_accumulators();
  emit_main_loop();
  if (!pipeline_.loop.conditions.empty())
    emit_remainder();
  define_results();
}

bool LdsPipelineEmitter::is_nested() const {
  return lowering_.context.plan.index.block(loop_) != &lowering_.context.function().body;
}

void LdsPipelineEmitter::list_reads() {
  std::vector<std::vector<bool>> seen;
  for (const PipelinedLoad &load : pipeline_.loads)
    seen.emplace_back(load.groups.first.size(), !load.through_lds());
  chunk_reads_.resize(chunks_.size());
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk)
    for (const MmaStep &step : chunks_[chunk]) {
      std::vector<LoadGroup> groups;
      template_.append_groups(step, groups);
      for (LoadGroup group : groups)
        if (!seen[group.load][group.group]) {
          seen[group.load][group.group] = true;
          chunk_reads_[chunk].push_back(group);
        }
    }
}

/// For whoever checks the machine code.
void LdsPipelineEmitter::note_contracts() {
  for (size_t i = 0; i < pipeline_.loads.size(); ++i) {
    const PipelinedLoad &load = pipeline_.loads[i];
    if (!load.through_lds())
      continue;
    unsigned reads = 0;
    for (const std::vector<LoadGroup> &groups : chunk_reads_)
      reads += static_cast<unsigned>(
          std::count_if(groups.begin(), groups.end(), [&](LoadGroup group) { return group.load == i; }));
    const unsigned line = lowering_.context.plan.index.line(*load.op);
    const auto copies = static_cast<unsigned>(load.copies.first.size());
    reads *= load.image->reads_of_group();
    lowering_.contracts.push_back({line, CodeTag::Pipeline, copies, reads, schedule_.buffers});
    if (!pipeline_.loop.conditions.empty())
      lowering_.contracts.push_back({line, CodeTag::Remainder, copies, reads, 1});
  }
}

/// Iterations in all, and those in which all conditions hold.
void LdsPipelineEmitter::count_iterations() {
  first_ = lowering_.values.scalar(loop_.operands[0]);
  last_ = lowering_.values.scalar(loop_.operands[1]);
  llvm::Value *any = builder_.CreateICmpSLT(first_, last_);
  llvm::Value *zero = builder_.getInt32(0);
  llvm::Value *step = builder_.getInt32(static_cast<uint32_t>(pipeline_.loop.step));
  llvm::Value *distance = builder_.CreateSub(last_, first_);
  llvm::Value *iterations = builder_.CreateAdd(
      builder_.CreateUDiv(builder_.CreateSub(distance, builder_.getInt32(1)), step), builder_.getInt32(1));
  total_ = builder_.CreateSelect(any, iterations, zero);
  full_ = total_;
  if (pipeline_.loop.conditions.empty())
    return;
  llvm::Value *complete = builder_.CreateUDiv(distance, step);
  llvm::Value *holds = builder_.CreateAnd(any, builder_.CreateICmpNE(complete, zero));
  llvm::Value *before_last = builder_.CreateSub(complete, builder_.getInt32(1));
  RegionCache::Scope region(lowering_.cache);
  lower_scalars(index_at(before_last));
  for (const auto &[value, condition] : pipeline_.loop.conditions) {
    llvm::Value *bound = builder_.CreateSExt(lowering_.values.scalar(condition.bound), builder_.getInt64Ty());
    llvm::Value *rising = max_element(condition.rising);
    holds = builder_.CreateAnd(holds, condition.inclusive ? builder_.CreateICmpSLE(rising, bound)
                                                          : builder_.CreateICmpSLT(rising, bound));
  }
  full_ = builder_.CreateSelect(holds, complete, zero);
}

void LdsPipelineEmitter::lower_scalars(llvm::Value *index) {
  lowering_.values.define_scalar(body_.arguments[0], index);
  for (const ir::Op &op : body_.ops)
    if (op.results.size() == 1 && lowering_.context.type(op.result()).rank() == 0 &&
        ir::facts(op.opcode).effect == ir::OpEffect::Pure)
      lowering_.ops.emit(op);
}

/// Operands first.
llvm::Value *LdsPipelineEmitter::max_element(ir::ValueId root) {
  std::unordered_map<ir::ValueId, llvm::Value *> known;
  std::vector<ir::ValueId> open = {root};
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    const size_t before = open.size();
    const ir::Op *op =
        lowering_.context.type(value).rank() == 0 ? nullptr : lowering_.context.plan.index.definition(value);
    for (size_t i = 0; op && i < op->operands.size(); ++i)
      if (known.count(op->operands[i]) == 0)
        open.push_back(op->operands[i]);
    if (open.size() != before)
      continue;
    open.pop_back();
    if (op && op->opcode == ir::Opcode::Add)
      known[value] = builder_.CreateAdd(known.at(op->operands[0]), known.at(op->operands[1]));
    else if (op && !op->operands.empty())
      known[value] = known.at(op->operands[0]);
    else
      known[value] = max_of_source(value);
  }
  return known.at(root);
}

llvm::Value *LdsPipelineEmitter::max_of_source(ir::ValueId value) {
  const ir::Type &type = lowering_.context.type(value);
  llvm::Type *i64 = builder_.getInt64Ty();
  if (type.rank() == 0)
    return builder_.CreateSExt(lowering_.values.scalar(value), i64);
  const ir::Op &op = *lowering_.context.plan.index.definition(value);
  if (op.opcode == ir::Opcode::Arange)
    return builder_.getInt64(op.integer("start") + type.shape[0] - 1);
  const LinearLayout layout = default_layout(type.shape, lowering_.context.function().options.waves);
  return builder_.CreateSExt(lowering_.values.compute(op, 0, layout)[0], i64);
}

llvm::Value *LdsPipelineEmitter::index_at(llvm::Value *iteration) {
  llvm::Value *step = builder_.getInt32(static_cast<uint32_t>(pipeline_.loop.step));
  return builder_.CreateAdd(first_, builder_.CreateMul(iteration, step));
}

void LdsPipelineEmitter::start_accumulators() {
  for (size_t i = 0; i < pipeline_.loop.accumulators.size(); ++i) {
    const DotPlan &plan = lowering_.context.plan.layouts.dots.at(pipeline_.loop.accumulators[i].dots.front());
    const Registers start = lowering_.values.get(loop_.operands[i + 3], plan.result);
    const unsigned used = plan.mfma->result_registers();
    LlvmValues &tiles = accumulators_.emplace_back();
    auto *type = llvm::FixedVectorType::get(start[0]->getType(), used);
    for (size_t first = 0; first < start.size(); first += used) {
      llvm::Value *tile = llvm::Constant::getNullValue(type);
      for (unsigned r = 0; r < used; ++r)
        tile = builder_.CreateInsertElement(tile, start[first + r], r);
      tiles.push_back(in_accumulators(tile));
    }
  }
}

void LdsPipelineEmitter::define_results() {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    Registers registers;
    for (llvm::Value *tile : accumulators_[i])
      for (unsigned r = 0; r < llvm::cast<llvm::FixedVectorType>(tile->getType())->getNumElements(); ++r)
        registers.push_back(builder_.CreateExtractElement(tile, r));
    lowering_.values.define(loop_.results[i], assigned_layout(lowering_.context.plan, loop_.results[i]),
                            registers);
  }
}

void LdsPipelineEmitter::keep_in_accumulators() {
  for (LlvmValues &tiles : accumulators_)
    for (llvm::Value *&tile : tiles)
      tile = in_accumulators(tile);
}

/// Accumulators that are to live in AGPRs start and end there: else LLVM moves each of them once an
/// iteration.
llvm::Value *LdsPipelineEmitter::in_accumulators(llvm::Value *tile) {
  if (!schedule_.accumulators_in_agprs)
    return tile;
  auto *signature = llvm::FunctionType::get(tile->getType(), {tile->getType()}, false);
  return builder_.CreateCall(signature, llvm::InlineAsm::get(signature, "", "=a,0", false), {tile});
}

} // namespace nereid::codegen
