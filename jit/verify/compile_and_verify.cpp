// Compiling kernels whose waits are counted: machine code is used only if its waits are verified.
#include "jit/verify/compile_and_verify.h"

#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "jit/verify/wait_verifier.h"

namespace nereid::jit {
namespace {

using Contracts = std::vector<codegen::PipelineContract>;

Status verify(const Binary &binary, const Contracts &contracts) {
  if (contracts.empty())
    return {};
  NEREID_TRY(const std::vector<MachineFunction> functions, read_functions(binary.code_object));
  for (const MachineFunction &function : functions)
    for (const codegen::PipelineContract &contract : contracts)
      if (Status kept = verify_waits(function, contract);
          !kept && !is_left_out(function, contract, contracts))
        return kept;
  return {};
}

/// Compilers know the lines of the canonical form; a user wants those of the kernel.
Error at_source(Error error, const ir::Function &function) {
  const unsigned line = error.where.line;
  if (!error.where.file.empty() || line == 0)
    return error;
  error.where = {};
  ir::for_each_op(function, [&](const ir::Op &op, unsigned own) {
    if (own == line)
      error.where = function.location(op);
  });
  return error;
}

} // namespace

Result<Binary> compile_and_verify(const Compiler &compiler, const ir::Function &function, JitTimes &times) {
  Contracts contracts;
  Result<Binary> compiled = compiler.compile(lowered(function, Waits::Counted, &contracts), times);
  if (!compiled)
    return at_source(compiled.error(), function);
  Binary counted = *std::move(compiled);
  const Status verified = verify(counted, contracts);
  if (verified)
    return counted;
  log(LogLevel::Warning,
      fmt::format("the waits of kernel '{}' are not verified, it waits for everything instead: {}",
                  function.name, verified.error().message));
  NEREID_TRY(Binary careful, compiler.compile(lowered(function, Waits::Everything, &contracts), times));
  careful.waits = Waits::Everything;
  if (const Status still = verify(careful, contracts); !still)
    return nereid_error("the waits of an LDS pipeline are not verified: " + still.error().message,
                        "Use stages=1, and please report the kernel");
  return careful;
}

} // namespace nereid::jit
