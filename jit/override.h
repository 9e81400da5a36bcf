#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dsl/ir/function.h"
#include "jit/cache/disk_cache.h"
#include "jit/compile/compiler.h"

namespace nereid::jit {

/// The stages of a kernel that a user may edit, by their files of NEREID_DUMP_DIR, from first to last.
enum class EditedStage { Ir, LlvmIr, Assembly, CodeObject };
inline constexpr const char *stage_extensions[] = {".ir", ".ll", ".s", ".hsaco"};

/// A stage of a kernel as a user edited it.
struct Override {
  EditedStage stage;
  std::string file;
  std::string content;
};

/// Whether NEREID_OVERRIDE_DIR is set.
bool overrides_asked_for();
/// Error (User): it is set and no directory.
Status check_override_directory();

/// The file NAME-KEY.EXTENSION (KEY: the first 12 digits of the kernel's key) of NEREID_OVERRIDE_DIR that is
/// taken for a kernel: of those that differ from what Nereid makes, the one of the last stage. To compare, it
/// compiles as far as there are files. NEREID_OVERRIDE_DIR is set. Wants a large stack. Errors: the directory
/// is none, a file cannot be read (User).
Result<std::optional<Override>> find_override(const ir::Function &function, std::string_view key,
                                              const Compiler &compiler, const DiskCache &disk);

struct OverriddenKernel {
  std::shared_ptr<const ir::Function> function; ///< of an edited .ir: that one
  Binary binary;
};

/// What the remaining stages make of it. Errors: the file is not of its language, or of another kernel (User,
/// with file and line); those of compiling.
Result<OverriddenKernel> build_override(const Override &edited, std::shared_ptr<const ir::Function> function,
                                        const Compiler &compiler, JitTimes &times);

/// The key of an overridden kernel, which no cache on disk has.
std::string override_key(std::string_view key, const Override &edited);

} // namespace nereid::jit
