// Files of kernels in NEREID_DUMP_DIR.
#include "jit/dump.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "base/output_file.h"
#include "dsl/ir/printer.h"
#include "jit/compile/compiler.h"
#include "llvm/Support/FileSystem.h"

namespace nereid::jit {
namespace {

/// "FILE:LINE" of each operation, by its line in the code object's line table; empty where it has none.
std::string operation_lines(const CompiledKernel &kernel) {
  const std::string ir = kernel.ir();
  const auto most = static_cast<unsigned>(std::count(ir.begin(), ir.end(), '\n'));
  std::string lines, unknown;
  for (unsigned line = 1; line <= most; ++line) {
    const SourceLine where = kernel.source_line(line);
    unknown += '\n';
    if (where.known())
      lines += std::exchange(unknown, "").substr(1) + where.text() + '\n';
  }
  return lines;
}

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
  if (kernel.comes_from_ir())
    dump->write(".lines", operation_lines(kernel));
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
