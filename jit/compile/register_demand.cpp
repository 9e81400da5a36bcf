// Liveness of vector registers on LLVM IR, before code generation spends its time.
#include "jit/compile/register_demand.h"

#include <algorithm>

#include "codegen/target/gfx950.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {
namespace {

const llvm::Value *whole(const llvm::Value *value) {
  for (;;) {
    const auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction)
      return value;
    const unsigned opcode = instruction->getOpcode();
    const bool is_piece =
        opcode == llvm::Instruction::Trunc || opcode == llvm::Instruction::BitCast ||
        opcode == llvm::Instruction::ExtractElement || opcode == llvm::Instruction::ExtractValue ||
        (opcode == llvm::Instruction::LShr && llvm::isa<llvm::Constant>(instruction->getOperand(1)));
    if (!is_piece)
      return value;
    value = instruction->getOperand(0);
  }
}

class Liveness {
public:
  Liveness(const llvm::Function &kernel, llvm::function_ref<bool(const llvm::Value &)> is_uniform)
      : kernel_(kernel), layout_(kernel.getParent()->getDataLayout()) {
    for (const llvm::BasicBlock &block : kernel)
      for (const llvm::Instruction &instruction : block)
        if (whole(&instruction) == &instruction && !is_uniform(instruction))
          if (const unsigned size = registers_of(*instruction.getType())) {
            number_[&instruction] = static_cast<unsigned>(size_.size());
            size_.push_back(size);
          }
  }

  RegisterDemand run() {
    llvm::DenseMap<const llvm::BasicBlock *, llvm::BitVector> live_in;
    for (bool changed = true; changed;) {
      changed = false;
      for (const llvm::BasicBlock &block : llvm::reverse(kernel_)) {
        llvm::BitVector live = live_out(block, live_in);
        for (const llvm::Instruction &instruction : llvm::reverse(block))
          step(instruction, live);
        llvm::BitVector &known = live_in[&block];
        changed = changed || known != live;
        known = std::move(live);
      }
    }
    RegisterDemand most;
    for (const llvm::BasicBlock &block : kernel_)
      find_most(block, live_out(block, live_in), most);
    return most;
  }

private:
  /// 0 for what is in scalar registers or in none.
  unsigned registers_of(const llvm::Type &type) const {
    if (!type.isSized() || type.isIntegerTy(1))
      return 0;
    const uint64_t bits = layout_.getTypeSizeInBits(const_cast<llvm::Type *>(&type));
    return static_cast<unsigned>((bits + 31) / 32);
  }

  std::optional<unsigned> number(const llvm::Value *value) const {
    const auto found = number_.find(whole(value));
    return found == number_.end() ? std::nullopt : std::optional(found->second);
  }

  llvm::BitVector live_out(const llvm::BasicBlock &block,
                           const llvm::DenseMap<const llvm::BasicBlock *, llvm::BitVector> &live_in) const {
    llvm::BitVector live(static_cast<unsigned>(size_.size()));
    for (const llvm::BasicBlock *next : llvm::successors(&block)) {
      if (const auto known = live_in.find(next); known != live_in.end())
        live |= known->second;
      for (const llvm::PHINode &phi : next->phis())
        if (const auto incoming = number(phi.getIncomingValueForBlock(&block)))
          live.set(*incoming);
    }
    return live;
  }

  void step(const llvm::Instruction &instruction, llvm::BitVector &live) const {
    if (const auto own = number_.find(&instruction); own != number_.end())
      live.reset(own->second);
    if (!llvm::isa<llvm::PHINode>(instruction))
      for (const llvm::Use &operand : instruction.operands())
        if (const auto used = number(operand.get()))
          live.set(*used);
  }

  void find_most(const llvm::BasicBlock &block, llvm::BitVector live, RegisterDemand &most) const {
    int64_t registers = 0;
    for (const unsigned value : live.set_bits())
      registers += size_[value];
    for (const llvm::Instruction &instruction : llvm::reverse(block)) {
      if (registers > most.registers) {
        const llvm::DebugLoc &location = instruction.getDebugLoc();
        most = {static_cast<unsigned>(registers), location ? location.getLine() : most.line};
      }
      if (const auto own = number_.find(&instruction); own != number_.end() && live.test(own->second)) {
        live.reset(own->second);
        registers -= size_[own->second];
      }
      if (!llvm::isa<llvm::PHINode>(instruction))
        for (const llvm::Use &operand : instruction.operands())
          if (const auto used = number(operand.get()); used && !live.test(*used)) {
            live.set(*used);
            registers += size_[*used];
          }
    }
  }

  const llvm::Function &kernel_;
  const llvm::DataLayout &layout_;
  llvm::DenseMap<const llvm::Value *, unsigned> number_;
  std::vector<unsigned> size_; ///< in registers, by number
};

} // namespace

RegisterDemand register_demand(const llvm::Function &kernel,
                               llvm::function_ref<bool(const llvm::Value &)> is_uniform) {
  return Liveness(kernel, is_uniform).run();
}

unsigned registers_of_lane(unsigned waves) {
  namespace gfx950 = codegen::gfx950;
  return gfx950::registers_of_wave(std::max(waves / gfx950::simds, 1u));
}

} // namespace nereid::jit
