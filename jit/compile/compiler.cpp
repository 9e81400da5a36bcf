// Which compiler serves, and what both have in common.
#include "jit/compile/compiler.h"

#include <cstdlib>

#include "jit/compile/code_object_info.h"
#include "jit/compile/compiler_availability.h"
#include "jit/compile/llvm_job.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::jit {

Result<Binary> linked_binary(std::vector<uint8_t> code_object, const Compiler &compiler) {
  NEREID_TRY(const Resources resources, read_resources(code_object));
  return Binary{std::move(code_object), resources, compiler.name()};
}

Result<std::string> llvm_ir_text(const ModuleMaker &make, JitTimes &times) {
  std::string text;
  NEREID_CHECK(run_llvm_job("lowering", make, times, [&](LlvmJob &job) -> Status {
    llvm::raw_string_ostream stream(text);
    job.module->print(stream, nullptr);
    return {};
  }));
  return text;
}

Result<const Compiler *> compiler_named(std::string_view choice) {
  if (choice == "embedded")
    return &embedded_compiler();
  if (choice == "comgr")
    return comgr_compiler();
  if (choice != "auto" && !choice.empty())
    return user_error("unknown compiler '" + std::string(choice) + "'",
                      "NEREID_COMPILER is auto, embedded or comgr");
  if (Result<const Compiler *> comgr = comgr_compiler())
    return comgr;
  return &embedded_compiler();
}

Result<const Compiler *> chosen_compiler() {
  const char *choice = std::getenv("NEREID_COMPILER");
  return compiler_named(choice ? choice : "auto");
}

} // namespace nereid::jit

namespace nereid {

std::vector<CompilerAvailability> compilers() {
  const Result<const jit::Compiler *> comgr = jit::comgr_compiler();
  const jit::Compiler &embedded = jit::embedded_compiler();
  const Result<const jit::Compiler *> chosen = jit::chosen_compiler();
  auto is_chosen = [&](const jit::Compiler *compiler) { return chosen && *chosen == compiler; };
  return {
      {"comgr", comgr.ok(), comgr && is_chosen(*comgr), comgr ? (*comgr)->identity() : comgr.error().message},
      {"embedded", true, is_chosen(&embedded), embedded.identity()}};
}

} // namespace nereid
