// SMEM: loads through the scalar cache, time, cache maintenance.

#include <cstring>

#include "sim/lanes.h"
#include "sim/operations.h"

namespace nereid::sim {

namespace {

uint64_t scalar_offset(const Wave &wave, const Instruction &instruction) {
  uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(instruction.immediate));
  if (instruction.uses_offset)
    offset += static_cast<uint32_t>(wave.scalar_value(instruction.source[0], false));
  return offset;
}

template <unsigned Words> void load(Wave &wave, const Instruction &instruction) {
  uint64_t address =
      (wave.scalar_pair(instruction.scalar_base) + scalar_offset(wave, instruction)) & ~uint64_t{3};
  constexpr size_t bytes = 4 * Words;
  uint32_t words[Words] = {};
  if (const std::byte *from = wave.global(address, bytes)) {
    std::memcpy(words, from, bytes);
  } else {
    // Compilers widen a load of three words to four when it is aligned: what lies past the end of the buffer
    // in the same aligned piece reads as 0.
    const Block *block = wave.memory->find(address, 1);
    bool widened = block && address % bytes == 0 && bytes <= 16;
    if (!widened)
      return wave.raise_out_of_bounds(address, bytes, -1, "scalar load");
    uint64_t offset = address - block->address();
    std::memcpy(words, block->data() + offset, block->size() - offset);
  }
  for (unsigned k = 0; k < Words; ++k)
    wave.set_scalar(instruction.destination + k, words[k]);
}

template <unsigned Words> void buffer_load(Wave &wave, const Instruction &instruction) {
  unsigned base = instruction.scalar_base;
  uint64_t start = wave.scalar_pair(base) & 0xFFFFFFFFFFFF;
  uint32_t stride = wave.sgpr[base + 1] >> 16 & 0x3FFF;
  uint64_t size = uint64_t{wave.sgpr[base + 2]} * (stride ? stride : 1);
  uint64_t offset = scalar_offset(wave, instruction) & 0xFFFFFFFF;
  for (unsigned k = 0; k < Words; ++k) {
    uint64_t at = (offset & ~uint64_t{3}) + 4 * k;
    uint32_t word = 0;
    if (at + 4 <= size) {
      const std::byte *from = wave.global(start + at, 4);
      if (!from)
        return wave.raise_out_of_bounds(start + at, 4, -1, "scalar buffer load");
      std::memcpy(&word, from, 4);
    }
    wave.set_scalar(instruction.destination + k, word);
  }
}

void memory_time(Wave &wave, const Instruction &instruction) {
  // A clock that does not depend on the host keeps runs repeatable.
  wave.set_scalar_pair(instruction.destination, 4 * wave.executed);
}

} // namespace

std::vector<Operation> scalar_memory_operations() {
  auto row = [](std::string name, Handler handler) {
    return custom_operation(std::move(name), Category::Smem, handler, OperandType::None);
  };
  return {
      row("s_load_dword", load<1>),
      row("s_load_dwordx2", load<2>),
      row("s_load_dwordx4", load<4>),
      row("s_load_dwordx8", load<8>),
      row("s_load_dwordx16", load<16>),
      row("s_buffer_load_dword", buffer_load<1>),
      row("s_buffer_load_dwordx2", buffer_load<2>),
      row("s_buffer_load_dwordx4", buffer_load<4>),
      row("s_buffer_load_dwordx8", buffer_load<8>),
      row("s_buffer_load_dwordx16", buffer_load<16>),
      row("s_memtime", memory_time),
      row("s_memrealtime", memory_time),
      row("s_dcache_inv", [](Wave &, const Instruction &) {}),
      row("s_dcache_wb", [](Wave &, const Instruction &) {}),
      row("s_dcache_inv_vol", [](Wave &, const Instruction &) {}),
      row("s_dcache_wb_vol", [](Wave &, const Instruction &) {}),
  };
}

} // namespace nereid::sim
