#pragma once

#include <cstdint>
#include <string>

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

/// How the words of a vector operand are read: it decides the value of constants, which half or bits
/// modifiers address, and where the sign is.
enum class OperandType : uint8_t {
  None,
  Bits16,
  Float16,
  Bits32,
  Float32,
  Bits64,
  Float64,
  LaneBit,       ///< one bit a lane out of a scalar register pair
  PackedBits16,  ///< two 16-bit integers
  PackedFloat16, ///< two halves (f16)
  PackedFloat32, ///< two floats in a register pair
};

using Handler = void (*)(Wave &, const Instruction &);

/// One row of the tables: what a mnemonic means. The families of operations live in the *_alu, memory and
/// mfma files.
struct Operation {
  enum Trait : uint16_t {
    None = 0,
    ScalarResult = 1,   ///< the VDST field names a scalar register
    Accumulates = 2,    ///< the destination is also the last source (mac, fmac, dot2c)
    ReadsCarry = 4,     ///< in the 32-bit encoding VCC is the last source
    PreservesHigh = 8,  ///< a 16-bit result keeps the other half of the register
    WritesExec = 16,    ///< v_cmpx
    LiteralLast = 32,   ///< fmaak, madak: d = s0 * s1 + K
    LiteralMiddle = 64, ///< fmamk, madmk: d = s0 * K + s1
    FloatAtomic = 128,  ///< the result depends on the order of workgroups
    IgnoresMode = 256,  ///< always rounds to nearest even
    MaskResult = 512,   ///< a second, scalar destination (VOP3B)
    TruthTable = 1024,  ///< v_bitop3: the modifier bits hold a truth table
    SparseIndex = 2048, ///< v_smfmac: the third source is an index register, never an accumulation register
  };

  std::string name;
  Category category = Category::Other;
  Handler handler = nullptr;
  Handler clamped = nullptr; ///< used instead of `handler` when the clamp bit is set (integer saturation)
  OperandType result = OperandType::None;
  OperandType source[3] = {};
  uint16_t traits = None;
  uint32_t detail = 0; ///< family specific: an index or packed parameters

  bool has(Trait trait) const { return (traits & trait) != 0; }
};

/// A source operand after decoding.
struct Source {
  enum class Kind : uint8_t { None, Vector, Scalar, Constant, Special };
  Kind kind = Kind::None;
  OperandType type = OperandType::None;
  bool modified = false; ///< anything below differs from a plain read
  bool absolute = false;
  bool negative = false;
  bool high = false;               ///< the upper half of the word (op_sel)
  bool sign_extend = false;        ///< SDWA
  uint8_t select = 6;              ///< SDWA: bytes 0..3, words 4..5, whole 6
  bool permuted = false;           ///< DPP applies
  uint16_t index = 0;              ///< vector register (accumulation registers from 256) or scalar register
  uint64_t value = 0;              ///< of a constant
  const uint32_t *lanes = nullptr; ///< a constant as 64 low words and 64 high words
};

/// Fields of the DPP control word.
struct Permutation {
  uint16_t control = 0;
  uint8_t row_mask = 15;
  uint8_t bank_mask = 15;
  bool zero_invalid = false; ///< bound_ctrl: lanes without a source read 0 instead of keeping their result
};

/// The SADDR field of an instruction without a scalar base.
inline constexpr uint8_t no_scalar_base = 127;

/// One decoded instruction. Everything that can be resolved before running is.
struct Instruction {
  Handler run = nullptr;
  const Operation *operation = nullptr; ///< null: undecodable or unsupported
  uint64_t address = 0;                 ///< in the code object
  uint8_t size = 4;                     ///< bytes
  Category category = Category::Other;

  bool plain_result = true; ///< no clamp, omod, SDWA, DPP or half select at the destination
  bool clamp = false;
  uint8_t output_modifier = 0; ///< 1: *2, 2: *4, 3: /2
  uint8_t op_sel = 0;          ///< bits 0..2 sources, 3 destination
  uint8_t op_sel_hi = 0;
  uint8_t neg_lo = 0;
  uint8_t neg_hi = 0;
  uint8_t sdwa_select = 6;
  uint8_t sdwa_unused = 0; ///< 0 zero, 1 sign extend, 2 preserve
  bool permuted = false;
  uint8_t float_group = 0; ///< 1: rounds by the f32 mode, 2: by the f64/f16 mode
  Permutation permutation;

  uint16_t destination = 0;          ///< vector register, or scalar when the operation says so
  uint16_t scalar_destination = 106; ///< carry, compare result
  Source source[3];

  int32_t immediate = 0; ///< SIMM16, memory offset
  uint32_t target = 0;   ///< index of the branch target

  // Memory.
  uint16_t data = 0;  ///< first data register of a store, load or atomic
  uint16_t data2 = 0; ///< second data register (DS)
  uint16_t address_register = 0;
  uint8_t scalar_base = no_scalar_base; ///< SADDR, SBASE, SRSRC: first scalar register
  uint8_t offset0 = 0, offset1 = 0;
  bool returns = false; ///< sc0 of an atomic
  bool to_lds = false;
  bool uses_offset = false; ///< OFFEN; SVE of scratch
  bool uses_index = false;  ///< IDXEN
  uint8_t format = 0;       ///< MTBUF: data format 3:0, number format 6:4

  // MFMA.
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  uint16_t scale_a = 0, scale_b = 0;
  bool scaled = false;
};

/// The kinds of fault a run can end with.
enum class FaultKind : uint8_t {
  OutOfBounds,
  Undefined,
  RaceLds,
  RaceGlobal,
  Wait,
  Misaligned,
  Hazard,
  Barrier,
  NanScale,
  Budget,
  Unsupported,
  Trap,
};

/// "out_of_bounds", "undefined", ...: the words of the launch file's answer.
const char *fault_kind_name(FaultKind kind);

} // namespace nereid::sim
