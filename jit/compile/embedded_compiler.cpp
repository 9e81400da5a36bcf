// The compiler that is linked in: LLVM's passes and back end, its assembler, and LLD.
#include "jit/compile/compiler.h"

#include <fmt/format.h>

#include "jit/compile/assembler.h"
#include "jit/compile/identity.h"
#include "jit/compile/linker.h"
#include "jit/compile/llvm_guard.h"
#include "jit/compile/llvm_job.h"
#include "jit/compile/pass_pipeline.h"
#include "jit/compile/stopwatch.h"
#include "jit/compile/target_machines.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {
namespace {

class EmbeddedCompiler : public Compiler {
public:
  EmbeddedCompiler()
      : identity_("embedded LLVM " + llvm_identity() + " LLD " + lld_identity() + " passes " +
                  pass_pipeline_identity() + " assembled options " + llvm_options_text()) {}

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
    initialize_amdgpu();
    NEREID_CHECK(set_llvm_options());
    std::future<std::unique_ptr<llvm::TargetMachine>> making = start_target_machine();
    return run_llvm_job("compiling", make, times, [&](LlvmJob &job) -> Status {
      std::unique_ptr<llvm::TargetMachine> machine = making.get();
      if (!machine)
        return nereid_error("this LLVM has no AMDGPU target", "Build Nereid with an LLVM that has it");
      Stopwatch watch;
      job.module->setTargetTriple(machine->getTargetTriple());
      job.module->setDataLayout(machine->createDataLayout());
      NEREID_CHECK(optimize(*job.module, *machine));
      times.opt += watch.restart();
      NEREID_CHECK(generate_assembly(*job.module, *machine, job.text));
      if (text)
        *text = llvm::StringRef(job.text.data(), job.text.size()).str();
      if (object && job.errors.empty()) {
        NEREID_CHECK(assemble({job.text.data(), job.text.size()}, job.object, job.messages));
        object->assign(job.object.begin(), job.object.end());
      }
      return_target_machine(std::move(machine));
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
