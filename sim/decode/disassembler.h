#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sim/state/effects.h"
#include "sim/state/operation.h"

namespace nereid::sim {

/// LLVM's gfx950 disassembler: names and sizes of instructions. One object serves one thread at a time.
class Disassembler {
public:
  Disassembler();
  ~Disassembler();

  struct Decoded {
    unsigned size = 0;         ///< bytes; 0 when the bytes are no instruction
    std::string_view mnemonic; ///< without the suffix of the encoding, valid as long as the object
  };
  Decoded decode(std::span<const std::byte> code, uint64_t address);
  /// The registers of an instruction, whose row is `operation`; none when the bytes are undecodable.
  Effects effects(std::span<const std::byte> code, uint64_t address, const Operation &operation);
  /// The instruction as assembler text, for messages.
  std::string text(std::span<const std::byte> code, uint64_t address);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace nereid::sim
