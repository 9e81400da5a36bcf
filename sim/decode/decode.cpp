// Reads the fields of each encoding from its bits and resolves operands, as the row of the operation says.

#include "sim/decode/decode.h"

#include <bit>

#include "sim/state/formats.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

uint32_t bits(uint32_t word, unsigned low, unsigned count) { return word >> low & ((1u << count) - 1); }

int32_t sign_extend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

constexpr unsigned sdwa_field = 249, dpp_field = 250, literal_field = 255;

/// The value of an inline float constant (fields 240 to 248) in each width.
struct FloatConstant {
  uint16_t half;
  uint32_t single;
  uint64_t wide;
};
constexpr FloatConstant float_constants[] = {
    {0x3800, 0x3F000000, 0x3FE0000000000000}, {0xB800, 0xBF000000, 0xBFE0000000000000},
    {0x3C00, 0x3F800000, 0x3FF0000000000000}, {0xBC00, 0xBF800000, 0xBFF0000000000000},
    {0x4000, 0x40000000, 0x4000000000000000}, {0xC000, 0xC0000000, 0xC000000000000000},
    {0x4400, 0x40800000, 0x4010000000000000}, {0xC400, 0xC0800000, 0xC010000000000000},
    {0x3118, 0x3E22F983, 0x3FC45F306DC9C882},
};

uint64_t inline_float(unsigned field, OperandType type) {
  const FloatConstant &constant = float_constants[field - 240];
  switch (type) {
  case OperandType::Float16:
  case OperandType::PackedFloat16:
    return constant.half;
  case OperandType::Float64:
  case OperandType::Bits64:
    return constant.wide;
  case OperandType::PackedFloat32:
    return constant.single | uint64_t{constant.single} << 32;
  default:
    return constant.single;
  }
}

/// Inline integers are sign-extended to the width of the operand.
uint64_t inline_integer(unsigned field, OperandType type) {
  int64_t value = field <= 192 ? static_cast<int64_t>(field) - 128 : 192 - static_cast<int64_t>(field);
  if (type == OperandType::PackedFloat32)
    return static_cast<uint32_t>(value) | uint64_t{static_cast<uint32_t>(value)} << 32;
  return static_cast<uint64_t>(value);
}

/// A literal is the upper word of an f64, and extended to 64-bit integers by their sign or with zeros.
uint64_t literal_value(uint32_t literal, OperandType type, bool is_signed) {
  if (type == OperandType::Float64)
    return uint64_t{literal} << 32;
  if (type == OperandType::Bits64 && is_signed)
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(literal)));
  return literal;
}

} // namespace

Source Decoder::vector_source(unsigned index, OperandType type) {
  Source result;
  result.kind = Source::Kind::Vector;
  result.type = type;
  result.index = static_cast<uint16_t>(index);
  return result;
}

Source Decoder::source(unsigned field, OperandType type, uint32_t literal) {
  Source result;
  result.type = type;
  if (field >= first_vector_field)
    return vector_source(field - first_vector_field, type);
  result.index = static_cast<uint16_t>(field);
  if (field < 128) {
    result.kind = Source::Kind::Scalar;
    return result;
  }
  result.kind = Source::Kind::Constant;
  if (field <= 208)
    result.value = inline_integer(field, type);
  else if (field >= 240 && field <= 248)
    result.value = inline_float(field, type);
  else if (field == literal_field)
    result.value = literal_value(literal, type, operation_->has(Operation::SignedLiteral));
  else
    result.kind = Source::Kind::Special;
  return result;
}

void Decoder::finish_sources() {
  for (unsigned k = 0; k < 3; ++k) {
    Source &s = out_.source[k];
    if (s.kind == Source::Kind::Constant)
      s.lanes = program_.constant_lanes(s.value);
    if (is_packed(s.type)) {
      bool identity = !(out_.op_sel >> k & 1) && out_.op_sel_hi >> k & 1;
      s.modified = s.permuted || !identity || ((out_.neg_lo | out_.neg_hi) >> k & 1);
    } else {
      s.modified = s.permuted || s.absolute || s.negative || s.high || s.select != 6;
    }
  }
  bool shifted = is_16_bit(operation_->result) && out_.op_sel & 8;
  bool partial = is_16_bit(operation_->result) && operation_->has(Operation::PreservesHigh);
  out_.plain_result =
      !out_.clamp && !out_.output_modifier && !shifted && !partial && !out_.permuted && out_.sdwa_select == 6;
  // A clamp that the handler does itself is no modifier of the result.
  if (out_.clamp && operation_->clamped) {
    out_.run = operation_->clamped;
    out_.clamp = false;
    out_.plain_result =
        !out_.output_modifier && !shifted && !partial && !out_.permuted && out_.sdwa_select == 6;
  }
}

void Decoder::sdwa(uint32_t word, bool compare) {
  Source &a = out_.source[0], &b = out_.source[1];
  unsigned register_number = bits(word, 0, 8);
  a = bits(word, 23, 1) ? source(register_number, a.type, 0) : vector_source(register_number, a.type);
  a.select = static_cast<uint8_t>(bits(word, 16, 3));
  a.sign_extend = bits(word, 19, 1);
  a.negative = bits(word, 20, 1);
  a.absolute = bits(word, 21, 1);
  if (b.kind == Source::Kind::Vector) {
    if (bits(word, 31, 1))
      b = source(b.index, b.type, 0);
    b.select = static_cast<uint8_t>(bits(word, 24, 3));
    b.sign_extend = bits(word, 27, 1);
    b.negative = bits(word, 28, 1);
    b.absolute = bits(word, 29, 1);
  }
  if (compare) {
    out_.scalar_destination = bits(word, 15, 1) ? bits(word, 8, 7) : scalar::vcc;
    return;
  }
  out_.sdwa_select = static_cast<uint8_t>(bits(word, 8, 3));
  out_.sdwa_unused = static_cast<uint8_t>(bits(word, 11, 2));
  out_.clamp = bits(word, 13, 1);
  out_.output_modifier = static_cast<uint8_t>(bits(word, 14, 2));
}

void Decoder::dpp(uint32_t word) {
  Source &a = out_.source[0], &b = out_.source[1];
  a = vector_source(bits(word, 0, 8), a.type);
  a.permuted = true;
  a.negative = bits(word, 20, 1);
  a.absolute = bits(word, 21, 1);
  if (b.kind == Source::Kind::Vector) {
    b.negative = bits(word, 22, 1);
    b.absolute = bits(word, 23, 1);
  }
  out_.permuted = true;
  out_.permutation.control = static_cast<uint16_t>(bits(word, 8, 9));
  out_.permutation.zero_invalid = bits(word, 19, 1);
  out_.permutation.bank_mask = static_cast<uint8_t>(bits(word, 24, 4));
  out_.permutation.row_mask = static_cast<uint8_t>(bits(word, 28, 4));
}

void Decoder::first_source(unsigned position, bool compare) {
  unsigned field = bits(words_[0], 0, 9);
  out_.source[position].type = operation_->source[position];
  if (field == sdwa_field)
    sdwa(words_[1], compare);
  else if (field == dpp_field)
    dpp(words_[1]);
  else
    out_.source[position] = source(field, operation_->source[position], words_[1]);
}

void Decoder::vop1() {
  out_.destination = static_cast<uint16_t>(bits(words_[0], 17, 8));
  first_source(0, false);
  if (operation_->has(Operation::Accumulates))
    out_.source[1] = vector_source(out_.destination, operation_->source[1]);
  out_.op_sel_hi = 7;
}

void Decoder::vop2() {
  uint32_t w = words_[0];
  out_.destination = static_cast<uint16_t>(bits(w, 17, 8));
  out_.source[1] = vector_source(bits(w, 9, 8), operation_->source[1]);
  first_source(0, false);
  if (operation_->has(Operation::Accumulates))
    out_.source[2] = vector_source(out_.destination, operation_->source[2]);
  if (operation_->has(Operation::ReadsCarry))
    out_.source[2] = source(scalar::vcc, operation_->source[2], 0);
  if (operation_->has(Operation::LiteralLast))
    out_.source[2] = source(literal_field, operation_->source[2], words_[1]);
  if (operation_->has(Operation::LiteralMiddle)) {
    out_.source[2] = out_.source[1];
    out_.source[1] = source(literal_field, operation_->source[1], words_[1]);
  }
  out_.op_sel_hi = 7;
}

void Decoder::vopc() {
  out_.source[1] = vector_source(bits(words_[0], 9, 8), operation_->source[1]);
  first_source(0, true);
}

void Decoder::vop3() {
  uint32_t a = words_[0], b = words_[1];
  bool has_mask = operation_->result == OperandType::LaneBit;
  out_.destination = static_cast<uint16_t>(bits(a, 0, 8));
  out_.clamp = bits(a, 15, 1);
  out_.output_modifier = static_cast<uint8_t>(bits(b, 27, 2));
  unsigned negative = bits(b, 29, 3), absolute = 0;
  if (operation_->has(
          Operation::MaskResult)) { // VOP3B: a scalar destination in place of the absolute and half bits
    out_.scalar_destination = static_cast<uint16_t>(bits(a, 8, 7));
  } else {
    absolute = bits(a, 8, 3);
    out_.op_sel = static_cast<uint8_t>(bits(a, 11, 4));
    out_.op_sel_hi = 7; // packed operations that have this encoding take each half from the same half
    if (has_mask)
      out_.scalar_destination = out_.destination;
  }
  for (unsigned k = 0; k < 3; ++k) {
    if (operation_->source[k] == OperandType::None)
      continue;
    Source &s = out_.source[k];
    s = source(bits(b, 9 * k, 9), operation_->source[k], 0);
    s.negative = negative >> k & 1;
    s.absolute = absolute >> k & 1;
    s.high = is_16_bit(s.type) && out_.op_sel >> k & 1;
  }
  if (operation_->has(Operation::TruthTable)) {
    out_.immediate = static_cast<int32_t>(negative | absolute << 3 | bits(b, 27, 2) << 6);
    out_.output_modifier = 0;
    for (Source &s : out_.source)
      s.negative = s.absolute = false;
  }
  if (operation_->has(Operation::Accumulates)) {
    unsigned last = operation_->source[2] == OperandType::None ? 1 : 2;
    Source &s = out_.source[last];
    s = vector_source(out_.destination, operation_->source[last]);
  }
}

void Decoder::vop3p() {
  uint32_t a = words_[0], b = words_[1];
  out_.destination = static_cast<uint16_t>(bits(a, 0, 8));
  out_.clamp = bits(a, 15, 1);
  out_.op_sel = static_cast<uint8_t>(bits(a, 11, 3));
  out_.op_sel_hi = static_cast<uint8_t>(bits(b, 27, 2) | bits(a, 14, 1) << 2);
  out_.neg_lo = static_cast<uint8_t>(bits(b, 29, 3));
  out_.neg_hi = static_cast<uint8_t>(bits(a, 8, 3));
  for (unsigned k = 0; k < 3; ++k)
    if (operation_->source[k] != OperandType::None)
      out_.source[k] = source(bits(b, 9 * k, 9), operation_->source[k], 0);
}

void Decoder::mfma() {
  uint32_t a = words_[0], b = words_[1];
  if (out_.size == 16) {
    out_.op_sel = static_cast<uint8_t>(bits(a, 11, 3));
    out_.op_sel_hi = static_cast<uint8_t>(bits(b, 27, 2));
    out_.scale_a = static_cast<uint16_t>(bits(b, 0, 9));
    out_.scale_b = static_cast<uint16_t>(bits(b, 9, 9));
    a = words_[2];
    b = words_[3];
  }
  out_.destination = static_cast<uint16_t>(bits(a, 0, 8));
  out_.cbsz = static_cast<uint8_t>(bits(a, 8, 3));
  out_.abid = static_cast<uint8_t>(bits(a, 11, 4));
  out_.scaled = out_.size == 16 && out_.abid & 1;
  out_.blgp = static_cast<uint8_t>(bits(b, 29, 3));
  unsigned accumulation = bits(b, 27, 2);
  bool accumulates = bits(a, 15, 1);
  for (unsigned k = 0; k < 3; ++k) {
    out_.source[k] = source(bits(b, 9 * k, 9), operation_->source[k], 0);
    bool in_accumulation =
        k < 2 ? accumulation >> k & 1 : accumulates && !operation_->has(Operation::SparseIndex);
    if (out_.source[k].kind == Source::Kind::Vector && in_accumulation)
      out_.source[k].index += accumulation_base;
  }
  if (accumulates)
    out_.destination += accumulation_base;
}

void Decoder::scalar_alu() {
  uint32_t w = words_[0];
  out_.immediate = static_cast<int16_t>(w & 0xFFFF);
  out_.destination = static_cast<uint16_t>(bits(w, 16, 7));
  unsigned prefix = w >> 23;
  if (prefix == 0x17F) { // SOPP
    return;
  }
  if (prefix == 0x17D) { // SOP1
    out_.source[0] = source(bits(w, 0, 8), operation_->source[0], words_[1]);
  } else if (prefix != 0x17E && w >> 28 == 0xB) { // SOPK
    out_.source[0] = source(literal_field, OperandType::Bits32, words_[1]);
  } else { // SOPC, SOP2
    out_.source[0] = source(bits(w, 0, 8), operation_->source[0], words_[1]);
    out_.source[1] = source(bits(w, 8, 8), operation_->source[1], words_[1]);
  }
}

void Decoder::scalar_memory() {
  uint32_t a = words_[0], b = words_[1];
  out_.scalar_base = static_cast<uint8_t>(bits(a, 0, 6) * 2);
  out_.destination = static_cast<uint16_t>(bits(a, 6, 7));
  bool immediate = bits(a, 17, 1), has_offset = bits(a, 14, 1);
  out_.immediate = immediate ? sign_extend(bits(b, 0, 21), 21) : 0;
  out_.uses_offset = has_offset || !immediate;
  out_.returns = bits(a, 16, 1);
  if (has_offset)
    out_.source[0] = source(bits(b, 25, 7), OperandType::Bits32, 0);
  else if (!immediate)
    out_.source[0] = source(bits(b, 0, 7), OperandType::Bits32, 0);
}

void Decoder::ds() {
  uint32_t a = words_[0], b = words_[1];
  unsigned accumulation = bits(a, 25, 1) ? accumulation_base : 0;
  out_.offset0 = static_cast<uint8_t>(bits(a, 0, 8));
  out_.offset1 = static_cast<uint8_t>(bits(a, 8, 8));
  out_.immediate = static_cast<int32_t>(bits(a, 0, 16));
  out_.address_register = static_cast<uint16_t>(bits(b, 0, 8));
  out_.data = static_cast<uint16_t>(bits(b, 8, 8) + accumulation);
  out_.data2 = static_cast<uint16_t>(bits(b, 16, 8) + accumulation);
  out_.destination = static_cast<uint16_t>(bits(b, 24, 8) + accumulation);
}

void Decoder::flat() {
  uint32_t a = words_[0], b = words_[1];
  unsigned segment = bits(a, 14, 2);
  unsigned accumulation = bits(b, 23, 1) ? accumulation_base : 0;
  // Offsets are signed, except those of FLAT proper, which has 12 bits.
  out_.immediate = segment == 0 ? static_cast<int32_t>(bits(a, 0, 12)) : sign_extend(bits(a, 0, 13), 13);
  out_.uses_offset = segment != 1 || bits(a, 13, 1);
  out_.returns = bits(a, 16, 1);
  out_.device_scope = bits(a, 25, 1);
  out_.address_register = static_cast<uint16_t>(bits(b, 0, 8));
  out_.data = static_cast<uint16_t>(bits(b, 8, 8) + accumulation);
  out_.scalar_base = segment == 0 ? no_scalar_base : static_cast<uint8_t>(bits(b, 16, 7));
  out_.destination = static_cast<uint16_t>(bits(b, 24, 8) + accumulation);
}

void Decoder::buffer() {
  uint32_t a = words_[0], b = words_[1];
  const bool typed = a >> 26 == 0x3A;
  unsigned accumulation = bits(b, 23, 1) ? accumulation_base : 0;
  out_.immediate = static_cast<int32_t>(bits(a, 0, 12));
  out_.uses_offset = bits(a, 12, 1);
  out_.uses_index = bits(a, 13, 1);
  out_.returns = bits(a, 14, 1);
  out_.device_scope = typed ? bits(b, 21, 1) : bits(a, 15, 1);
  out_.to_lds = !typed && bits(a, 16, 1);
  out_.format = static_cast<uint8_t>(bits(a, 19, 7));
  out_.address_register = static_cast<uint16_t>(bits(b, 0, 8));
  out_.destination = out_.data = static_cast<uint16_t>(bits(b, 8, 8) + accumulation);
  out_.scalar_base = static_cast<uint8_t>(bits(b, 16, 5) * 4);
  out_.source[0] = source(bits(b, 24, 8), OperandType::Bits32, 0);
}

Instruction Decoder::decode(const Operation &operation, const std::array<uint32_t, 4> &words, unsigned size) {
  words_ = words;
  operation_ = &operation;
  out_ = {};
  out_.operation = &operation;
  out_.run = operation.handler;
  out_.category = operation.category;
  out_.size = static_cast<uint8_t>(size);
  uint32_t w = words[0];
  unsigned top = w >> 26;
  if (top == 0x30)
    scalar_memory();
  else if (w >> 30 == 2)
    scalar_alu();
  else if (top == 0x36)
    ds();
  else if (top == 0x37)
    flat();
  else if (top == 0x38 || top == 0x3A)
    buffer();
  else if (w >> 23 == 0x1A7)
    operation.category == Category::Mfma ? mfma() : vop3p();
  else if (top == 0x34)
    vop3();
  else if (w >> 25 == 0x3F)
    vop1();
  else if (w >> 25 == 0x3E)
    vopc();
  else
    vop2();
  finish_sources();
  if (operation.category == Category::Valu && !operation.has(Operation::IgnoresMode)) {
    auto uses = [&](OperandType type) {
      return operation.result == type || operation.source[0] == type || operation.source[1] == type;
    };
    if (uses(OperandType::Float32) || uses(OperandType::PackedFloat32))
      out_.float_group = 1;
    else if (uses(OperandType::Float64))
      out_.float_group = 2;
  }
  return out_;
}

} // namespace nereid::sim
