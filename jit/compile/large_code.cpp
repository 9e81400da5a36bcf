// Kernels whose tiles are far larger than the registers: refused, or compiled in a cheaper way.
#include "jit/compile/large_code.h"

#include <fmt/format.h>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace nereid::jit {
namespace {

/// Instructions of a block from which on it is cut, and of a piece. LLVM 22.1 schedules 57,000 of one block
/// in 8 s, in pieces of 1,000 in 0.4 s.
constexpr unsigned long_block = 8000, piece = 1000;

/// Beyond the lane's registers. 4 KiB of scratch memory hold 1024 of them; but the scheduler can bring loads
/// to their uses, so that a demand up to three times as high may fit.
constexpr unsigned max_spilled_registers = 3 * 4096 / 4;

} // namespace

void cut_long_blocks(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel) {
    if (block.size() < long_block)
      continue;
    unsigned count = 0;
    for (auto at = block.getFirstInsertionPt(); at != block.end(); ++at)
      if (++count % piece == 0) {
        llvm::IRBuilder<> builder(&block, at);
        builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {builder.getInt32(0)});
      }
  }
}

unsigned size_of_code(const llvm::Function &kernel) {
  const auto elements = [](const llvm::Type &type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
    return vector && vector->getScalarSizeInBits() < 32 ? vector->getNumElements() : 1;
  };
  unsigned size = 0;
  for (const llvm::Instruction &instruction : llvm::instructions(kernel))
    size += elements(*instruction.getType());
  return size;
}

Status check_demand(const llvm::Function &kernel, const RegisterDemand &demand, unsigned waves) {
  const unsigned available = registers_of_lane(waves);
  if (demand.registers <= available + max_spilled_registers)
    return {};
  return user_error(fmt::format("kernel '{}' needs about {} vector registers a lane at a time, which has {} "
                                "with {} waves",
                                kernel.getName().str(), demand.registers, available, waves),
                    "Use smaller tiles or more waves, or store tiles before the next are loaded",
                    {"", demand.line});
}

std::string large_code_identity() {
  return fmt::format("{} {} {} {}", large_code, long_block, piece, max_spilled_registers);
}

} // namespace nereid::jit
