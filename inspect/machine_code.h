#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/report.h"
#include "inspect/source_files.h"
#include "sim/object/code_object.h"

namespace nereid::inspect {

/// The instructions of a kernel, and where the simulator has them.
struct MachineCode {
  std::vector<uint32_t> program_index; ///< of Report::code, by index there
  std::vector<int> report_index; ///< of the program's instructions, by index there; -1: not the kernel's
};

/// Which operation of the tile IR, if any, and which source line an instruction comes from, by its address
/// and by the line that the code object's line table gives it.
struct Origin {
  unsigned operation = 0;
  SourceLine line;
};
using OriginOf = std::function<Origin(uint64_t address, unsigned table_line)>;

/// Adds the code of a kernel, its loops with their mix, and of the loops the one that looks hot. Error
/// (Nereid): LLVM and the simulator see different instructions.
Result<MachineCode> add_code(Report &report, std::span<const uint8_t> elf, const sim::CodeObject &code,
                             const sim::KernelInfo &kernel, SourceFiles &files, const OriginOf &origin_of);

} // namespace nereid::inspect
