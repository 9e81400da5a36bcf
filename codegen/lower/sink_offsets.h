#pragma once

namespace llvm {
class Module;
}

namespace nereid::codegen {

/// Copies the constant additions that buffer accesses' offsets end in to the accesses. LLVM's middle end
/// moves them out of loops; instruction selection looks into one block at a time and would not see that they
/// are the instruction's own offset, so that each would take a register. For after the middle end.
void sink_offsets(llvm::Module &module);

} // namespace nereid::codegen
