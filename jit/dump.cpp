// Files of kernels in NEREID_DUMP_DIR.
#include "jit/dump.h"

#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/log.h"
#include "base/output_file.h"
#include "dsl/ir/printer.h"
#include "jit/compile/compiler.h"
#include "llvm/Support/FileSystem.h"

namespace nereid::jit {
namespace {

/// Files of one kernel in the dump directory.
class Dump {
public:
  static std::optional<Dump> of(const std::string &name, std::string_view key) {
    const char *directory = std::getenv("NEREID_DUMP_DIR");
    if (!directory || !*directory)
      return std::nullopt;
    if (std::error_code failed = llvm::sys::fs::create_directories(directory)) {
      warn(fmt::format("cannot create {}: {}", directory, failed.message()));
      return std::nullopt;
    }
    return Dump(fmt::format("{}/{}-{}", directory, name, key.substr(0, 12)));
  }

  void write(const char *extension, const Result<std::string> &text) const {
    if (!text)
      return warn(fmt::format("no {}{}: {}", prefix_, extension, text.error().text()));
    if (const Status written = write_file(prefix_ + extension, *text); !written)
      warn(written.error().message);
  }

private:
  explicit Dump(std::string prefix) : prefix_(std::move(prefix)) {}
  static void warn(const std::string &what) { log(LogLevel::Warning, "dump: " + what); }
  std::string prefix_;
};

} // namespace

void dump_if_asked(const CompiledKernel &kernel) {
  std::optional<Dump> dump = Dump::of(kernel.name(), kernel.key());
  if (!dump)
    return;
  dump->write(".ir", kernel.ir());
  dump->write(".plan", kernel.plan());
  if (kernel.comes_from_ir()) {
    dump->write(".ll", kernel.llvm_ir());
    dump->write(".s", kernel.isa());
  }
  const SharedBytes object = kernel.code_object();
  dump->write(".hsaco", std::string(object.begin(), object.end()));
}

void dump_failed_if_asked(const ir::Function &function, std::string_view key) {
  std::optional<Dump> dump = Dump::of(function.name, key);
  if (!dump)
    return;
  dump->write(".ir", ir::print(function));
  dump->write(".plan", plan_text(function));
  dump->write(".ll", llvm_ir_text(lowered(function)));
}

} // namespace nereid::jit
