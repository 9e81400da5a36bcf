// SMEM: loads, stores and atomics through the scalar cache, time, cache maintenance.

#include <cstring>

#include <fmt/format.h>

#include "sim/operations.h"
#include "sim/vector_memory.h"

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

/// What a buffer descriptor says to scalar instructions.
struct ScalarBuffer {
  uint64_t start, size;
  ScalarBuffer(const Wave &wave, unsigned base)
      : start(wave.scalar_pair(base) & 0xFFFFFFFFFFFF), size(wave.sgpr[base + 2]) {
    if (uint32_t stride = wave.sgpr[base + 1] >> 16 & 0x3FFF)
      size *= stride;
  }
};
uint64_t buffer_offset(const Wave &wave, const Instruction &instruction) {
  return scalar_offset(wave, instruction) & 0xFFFFFFFC;
}

template <unsigned Words> void buffer_load(Wave &wave, const Instruction &instruction) {
  const ScalarBuffer buffer(wave, instruction.scalar_base);
  for (unsigned k = 0; k < Words; ++k) {
    uint64_t at = buffer_offset(wave, instruction) + 4 * k;
    uint32_t word = 0;
    if (at + 4 <= buffer.size) {
      const std::byte *from = wave.global(buffer.start + at, 4);
      if (!from)
        return wave.raise_out_of_bounds(buffer.start + at, 4, -1, "scalar buffer load");
      std::memcpy(&word, from, 4);
    }
    wave.set_scalar(instruction.destination + k, word);
  }
}

/// Stores words of scalar registers; words of a buffer out of range are dropped.
template <unsigned Words, bool Buffer> void store(Wave &wave, const Instruction &instruction) {
  uint64_t start = 0, size = ~uint64_t{0}, offset;
  if constexpr (Buffer) {
    const ScalarBuffer buffer(wave, instruction.scalar_base);
    start = buffer.start;
    size = buffer.size;
    offset = buffer_offset(wave, instruction);
  } else {
    offset = (wave.scalar_pair(instruction.scalar_base) + scalar_offset(wave, instruction)) & ~uint64_t{3};
  }
  for (unsigned k = 0; k < Words; ++k) {
    uint64_t at = offset + 4 * k;
    if (Buffer && at + 4 > size)
      continue;
    std::byte *to = wave.global(start + at, 4);
    if (!to)
      return wave.raise_out_of_bounds(start + at, 4, -1, "scalar store");
    std::memcpy(to, &wave.sgpr[(instruction.destination + k) & 127], 4);
  }
}

template <bool Buffer> void atomic(Wave &wave, const Instruction &instruction) {
  const AtomicAccess &access = global_atomics()[instruction.operation->detail];
  uint64_t address;
  if constexpr (Buffer) {
    const ScalarBuffer buffer(wave, instruction.scalar_base);
    uint64_t offset = buffer_offset(wave, instruction);
    if (offset + access.bytes > buffer.size) {
      if (instruction.returns)
        for (unsigned k = 0; k < access.bytes / 4u; ++k)
          wave.set_scalar(instruction.destination + k, 0);
      return;
    }
    address = buffer.start + offset;
  } else {
    address = (wave.scalar_pair(instruction.scalar_base) + scalar_offset(wave, instruction)) & ~uint64_t{3};
  }
  if (address % access.bytes)
    return wave.raise(FaultKind::Misaligned, -1,
                      fmt::format("scalar atomic of {} bytes at {:#x}", access.bytes, address));
  std::byte *to = wave.global(address, access.bytes);
  if (!to)
    return wave.raise_out_of_bounds(address, access.bytes, -1, "scalar atomic");
  const bool wide = access.bytes == 8;
  auto operand = [&](unsigned first) {
    return wide ? wave.scalar_pair(first & 127) : uint64_t{wave.sgpr[first & 127]};
  };
  uint64_t expected = access.compares ? operand(instruction.destination + access.bytes / 4u) : 0;
  uint64_t old = perform_atomic(access, to, operand(instruction.destination), expected);
  if (!instruction.returns)
    return;
  wave.set_scalar(instruction.destination, static_cast<uint32_t>(old));
  if (wide)
    wave.set_scalar(instruction.destination + 1u, static_cast<uint32_t>(old >> 32));
}

/// Private memory by scalar instructions: the base is an address, the register offset counts 64 bytes.
template <Handler Access> void scratch(Wave &wave, const Instruction &instruction) {
  Instruction global = instruction;
  if (global.uses_offset) {
    global.immediate +=
        static_cast<int32_t>(64 * static_cast<uint32_t>(wave.scalar_value(instruction.source[0], false)));
    global.uses_offset = false;
  }
  Access(wave, global);
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
  std::vector<Operation> rows = {
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
      // A hint to the address translation.
      row("s_atc_probe", [](Wave &, const Instruction &) {}),
      row("s_atc_probe_buffer", [](Wave &, const Instruction &) {}),
      row("s_store_dword", store<1, false>),
      row("s_store_dwordx2", store<2, false>),
      row("s_store_dwordx4", store<4, false>),
      row("s_buffer_store_dword", store<1, true>),
      row("s_buffer_store_dwordx2", store<2, true>),
      row("s_buffer_store_dwordx4", store<4, true>),
      row("s_scratch_load_dword", scratch<load<1>>),
      row("s_scratch_load_dwordx2", scratch<load<2>>),
      row("s_scratch_load_dwordx4", scratch<load<4>>),
      row("s_scratch_store_dword", scratch<store<1, false>>),
      row("s_scratch_store_dwordx2", scratch<store<2, false>>),
      row("s_scratch_store_dwordx4", scratch<store<4, false>>),
  };
  for (size_t k = 0; k < global_atomics().size(); ++k) {
    const AtomicAccess &access = global_atomics()[k];
    if (access.is_float)
      continue;
    rows.push_back(row("s_atomic_" + std::string(access.name), atomic<false>));
    rows.back().detail = static_cast<uint32_t>(k);
    rows.push_back(row("s_buffer_atomic_" + std::string(access.name), atomic<true>));
    rows.back().detail = static_cast<uint32_t>(k);
  }
  return rows;
}

} // namespace nereid::sim
