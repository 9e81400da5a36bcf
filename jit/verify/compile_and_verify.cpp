#include <cstdio>

#include <fmt/format.h>

#include "jit/verify/wait_verifier.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {
namespace {

using Contracts = std::vector<codegen::PipelineContract>;

Result<Contracts> contracts_of(const llvm::Module &module) {
  Contracts contracts;
  for (const llvm::Function &function : module) {
    if (!function.hasFnAttribute(codegen::pipeline_contract_attribute))
      continue;
    const llvm::StringRef text =
        function.getFnAttribute(codegen::pipeline_contract_attribute).getValueAsString();
    std::optional<Contracts> found = codegen::parse_contracts({text.data(), text.size()});
    if (!found)
      return nereid_error("the promises of a staged loop cannot be read: " + text.str(),
                          "Please report the kernel");
    contracts.insert(contracts.end(), found->begin(), found->end());
  }
  return contracts;
}

std::optional<std::string> unproven(const Binary &binary, const Contracts &contracts) {
  if (contracts.empty())
    return std::nullopt;
  Result<std::vector<MachineFunction>> functions = read_functions(binary.code_object);
  if (!functions)
    return functions.error().message;
  for (const MachineFunction &function : *functions)
    for (const codegen::PipelineContract &contract : contracts)
      if (auto why = verify_waits(function, contract))
        return why;
  return std::nullopt;
}

} // namespace

Result<Binary> compile_and_verify(const Compiler &compiler, const ModuleMaker &make, JitTimes &times) {
  Contracts contracts;
  const ModuleMaker with_contract = [&](llvm::LLVMContext &context) -> Result<std::unique_ptr<llvm::Module>> {
    Result<std::unique_ptr<llvm::Module>> module = make(context);
    if (!module)
      return module;
    Result<Contracts> found = contracts_of(**module);
    if (!found)
      return found.error();
    contracts = std::move(*found);
    return module;
  };
  Result<Binary> binary = compiler.compile(with_contract, times);
  if (!binary)
    return binary;
  std::optional<std::string> why = unproven(*binary, contracts);
  if (!why)
    return binary;
  fmt::print(stderr,
             "nereid: warning: a kernel's waits are not proven, it waits for everything instead: {}\n", *why);
  binary = compiler.compile(waiting_for_everything(with_contract), times);
  if (!binary)
    return binary;
  binary->waits = Waits::Everything;
  if (std::optional<std::string> still = unproven(*binary, contracts))
    return nereid_error("the waits of a staged loop are not proven: " + *still,
                        "Use stages=1, and please report the kernel");
  return binary;
}

} // namespace nereid::jit
