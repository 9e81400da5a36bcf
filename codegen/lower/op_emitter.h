#pragma once

#include "codegen/lower/body_copy.h"
#include "codegen/lower/emit_context.h"

namespace nereid::codegen {

struct Lowering;

/// Operations in the order of the trace: which part emits each; branches and statements.
class OpEmitter {
public:
  explicit OpEmitter(Lowering &parts) : parts_(parts) {}

  void emit_block(const ir::Block &block, const BodyCopy &copy = {});
  void emit(const ir::Op &op, const BodyCopy &copy = {});

private:
  void emit_load(const ir::Op &op, const BodyCopy &copy);
  /// False: it is no addition that a dot is folded into.
  bool emit_folded_dot(const ir::Op &op);
  /// Values that are made wherever they are wanted are left out.
  void emit_pure_op(const ir::Op &op);
  void emit_if(const ir::Op &op);
  void define_merged(const ir::Op &op, const std::array<std::vector<Registers>, 2> &values,
                     const std::array<llvm::BasicBlock *, 2> &edges);
  void emit_assert(const ir::Op &op);

  Lowering &parts_;
};

} // namespace nereid::codegen
