#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "dsl/ir/function.h"
#include "jit/compile/compiler_availability.h"
#include "jit/compile/jit_times.h"
#include "jit/compile/resources.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace nereid::jit {

inline constexpr const char *target_triple = "amdgcn-amd-amdhsa";
inline constexpr const char *target_cpu = "gfx950";
/// The target as comgr and code objects name it.
inline constexpr const char *target_isa = "amdgcn-amd-amdhsa--gfx950";

/// What the explicit waits of a kernel wait for.
enum class Waits {
  Counted,    ///< as lowered: by count
  Everything, ///< the fallback of a kernel whose counted waits were not verified (jit/verify)
};

class Compiler;

/// What a compiler makes of a kernel.
struct Binary {
  std::vector<uint8_t> code_object;
  Resources resources;
  std::string compiler; ///< Compiler::name() of the one that made it
  Waits waits = Waits::Counted;
  std::string override_file; ///< of NEREID_OVERRIDE_DIR, where the kernel was made of one (docs/cache.md)
};

/// What a compiler gives for a linked code object: its resources are those of its metadata.
Result<Binary> linked_binary(std::vector<uint8_t> code_object, const Compiler &compiler);

/// Makes the module to compile, in the context that the compiler gives.
using ModuleMaker = std::function<Result<std::unique_ptr<llvm::Module>>(llvm::LLVMContext &)>;

/// LLVM IR in, a gfx950 code object out. Safe to use from several threads. Errors of LLVM, crashes included,
/// come back as values. Wants a large stack (large_stack.h).
class Compiler {
public:
  virtual ~Compiler() = default;

  /// For people: "embedded LLVM 22.1.8".
  virtual std::string name() const = 0;
  /// All that decides what comes out, in addition to the IR: build ids, pass options, cl::opts. Part of every
  /// key.
  virtual const std::string &identity() const = 0;

  /// Adds its milliseconds to `times` (llvm_ir, opt, codegen, link).
  virtual Result<Binary> compile(const ModuleMaker &make, JitTimes &times) const = 0;
  /// Assembler text with metadata, of which llvm-mc and ld.lld make compile()'s code object.
  virtual Result<std::string> assembly(const ModuleMaker &make) const = 0;
};

/// The module of a kernel, lowered from its IR; the function has to outlive it. `contracts`, if given,
/// receives what the machine code has to keep, whenever a module is made.
ModuleMaker lowered(const ir::Function &function, Waits waits = Waits::Counted,
                    std::vector<codegen::PipelineContract> *contracts = nullptr);
/// The code generator's plan of a kernel, for people (CompiledKernel::plan).
Result<std::string> plan_text(const ir::Function &function);
/// A kernel's LLVM IR as text. Adds its milliseconds to `times` (llvm_ir).
Result<std::string> llvm_ir_text(const ModuleMaker &make, JitTimes &times);
inline Result<std::string> llvm_ir_text(const ModuleMaker &make) {
  JitTimes unused;
  return llvm_ir_text(make, unused);
}

/// The linked LLVM 22 and LLD.
const Compiler &embedded_compiler();
/// libamd_comgr, opened at the first call; or why it cannot be used.
Result<const Compiler *> comgr_compiler();
/// As NEREID_COMPILER says: "auto" (the default), "embedded" or "comgr". Errors: an unknown name, comgr asked
/// for and not there.
Result<const Compiler *> chosen_compiler();
/// The same for a given choice, which overrides the environment.
Result<const Compiler *> compiler_named(std::string_view choice);

} // namespace nereid::jit
