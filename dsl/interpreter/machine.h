#pragma once

#include <array>

#include "base/result.h"
#include "dsl/interpreter/frame.h"

namespace nereid::interpreter {

/// Runs programs of a launch, one after the other.
class Machine {
public:
  Machine(const Launch &launch, std::span<const uint64_t> arguments);
  Status run(const std::array<uint32_t, 3> &program);

private:
  Status run_block(const ir::Block &block);
  Status run_op(const ir::Op &op);
  Status run_for(const ir::Op &op);
  Status run_while(const ir::Op &op);
  Status run_if(const ir::Op &op);
  /// Reductions and scans with a combining function (folds.cpp).
  Status run_fold(const ir::Op &op);

  Frame frame_;
  uint64_t while_iterations_ = 0; ///< of this program
};

} // namespace nereid::interpreter
