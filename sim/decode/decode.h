#pragma once

#include <array>
#include <cstdint>

#include "sim/decode/program.h"

namespace nereid::sim {

/// Turns the words of one instruction into its decoded form. The name comes from LLVM, the fields from the
/// bits of the encodings of the CDNA4 ISA description.
class Decoder {
public:
  explicit Decoder(Program &program) : program_(program) {}
  /// `words` beyond `size` bytes are zero. The operation decides how fields are read.
  Instruction decode(const Operation &operation, const std::array<uint32_t, 4> &words, unsigned size);

private:
  void scalar_alu();
  void scalar_memory();
  void vop1();
  void vop2();
  void vopc();
  void vop3();
  void vop3p();
  void mfma();
  void ds();
  void flat();
  void buffer();

  /// A 9-bit source field (or 8-bit: scalar and constants only).
  Source source(unsigned field, OperandType type, uint32_t literal);
  Source vector_source(unsigned index, OperandType type);
  /// Source 0 of the 32-bit vector encodings with an SDWA or DPP word in place of a literal.
  void first_source(unsigned position, bool compare);
  void sdwa(uint32_t word, bool compare);
  void dpp(uint32_t word);
  void finish_sources();

  Program &program_;
  std::array<uint32_t, 4> words_{};
  Instruction out_;
  const Operation *operation_ = nullptr;
};

} // namespace nereid::sim
