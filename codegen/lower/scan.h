#pragma once

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// cumsum.
class ScanEmitter {
public:
  ScanEmitter(EmitContext &context, ExchangeEmitter &exchange, ValueMap &values)
      : context_(context), builder_(context.builder), exchange_(exchange), values_(values) {}

  void emit(const ir::Op &op);

private:
  struct Blocks;

  void join_in_registers(Blocks &blocks, unsigned bit);
  void join_over_threads(Blocks &blocks, Space space, unsigned bit);
  void carry_over(Blocks &blocks, const std::vector<uint32_t> &along);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  ExchangeEmitter &exchange_;
  ValueMap &values_;
};

} // namespace nereid::codegen
