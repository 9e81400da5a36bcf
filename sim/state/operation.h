#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/state/matrix_shape.h"
#include "sim/state/operand_type.h"
#include "sim/state/taint.h"

namespace nereid::sim {

struct Wave;
struct Instruction;

/// What an instruction counts as (one category each).
enum class Category : uint8_t {
  Mfma,
  Valu,
  Salu,
  Smem,
  Lds,
  VmemLoad,
  VmemStore,
  VmemAtomic,
  Barrier,
  Waitcnt,
  Branch,
  Other,
};
inline constexpr unsigned category_count = 12;

/// What the rules of software wait states (sim/checks/hazard_table.cpp) ask of an operation beyond its
/// category and operands. A row has one class.
enum class HazardClass : uint8_t {
  None,
  Transcendental, ///< runs on the transcendental unit, whose results are within 1 ulp
  DotProduct,
  PackedF32, ///< v_pk arithmetic on f32, which shares the pipe of matrix operations
  F64Fma,
  LaneSwap, ///< writes two registers, and so takes two states
  ReadLane,
  ReadFirstLane,
  WriteLane,
  SelectedByteResult, ///< a conversion whose result op_sel may move within its register
  MovedResult,        ///< a result that is always moved within its register
  ReadsM0,
  SetsHardwareRegister,
  GetsHardwareRegister,
  WaitStates, ///< s_nop
};

/// The counters that an operation raises until it is complete.
enum class WaitCounter : uint8_t {
  None,
  Vector, ///< vmcnt: vector memory, complete in the order of issue
  Lds,    ///< lgkmcnt: LDS, complete in the order of issue
  Scalar, ///< lgkmcnt, complete in any order
  Flat,   ///< both, in any order: the address decides which one counts
};

/// Where a memory operation gets its addresses.
enum class Addressing : uint8_t {
  None,
  Scalar,  ///< a scalar base and offset
  Global,  ///< a 64-bit address a lane, or a scalar base and an offset a lane
  Flat,    ///< a 64-bit address a lane, in any aperture
  Scratch, ///< an offset into the private memory of the lane
  Buffer,  ///< a descriptor
  Lds,     ///< a byte of LDS a lane
  LdsByM0, ///< M0 and the number of the lane
};

/// What a load or store moves for one lane.
struct ElementForm {
  uint8_t bytes = 0;        ///< in memory; 0: the format of a typed buffer says
  uint8_t words = 1;        ///< registers
  bool sign_extend = false; ///< of a load shorter than a word
  bool half = false;        ///< a 16-bit register half is written or read; a load keeps the other half
  bool high = false;        ///< that half is the upper one
};

/// What a memory operation does.
struct MemoryForm {
  enum class Kind : uint8_t { None, Load, Store, Atomic, WriteBack, Invalidate };

  Kind kind = Kind::None;
  Addressing addressing = Addressing::None;
  ElementForm element;
  bool two_elements = false; ///< ds_read2 and its like: two elements a lane, at two offsets
  uint8_t offset_scale = 1;  ///< of two elements: offsets count so many of them
  bool converts = false;     ///< typed: the format of the buffer or the instruction decides what memory holds
  bool exchanges = false;    ///< an atomic that moves its operand and the old value as they are
  bool result_is_uniform = false; ///< an atomic of the whole wave: all lanes get the same
};

using Handler = void (*)(Wave &, const Instruction &);

/// One row of the instruction tables (sim/ops): all that the simulator knows of a mnemonic. A new instruction
/// is a new row.
struct Operation {
  enum Trait : uint32_t {
    None = 0,
    ScalarResult = 1u << 0,    ///< the VDST field names a scalar register
    Accumulates = 1u << 1,     ///< the destination is also the last source (mac, fmac, dot2c)
    ReadsCarry = 1u << 2,      ///< in the 32-bit encoding VCC is the last source
    PreservesHigh = 1u << 3,   ///< a 16-bit result keeps the other half of the register
    WritesExec = 1u << 4,      ///< v_cmpx
    LiteralLast = 1u << 5,     ///< fmaak, madak: d = s0 * s1 + K
    LiteralMiddle = 1u << 6,   ///< fmamk, madmk: d = s0 * K + s1
    FloatAtomic = 1u << 7,     ///< the result depends on the order of workgroups
    IgnoresMode = 1u << 8,     ///< always rounds to nearest even
    MaskResult = 1u << 9,      ///< a second, scalar destination (VOP3B)
    TruthTable = 1u << 10,     ///< v_bitop3: the modifier bits hold a truth table
    SparseIndex = 1u << 11,    ///< v_smfmac: the third source is an index register, never an accumulation one
    ImplicitVcc = 1u << 12,    ///< v_div_fmas: reads VCC, a bit a lane, that no operand names
    SignedLiteral = 1u << 13,  ///< a literal is sign-extended to 64 bits
    RelativeTarget = 1u << 14, ///< jumps to its own address plus an immediate
    ReadsPc = 1u << 15,        ///< its result is an address in the code
    IndexesRegisters = 1u << 16, ///< s_set_gpr_idx: vector registers may be indexed from now on
  };

  std::string name;
  Category category = Category::Other;
  Handler handler = nullptr;
  Handler clamped = nullptr; ///< used instead of `handler` when the clamp bit is set (integer saturation)
  /// Executed on the shadow planes instead of `handler` where that one takes a value from a field of the
  /// instruction: such bits are not tainted.
  Handler shadow_handler = nullptr;
  OperandType result = OperandType::None;
  OperandType source[3] = {};
  uint32_t traits = None;
  Taint taint;
  HazardClass hazard = HazardClass::None;
  WaitCounter counter = WaitCounter::None;
  MemoryForm memory;
  std::optional<MatrixShape> matrix; ///< of MFMA and SMFMAC
  uint32_t detail = 0;               ///< family specific: an index or packed parameters

  bool has(Trait trait) const { return (traits & trait) != 0; }
  bool is_vector_alu() const { return category == Category::Valu || category == Category::Mfma; }
  bool uses_lds_unit() const {
    return memory.addressing == Addressing::Lds || memory.addressing == Addressing::LdsByM0;
  }
  /// Instructions of vector memory: global, flat, scratch, buffer.
  bool is_vector_memory() const {
    return memory.addressing >= Addressing::Global && memory.addressing <= Addressing::Buffer;
  }
  /// Operations on the wave as a whole, to which EXEC is a register like others.
  bool is_scalar() const { return !is_vector_alu() && !uses_lds_unit() && !is_vector_memory(); }
};

/// The columns of a row that most rows leave at their defaults.
struct RowFacts {
  uint32_t traits = Operation::None;
  Taint taint = {};
  HazardClass hazard = HazardClass::None;
  Handler shadow_handler = nullptr;
};

/// A row whose handler is written by hand; operand types say how decoding resolves constants.
inline Operation custom_operation(std::string name, Category category, Handler handler, OperandType result,
                                  OperandType a = OperandType::None, OperandType b = OperandType::None,
                                  OperandType c = OperandType::None, const RowFacts &facts = {}) {
  Operation row;
  row.name = std::move(name);
  row.category = category;
  row.handler = handler;
  row.result = result;
  row.source[0] = a;
  row.source[1] = b;
  row.source[2] = c;
  row.traits = facts.traits;
  row.taint = facts.taint;
  row.hazard = facts.hazard;
  row.shadow_handler = facts.shadow_handler;
  return row;
}

} // namespace nereid::sim
