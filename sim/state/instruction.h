#pragma once

#include <cstdint>

#include "sim/state/operation.h"

namespace nereid::sim {

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

/// From this value on a 9-bit source field names a vector register.
inline constexpr unsigned first_vector_field = 256;
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
  bool returns = false;      ///< sc0 of an atomic
  bool device_scope = false; ///< sc1: seen by, or sees, the whole device
  bool to_lds = false;
  bool uses_offset = false; ///< OFFEN; SVE of scratch
  bool uses_index = false;  ///< IDXEN
  uint8_t format = 0;       ///< MTBUF: data format 3:0, number format 6:4

  // MFMA.
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  uint16_t scale_a = 0, scale_b = 0; ///< source fields
  bool scaled = false;
};

} // namespace nereid::sim
