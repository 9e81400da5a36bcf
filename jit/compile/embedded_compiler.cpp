// The compiler that is linked in: LLVM's passes and back end, its assembler, and LLD.
#include "jit/compile/compiler.h"

#include <optional>

#include <fmt/format.h>

#include "codegen/lower/sink_offsets.h"
#include "jit/compile/assembler.h"
#include "jit/compile/identity.h"
#include "jit/compile/linker.h"
#include "jit/compile/llvm_guard.h"
#include "jit/compile/llvm_job.h"
#include "jit/compile/stopwatch.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace nereid::jit {
namespace {

constexpr const char *pass_options = "O3 assembled";

std::unique_ptr<llvm::TargetMachine> target_machine() {
  initialize_amdgpu();
  std::string error;
  llvm::Triple triple(target_triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  const llvm::TargetOptions options;
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
  codegen::sink_offsets(module);
}

class EmbeddedCompiler : public Compiler {
public:
  EmbeddedCompiler()
      : identity_("embedded LLVM " + llvm_identity() + " LLD " + lld_identity() + " passes " + pass_options +
                  " options " + llvm_options_text()) {}

  std::string name() const override { return fmt::format("embedded LLVM {}", LLVM_VERSION_STRING); }
  const std::string &identity() const override { return identity_; }

  Result<Binary> compile(const ModuleMaker &make, JitTimes &times) const override {
    std::string object;
    NEREID_CHECK(generate(make, times, nullptr, &object));
    Stopwatch watch;
    NEREID_TRY(std::vector<uint8_t> linked, link_code_object(object));
    times.link += watch.milliseconds();
    return linked_binary(std::move(linked), *this);
  }

  Result<std::string> assembly(const ModuleMaker &make) const override {
    JitTimes times;
    std::string text;
    NEREID_CHECK(generate(make, times, &text, nullptr));
    return text;
  }

private:
  /// The object is assembled from the text, so that whoever assembles the text gets the same object; LLVM's
  /// direct way differs in local symbols.
  static Status generate(const ModuleMaker &make, JitTimes &times, std::string *text, std::string *object) {
    return run_llvm_job("compiling", make, times, [&](LlvmJob &job) -> Status {
      std::unique_ptr<llvm::TargetMachine> machine = target_machine();
      if (!machine)
        return nereid_error("this LLVM has no AMDGPU target", "Build Nereid with an LLVM that has it");
      Stopwatch watch;
      job.module->setTargetTriple(machine->getTargetTriple());
      job.module->setDataLayout(machine->createDataLayout());
      optimize(*job.module, *machine);
      times.opt += watch.restart();

      llvm::raw_svector_ostream stream(job.text);
      llvm::legacy::PassManager passes;
      passes.add(new llvm::TargetLibraryInfoWrapperPass(machine->getTargetTriple()));
      if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
        return nereid_error("this LLVM cannot emit code for gfx950");
      passes.run(*job.module);
      if (text)
        *text = llvm::StringRef(job.text.data(), job.text.size()).str();
      if (object && job.errors.empty()) {
        NEREID_CHECK(assemble({job.text.data(), job.text.size()}, job.object, job.messages));
        object->assign(job.object.begin(), job.object.end());
      }
      times.codegen += watch.milliseconds();
      return {};
    });
  }

  std::string identity_;
};

} // namespace

const Compiler &embedded_compiler() {
  static const EmbeddedCompiler compiler;
  return compiler;
}

} // namespace nereid::jit
