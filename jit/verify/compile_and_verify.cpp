#include <cstdio>

#include <fmt/format.h>

#include "jit/verify/wait_verifier.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {
namespace {

using Promises = std::vector<codegen::StagedPromise>;

Result<Promises> promises_of(const llvm::Module &module) {
  Promises promises;
  for (const llvm::Function &function : module) {
    if (!function.hasFnAttribute(codegen::staged_attribute))
      continue;
    const llvm::StringRef text = function.getFnAttribute(codegen::staged_attribute).getValueAsString();
    std::optional<Promises> found = codegen::promises_in({text.data(), text.size()});
    if (!found)
      return nereid_error("the promises of a staged loop cannot be read: " + text.str(),
                          "Please report the kernel");
    promises.insert(promises.end(), found->begin(), found->end());
  }
  return promises;
}

std::optional<std::string> unproven(const Binary &binary, const Promises &promises) {
  if (promises.empty())
    return std::nullopt;
  Result<std::vector<MachineFunction>> functions = read_functions(binary.code_object);
  if (!functions)
    return functions.error().message;
  for (const MachineFunction &function : *functions)
    for (const codegen::StagedPromise &promise : promises)
      if (auto why = unproven_wait(function, promise))
        return why;
  return std::nullopt;
}

} // namespace

Result<Binary> compile_proven(const Compiler &compiler, const ModuleMaker &make, JitTimes &times) {
  Promises promises;
  const ModuleMaker noting = [&](llvm::LLVMContext &context) -> Result<std::unique_ptr<llvm::Module>> {
    Result<std::unique_ptr<llvm::Module>> module = make(context);
    if (!module)
      return module;
    Result<Promises> found = promises_of(**module);
    if (!found)
      return found.error();
    promises = std::move(*found);
    return module;
  };
  Result<Binary> binary = compiler.compile(noting, times);
  if (!binary)
    return binary;
  std::optional<std::string> why = unproven(*binary, promises);
  if (!why)
    return binary;
  fmt::print(stderr,
             "nereid: warning: a kernel's waits are not proven, it waits for everything instead: {}\n", *why);
  binary = compiler.compile(waiting_for_everything(noting), times);
  if (!binary)
    return binary;
  binary->waits = Waits::Everything;
  if (std::optional<std::string> still = unproven(*binary, promises))
    return nereid_error("the waits of a staged loop are not proven: " + *still,
                        "Use stages=1, and please report the kernel");
  return binary;
}

} // namespace nereid::jit
