// Target machines that wait for the next compile.
#include "jit/compile/target_machines.h"

#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "codegen/lower/target_attributes.h"
#include "jit/compile/compiler.h"
#include "jit/compile/llvm_job.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetOptions.h"

namespace nereid::jit {
namespace {

using Machine = std::unique_ptr<llvm::TargetMachine>;

struct Pool {
  std::mutex mutex;
  std::vector<Machine> machines;
};

/// Never destroyed: threads may compile while the process exits.
Pool &pool() {
  static auto &instance = *new Pool;
  return instance;
}

std::optional<Machine> waiting_machine() {
  const std::lock_guard lock(pool().mutex);
  if (pool().machines.empty())
    return std::nullopt;
  Machine machine = std::move(pool().machines.back());
  pool().machines.pop_back();
  return machine;
}

/// The tables belong to the attributes that all our kernels have.
void make_tables(llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  llvm::Module module("tables", context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", module);
  codegen::set_chip_attributes(*function);
  (void)machine.getSubtargetImpl(*function);
}

Machine make_machine() {
  initialize_amdgpu();
  std::string error;
  const llvm::Triple triple(target_triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  Machine machine(target->createTargetMachine(triple, target_cpu, "", llvm::TargetOptions(),
                                              llvm::Reloc::PIC_, std::nullopt,
                                              llvm::CodeGenOptLevel::Aggressive));
  if (machine)
    make_tables(*machine);
  return machine;
}

} // namespace

Machine take_target_machine() {
  if (std::optional<Machine> machine = waiting_machine())
    return *std::move(machine);
  return make_machine();
}

std::future<Machine> start_target_machine() {
  if (std::optional<Machine> machine = waiting_machine()) {
    std::promise<Machine> there;
    there.set_value(*std::move(machine));
    return there.get_future();
  }
  try {
    return std::async(std::launch::async, make_machine);
  } catch (const std::system_error &) {
    return std::async(std::launch::deferred, make_machine); // no thread to be had
  }
}

void return_target_machine(Machine machine) {
  const std::lock_guard lock(pool().mutex);
  pool().machines.push_back(std::move(machine));
}

} // namespace nereid::jit
