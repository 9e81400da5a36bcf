#include "jit/compiler.h"

#include <optional>

#include "jit/code_object_info.h"
#include "jit/identity.h"
#include "jit/linker.h"
#include "jit/llvm_guard.h"
#include "jit/llvm_job.h"
#include "jit/stopwatch.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace nereid::jit {
namespace {

constexpr const char *pass_options = "O3";

std::unique_ptr<llvm::TargetMachine> target_machine() {
  initialize_amdgpu();
  std::string error;
  llvm::Triple triple(target_triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.MCOptions.AsmVerbose = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, target_cpu, "", options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

class EmbeddedCompiler : public Compiler {
public:
  EmbeddedCompiler()
      : identity_("embedded LLVM " + llvm_identity() + " LLD " + lld_identity() + " passes " + pass_options +
                  " options " + llvm_options_text()) {}

  std::string name() const override { return std::string("embedded LLVM ") + LLVM_VERSION_STRING; }
  const std::string &identity() const override { return identity_; }

  Result<Binary> compile(const ModuleMaker &make, JitTimes &times) const override {
    Result<EmittedFile> object = emit(make, llvm::CodeGenFileType::ObjectFile, times);
    if (!object)
      return object.error();
    Stopwatch watch;
    Result<std::vector<uint8_t>> linked = link_code_object(object->bytes);
    if (!linked)
      return linked.error();
    times.link += watch.milliseconds();
    Result<unsigned> waves = read_waves(*linked);
    if (!waves)
      return waves.error();
    Result<Resources> resources = read_resources(*linked, *waves);
    if (!resources)
      return resources.error();
    return Binary{std::move(*linked), *resources, name()};
  }

  Result<std::string> assembly(const ModuleMaker &make) const override {
    JitTimes times;
    Result<EmittedFile> text = emit(make, llvm::CodeGenFileType::AssemblyFile, times);
    if (!text)
      return text.error();
    return std::move(text->bytes);
  }

private:
  struct EmittedFile {
    std::string bytes;
  };

  static Result<EmittedFile> emit(const ModuleMaker &make, llvm::CodeGenFileType type, JitTimes &times) {
    EmittedFile file;
    Status done = run_llvm_job("compiling", make, times, [&](LlvmJob &job) -> Status {
      std::unique_ptr<llvm::TargetMachine> machine = target_machine();
      if (!machine)
        return nereid_error("this LLVM has no AMDGPU target", "Build Nereid with an LLVM that has it");
      Stopwatch watch;
      job.module->setTargetTriple(machine->getTargetTriple());
      job.module->setDataLayout(machine->createDataLayout());
      optimize(*job.module, *machine);
      times.opt += watch.restart();

      llvm::raw_svector_ostream stream(job.output);
      llvm::legacy::PassManager passes;
      passes.add(new llvm::TargetLibraryInfoWrapperPass(machine->getTargetTriple()));
      if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
        return nereid_error("this LLVM cannot emit code for gfx950");
      passes.run(*job.module);
      times.codegen += watch.milliseconds();
      file.bytes.assign(job.output.begin(), job.output.end());
      return {};
    });
    if (!done)
      return done.error();
    return file;
  }

  std::string identity_;
};

} // namespace

const Compiler &embedded_compiler() {
  static const EmbeddedCompiler compiler;
  return compiler;
}

} // namespace nereid::jit
