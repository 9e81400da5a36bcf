#pragma once

#include "inspect/report.h"
#include "inspect/source_files.h"
#include "jit/compile/compiled_kernel.h"

namespace nereid::inspect {

/// Adds what the compiler made of a kernel on its way to machine code: tile IR and LLVM IR beside the user's
/// lines, the plan, layouts, dots and remarks. What an edited stage makes unavailable becomes a note.
void add_tile_code(Report &report, const CompiledKernel &kernel, SourceFiles &files);

} // namespace nereid::inspect
