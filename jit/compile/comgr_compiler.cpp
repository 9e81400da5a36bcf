// The compiler of ROCm, libamd_comgr, where a machine has one that is new enough.
#include "jit/compile/compiler.h"

#include <fmt/format.h>

#include "jit/compile/comgr_api.h"
#include "jit/compile/large_stack.h"
#include "jit/compile/llvm_guard.h"
#include "jit/compile/stopwatch.h"
#include "llvm/ADT/StringRef.h"

namespace nereid::jit {
namespace {

/// The oldest LLVM whose IR parser and back end take what our lowering emits.
constexpr unsigned oldest_llvm = 22;

constexpr const char *probe_ir = R"(target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @probe() { ret void }
)";

std::span<const uint8_t> as_bytes(llvm::StringRef text) { return {text.bytes_begin(), text.size()}; }

std::vector<std::string> codegen_options() {
  std::vector<std::string> options = llvm_options_arguments();
  options.insert(options.begin(), "-O3");
  return options;
}

/// LLD signs what it links: "Linker: ... LLD 22.1.8 ...". 0 when the signature is not there.
unsigned linker_version(std::span<const uint8_t> code_object) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(code_object.data()), code_object.size());
  size_t at = bytes.find("LLD ");
  unsigned version = 0;
  if (at == llvm::StringRef::npos || bytes.substr(at + 4).consumeInteger(10, version))
    return 0;
  return version;
}

/// comgr gets LLVM IR as text: its LLVM may be another than ours, and text changes less between them than
/// bitcode.
class ComgrCompiler : public Compiler {
public:
  static Result<const Compiler *> open();

  std::string name() const override { return name_; }
  const std::string &identity() const override { return identity_; }

  Result<Binary> compile(const ModuleMaker &make, JitTimes &times) const override {
    NEREID_TRY(const std::string ir, llvm_ir_text(make, times));
    Stopwatch watch;
    NEREID_TRY(const std::vector<uint8_t> object, relocatable(ir));
    times.codegen += watch.restart();
    NEREID_TRY(std::vector<uint8_t> linked, link(object));
    times.link += watch.milliseconds();
    return linked_binary(std::move(linked), *this);
  }

  Result<std::string> assembly(const ModuleMaker &make) const override {
    JitTimes times;
    NEREID_TRY(const std::string ir, llvm_ir_text(make, times));
    NEREID_TRY(const std::vector<uint8_t> text,
               api_->run(ComgrApi::Action::BitcodeToAssembly, codegen_options(), ComgrApi::DataKind::Bitcode,
                         "kernel.ll", as_bytes(ir), ComgrApi::DataKind::Source));
    return std::string(text.begin(), text.end());
  }

private:
  explicit ComgrCompiler(const ComgrApi *api) : api_(api) {}

  Result<std::vector<uint8_t>> relocatable(llvm::StringRef ir) const {
    return api_->run(ComgrApi::Action::BitcodeToRelocatable, codegen_options(), ComgrApi::DataKind::Bitcode,
                     "kernel.ll", as_bytes(ir), ComgrApi::DataKind::Relocatable);
  }
  Result<std::vector<uint8_t>> link(std::span<const uint8_t> object) const {
    return api_->run(ComgrApi::Action::RelocatableToExecutable, {}, ComgrApi::DataKind::Relocatable,
                     "kernel.o", object, ComgrApi::DataKind::Executable);
  }

  const ComgrApi *api_;
  std::string name_;
  std::string identity_;
};

Result<const Compiler *> ComgrCompiler::open() {
  NEREID_TRY(const ComgrApi *api, ComgrApi::open());
  static ComgrCompiler compiler(api);
  Result<std::vector<uint8_t>> object = compiler.relocatable(probe_ir);
  Result<std::vector<uint8_t>> linked = object ? compiler.link(*object) : object;
  if (!linked)
    return environment_error(api->path() + " does not compile: " + linked.error().message,
                             "The embedded compiler serves");
  const unsigned version = linker_version(*linked);
  if (version < oldest_llvm)
    return environment_error(
        fmt::format("{} is on LLVM {}; Nereid needs {}", api->path(), version, oldest_llvm),
        "Install a newer comgr; the embedded compiler serves");
  compiler.name_ = fmt::format("comgr {} on LLVM {}", api->version(), version);
  std::string options;
  for (const std::string &option : codegen_options())
    options += " " + option;
  compiler.identity_ = fmt::format("{} {} build {}{}", compiler.name_, api->path(), api->build_id(), options);
  return &compiler;
}

} // namespace

Result<const Compiler *> comgr_compiler() {
  static const Result<const Compiler *> compiler = on_large_stack([] { return ComgrCompiler::open(); });
  return compiler;
}

} // namespace nereid::jit
