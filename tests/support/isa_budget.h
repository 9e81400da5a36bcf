#pragma once

#include <string>
#include <vector>

#include "jit/compile/compiled_kernel.h"

/// A small language of promises about a kernel's machine code.
namespace nereid::test {

/// Checks promises of the form
///
///     [loop] FIGURE RELATION NUMBER
///
/// RELATION is <=, = or >=. With `loop` the figure is that of the innermost loop with the most matrix
/// instructions, else of the whole kernel. FIGURE is one of
///
///     instructions  bytes  valu  mfma  moves  salu  loads  stores  lds_reads  lds_writes  barriers  vmcnt(0)
///     vgpr  agpr  sgpr  lds  scratch  spills                  (of the kernel's metadata)
///     /expression/                                            (instructions that the expression is found in)
///
/// The prologue for firmware that does not preload arguments is left out. valu leaves matrix instructions
/// out; moves are v_mov and v_accvgpr. Example: "loop valu <= 224". Gives those that do not hold, each with
/// what was found instead; a promise that cannot be read does not hold.
std::vector<std::string> broken_promises(const CompiledKernel &kernel,
                                         const std::vector<std::string> &contracts);

/// The same for a listing as CompiledKernel::annotated_isa prints it, and the metadata.
std::vector<std::string> broken_promises(const std::string &annotated_isa, const Resources &resources,
                                         const std::vector<std::string> &contracts);

} // namespace nereid::test
