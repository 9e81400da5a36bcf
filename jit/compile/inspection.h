#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::jit {

/// The line table of a code object: from the address where it starts, inside .text, to the line. Line 0 ends
/// a stretch that has none.
Result<std::map<uint64_t, unsigned>> read_lines(std::span<const uint8_t> code_object);

/// The same with the source files, their paths absolute as far as the code object says where it was compiled.
/// For code objects of other compilers, whose lines are not those of a tile IR.
Result<std::map<uint64_t, SourceLine>> read_source_lines(std::span<const uint8_t> code_object);

/// Line and column of the tile IR that an instruction comes from; 0 where there are none.
struct SourcePosition {
  unsigned line = 0, column = 0;
};

struct MachineInstruction {
  uint64_t address;
  uint64_t size;    ///< bytes
  std::string text; ///< as LLVM prints it: "s_waitcnt vmcnt(3)"
  SourcePosition position;
};

struct MachineFunction {
  std::string name;
  std::vector<MachineInstruction> instructions;
};

/// The code of a code object's functions.
Result<std::vector<MachineFunction>> read_functions(std::span<const uint8_t> code_object);

/// The disassembly of the kernels, each instruction with its address and, after a semicolon, with what
/// `describe` says of its line (nothing when empty).
Result<std::string> disassemble(std::span<const uint8_t> code_object,
                                const std::function<std::string(unsigned line)> &describe);

} // namespace nereid::jit
