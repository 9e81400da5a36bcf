#pragma once

#include <vector>

/// The contract between the code generator, which counts outstanding memory instructions, and whoever checks
/// the machine code that LLVM made of it (jit/verify).
///
/// Rule. In an LDS pipeline a wave reads an operand from LDS only behind a barrier at which the async copies
/// of that stage have arrived in all waves, and copies into a buffer only behind a barrier at which all waves
/// have read what was in it. `s_waitcnt vmcnt(n)` before the barrier says so for the wave's own copies: it
/// waits until at most n vector memory instructions are outstanding, and they complete in order.
///
/// Invariant. n is the number of vector memory instructions issued behind the last copy of the stage that is
/// waited for. It holds if each stage issues the same loads and copies, and if none crosses the wait. LLVM
/// knows nothing of it: it may merge, delete or move a load. So instructions are counted again in the machine
/// code: instruction i of the copies of a load belongs to stage i / copies, instruction i of the reads to
/// stage i / reads, and stage s stands in buffer s % buffers.
///
/// Direction of the safe error. A wait for fewer outstanding instructions than there are is slow; a wait for
/// more reads what has not arrived. Where the verifier cannot show that the contract holds, every wait waits
/// for everything.
///
/// Copies and reads have to be recognised in the machine code. Of what LLVM carries through all its passes
/// into the object, only the debug location stays with a memory instruction without changing what passes do:
/// its line names the operation of the tile IR, and its column, which the tile IR does not have, the CodeTag.
/// An instruction that LLVM merges from two with different lines loses its line, and the verifier refuses the
/// code: safe.
namespace nereid::codegen {

/// Which part of a kernel's code an instruction belongs to: the column of its debug location.
enum class CodeTag : unsigned {
  Plain = 1,     ///< code without a contract
  Pipeline = 2,  ///< copies and reads of a pipeline's stages
  FirstCopy = 3, ///< the very first copy of a pipeline, where counting starts
  Remainder = 4, ///< copies and reads of the iterations that follow one at a time
};

/// What the code keeps about one load that goes through LDS.
struct PipelineContract {
  unsigned line;   ///< of the load in the tile IR
  CodeTag tag;     ///< Pipeline, which includes FirstCopy, or Remainder
  unsigned copies; ///< async copies of a wave and stage
  unsigned reads;  ///< of a wave and stage
  unsigned buffers;
  /// The workgroup is one wave: LLVM leaves its barriers out, and what the wave has waited for, all have.
  bool one_wave = false;

  bool operator==(const PipelineContract &) const = default;
};

} // namespace nereid::codegen
