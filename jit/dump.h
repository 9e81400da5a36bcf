#pragma once

#include "jit/compile/compiled_kernel.h"

namespace nereid::jit {

/// Where NEREID_DUMP_DIR is set: writes NAME-KEY.ir, .plan, .ll, .s, .lines and .hsaco there (KEY: 12 digits
/// of the kernel's key). In .lines stands for each operation, by which the code object's line table counts,
/// the source line "FILE:LINE" that it comes from. What cannot be made or written is a warning on stderr.
void dump_if_asked(const CompiledKernel &kernel);

/// The same for a kernel that did not compile: .ir, .plan and .ll.
void dump_failed_if_asked(const ir::Function &function, std::string_view key);

} // namespace nereid::jit
