#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/state/fault.h"
#include "sim/state/instruction.h"
#include "sim/state/isa_limits.h"
#include "sim/state/memory.h"

namespace nereid::sim {

/// Registers beyond the last, for tuples that malformed code starts near the end.
inline constexpr unsigned register_margin = 64;

/// Scalar register numbers as the encodings name them.
namespace scalar {
inline constexpr unsigned flat_scratch = 102, xnack = 104, vcc = 106, m0 = 124, exec = 126;
}

/// 64 words, one a lane.
struct alignas(64) Lanes {
  uint32_t word[lane_count];
};

/// The vector registers of a wave, with their margin. Copies are deep; like a pointer, a constant one gives
/// access to registers that may change.
class VectorRegisters {
public:
  VectorRegisters() : lanes_(std::make_unique<Lanes[]>(size)) {}
  VectorRegisters(const VectorRegisters &other) : lanes_(std::make_unique_for_overwrite<Lanes[]>(size)) {
    std::copy_n(other.lanes_.get(), size, lanes_.get());
  }
  VectorRegisters &operator=(const VectorRegisters &) = delete;
  Lanes &operator[](size_t index) const { return lanes_[index]; }

private:
  static constexpr size_t size = vector_registers + register_margin;
  std::unique_ptr<Lanes[]> lanes_;
};

/// Upper halves of the flat addresses of LDS and of scratch memory.
inline constexpr uint32_t shared_aperture = 0x00010000;
inline constexpr uint32_t private_aperture = 0x00020000;

class Checker;
struct MemoryAccess;

/// A workgroup's shared state.
struct Workgroup {
  uint32_t id[3] = {};
  uint64_t linear_id = 0;
  std::vector<std::byte> lds;
  unsigned waves = 0;
};

/// The architectural state of one wave. Registers are kept by number as instructions encode them: VCC, M0 and
/// EXEC are entries of `sgpr`, accumulation registers are `vgpr` 256 and up.
struct Wave {
  enum class State : uint8_t { Running, AtBarrier, Done, Faulted };

  VectorRegisters vgpr;
  std::array<uint32_t, 132> sgpr{}; ///< 128 and a margin for pairs that start at the last one
  bool scc = false;
  static constexpr uint32_t half_overflow = 1u << 23; ///< of `mode`: fp16_ovfl
  uint32_t mode = 0; ///< as s_getreg reads it: rounding 3:0, denormals 7:4, dx10_clamp 8, ieee 9, fp16_ovfl
                     ///< 23, indexing of vector registers 27, vskip 28, depth of the fork stack 31:29
  uint32_t pc = 0;   ///< index of the next instruction
  uint32_t current = 0; ///< index of the instruction that runs or ran last
  State state = State::Running;
  bool default_float = true; ///< mode has nearest-even and denormals everywhere
  bool ordinary = true;      ///< and neither indexes vector registers nor skips vector instructions

  Lanes exec_mask;        ///< all ones in active lanes
  Lanes permutation_mask; ///< lanes that the current DPP instruction writes
  uint64_t written_lanes = 0;

  Workgroup *group = nullptr;
  unsigned index = 0; ///< of the wave in its workgroup
  const Memory::View *memory = nullptr;
  const Block *recent = nullptr; ///< the block that the last access hit
  const class Program *program = nullptr;
  Checker *checker = nullptr; ///< of the run; null: none
  uint64_t image_base = 0;    ///< where the code object lies in memory, less its own addresses
  std::byte *scratch = nullptr;
  uint32_t scratch_size = 0; ///< bytes a lane
  uint64_t executed = 0;
  unsigned preset_scalars = 0; ///< scalar registers, from 0 on, that the launch set up
  std::optional<RaisedFault> fault;

  uint64_t exec() const { return sgpr[126] | uint64_t{sgpr[127]} << 32; }
  void set_exec(uint64_t value) {
    sgpr[126] = static_cast<uint32_t>(value);
    sgpr[127] = static_cast<uint32_t>(value >> 32);
    update_exec_mask();
  }
  void update_exec_mask();
  void set_mode(uint32_t value);

  uint64_t scalar_pair(unsigned index) const { return sgpr[index] | uint64_t{sgpr[index + 1]} << 32; }
  /// Writes one scalar register; EXEC keeps its lane mask up to date.
  void set_scalar(unsigned index, uint32_t value) {
    sgpr[index & 127] = value;
    if (index >= scalar::exec)
      update_exec_mask();
  }
  void set_scalar_pair(unsigned index, uint64_t value) {
    sgpr[index & 127] = static_cast<uint32_t>(value);
    sgpr[(index + 1) & 127] = static_cast<uint32_t>(value >> 32);
    if (index >= scalar::exec)
      update_exec_mask();
  }
  /// A scalar operand of up to 64 bits.
  uint64_t scalar_value(const Source &source, bool wide) const;

  /// Ends the wave with a fault; the first one stands.
  void raise(FaultKind kind, int lane, std::string text);

  /// Shows a memory instruction's addresses to the checker. False when it found a fault.
  bool show(const Instruction &instruction, const MemoryAccess &access);

  /// The host address of global memory [address, address + bytes), or null.
  std::byte *global(uint64_t address, size_t bytes) {
    if (recent && recent->holds(address, bytes)) [[likely]]
      return recent->data() + (address - recent->address());
    return find_global(address, bytes);
  }
  std::byte *find_global(uint64_t address, size_t bytes);
  void raise_out_of_bounds(uint64_t address, size_t bytes, int lane, const char *access);
};

} // namespace nereid::sim
