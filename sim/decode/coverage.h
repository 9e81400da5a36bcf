#pragma once

#include <string>
#include <vector>

namespace nereid::sim {

/// What the simulator makes of one gfx950 instruction.
struct CoverageRow {
  std::string mnemonic; ///< without the suffix of an encoding
  std::string encoding; ///< the first one that has it: "SOP2", "VOP3P", ...
  bool done = false;
  /// Of an executed instruction what AMD does not specify to the bit, of another one the fault it ends with.
  std::string note;
};

/// All instructions that LLVM's disassembler knows for gfx950, sorted by name: every opcode of every encoding
/// is tried with a fixed set of operands.
std::vector<CoverageRow> coverage();

} // namespace nereid::sim
