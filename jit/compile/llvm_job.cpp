// One guarded run of LLVM: module, verification, passes; its diagnostics become errors.
#include "jit/compile/llvm_job.h"

#include <mutex>

#include "jit/compile/llvm_guard.h"
#include "jit/compile/stopwatch.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
void LLVMInitializeAMDGPUDisassembler();
}

namespace nereid::jit {
namespace {

class Diagnostics : public llvm::DiagnosticHandler {
public:
  explicit Diagnostics(LlvmJob &job) : job_(job) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(job_.errors);
    if (!job_.errors.empty())
      stream << "; ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    job_.resource_limit |= info.getKind() == llvm::DK_ResourceLimit;
    return true;
  }

private:
  LlvmJob &job_;
};

Status make_and_run(LlvmJob &job, const char *what, const ModuleMaker &make, JitTimes &times,
                    llvm::function_ref<Status(LlvmJob &)> steps) {
  job.context.setDiagnosticHandler(std::make_unique<Diagnostics>(job));
  Stopwatch watch;
  NEREID_TRY(job.module, make(job.context));
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*job.module, &stream))
    return nereid_error(std::string(what) + ": the LLVM IR is broken: " + broken, "Please report the kernel");
  times.llvm_ir += watch.milliseconds();
  NEREID_CHECK(steps(job));
  if (job.errors.empty())
    return {};
  if (job.resource_limit)
    return user_error("the kernel exceeds a limit of gfx950: " + job.errors,
                      "Choose smaller blocks, fewer stages or more waves");
  return nereid_error(std::string(what) + ": " + job.errors, "Please report the kernel");
}

} // namespace

Status run_llvm_job(const char *what, const ModuleMaker &make, JitTimes &times,
                    llvm::function_ref<Status(LlvmJob &)> steps) {
  initialize_amdgpu();
  NEREID_CHECK(set_llvm_options());
  auto *job = new LlvmJob;
  bool returned = false;
  Status status = run_guarded(what, [&] {
    Status inner = make_and_run(*job, what, make, times, steps);
    returned = true;
    return inner;
  });
  // After a crash the job may be in any state: it is left alone for good.
  if (returned)
    delete job;
  return status;
}

void initialize_amdgpu() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUDisassembler();
  });
}

} // namespace nereid::jit
