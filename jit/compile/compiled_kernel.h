#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/remark.h"
#include "base/result.h"
#include "dsl/ir/function.h"
#include "jit/compile/jit_times.h"
#include "jit/compile/resources.h"

namespace nereid {

namespace jit {
struct Binary;
enum class Waits;
} // namespace jit

/// Bytes that stay where they are as long as this view of them, or a copy of it, lives.
class SharedBytes : public std::span<const uint8_t> {
public:
  SharedBytes() = default;
  SharedBytes(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner)
      : std::span<const uint8_t>(bytes), owner_(std::move(owner)) {}

private:
  std::shared_ptr<const void> owner_;
};

/// A kernel for one config and one specialisation: traced, and compiled unless it was built for the
/// interpreter alone. Immutable; safe to use from several threads. What it says of itself comes by value: one
/// often looks at a kernel through a pointer that does not outlive the expression. Owned by a shared pointer.
class CompiledKernel : public std::enable_shared_from_this<CompiledKernel> {
public:
  /// `binary` may be null: no code. `key` is the kernel's hash in hexadecimal digits.
  CompiledKernel(std::shared_ptr<const ir::Function> function, std::string config,
                 std::shared_ptr<const jit::Binary> binary, std::string key, JitTimes times,
                 CacheLevel cache);
  ~CompiledKernel();

  std::string name() const { return function_->name; }
  /// "block=1024,waves=4".
  std::string config() const { return config_; }
  std::string key() const { return key_; }
  /// Lives as long as the kernel.
  const ir::Function &function() const { return *function_; }
  /// Work-items of a workgroup.
  unsigned block() const { return 64 * static_cast<unsigned>(function_->options.waves); }

  /// The canonical IR as text; its line numbers are those of the code's line table.
  std::string ir() const;
  /// What the code generator decides before it emits LLVM IR, for people: layouts, dots, wave split, loops,
  /// remarks.
  Result<std::string> plan() const;
  /// What the code generator did not do, or not as asked, and why. Made anew from the IR, so that a kernel
  /// from a cache has them too.
  Result<std::vector<Remark>> remarks() const;
  /// The LLVM IR that the compiler was given. Error (User), here and of isa(): unless comes_from_ir().
  Result<std::string> llvm_ir() const;
  /// Assembler text with the kernel's metadata: llvm-mc and ld.lld make the code object of it.
  Result<std::string> isa() const;
  /// The code object's instructions, each with its address and, after a semicolon, the file name and line of
  /// the kernel's source that it comes from.
  Result<std::string> annotated_isa() const;
  /// The ELF code object; empty when built for the interpreter alone.
  SharedBytes code_object() const;
  Resources resources() const;
  /// Which compiler made the code: "embedded LLVM 22.1.8", for instance.
  std::string compiler() const;
  /// The file of NEREID_OVERRIDE_DIR that was taken in place of a stage of the compiler; empty: none was.
  std::string override_file() const;
  /// Whether the code was compiled from ir(); not where override_file() is of a later stage.
  bool comes_from_ir() const;
  bool has_code() const { return binary_ != nullptr; }
  /// The code as caches keep it; null when built for the interpreter alone.
  std::shared_ptr<const jit::Binary> binary() const { return binary_; }

  /// The kernel's source line of operation `line` of ir(); unknown for a line that has none.
  SourceLine source_line(unsigned line) const;
  /// The operation's line for an address of the code object's .text; 0 when there is none.
  unsigned line_at(uint64_t address) const;

  /// How long building it took here, and which cache had its code.
  JitTimes times() const { return times_; }
  CacheLevel cache() const { return cache_; }

private:
  jit::Waits waits() const;
  Status check_stages() const;

  std::shared_ptr<const ir::Function> function_;
  std::string config_;
  std::shared_ptr<const jit::Binary> binary_;
  std::string key_;
  JitTimes times_;
  CacheLevel cache_;
  std::vector<const ir::Op *> ops_; ///< of function_, by line of the canonical form; null: none
};

} // namespace nereid
