// The kernel's frame, and where in it emission stands.
#include "codegen/lower/emit_context.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lane_moves.h"
#include "codegen/lower/target_attributes.h"

namespace nereid::codegen {

EmitContext::EmitContext(const KernelPlan &plan, llvm::Module &module)
    : plan(plan), module(module), builder(module.getContext()), kernel(*make_kernel(plan.function(), module)),
      lines(kernel) {
  builder.SetInsertPoint(new_block("entry"));
  builder.SetCurrentDebugLocation(lines.at(1));
  llvm::Value *thread = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_workitem_id_x, {});
  if (waves() == 1) {
    lane = thread;
    wave = builder.getInt32(0);
  } else {
    lane = builder.CreateAnd(thread, 63);
    wave = to_scalar_registers(builder, builder.CreateLShr(thread, 6));
  }
}

llvm::BasicBlock *EmitContext::new_block(const char *name) {
  return llvm::BasicBlock::Create(builder.getContext(), name, &kernel);
}

void EmitContext::fail(const ir::Op &op, std::string message, std::string remedy) const {
  codegen::fail(nereid_error(std::move(message), std::move(remedy), function().location(op)));
}

const ir::Op *EmitContext::wave_split_loop() const {
  const bool split = in_loop() && plan.layouts.wave_split.contains(loops_.back()->blocks.front());
  return split ? loops_.back() : nullptr;
}

void EmitContext::set_line(const ir::Op &op) {
  current_ = &op;
  builder.SetCurrentDebugLocation(lines.at(plan.index.line(op)));
}

} // namespace nereid::codegen
