// SMEM: loads, stores and atomics through the scalar cache, time, cache maintenance.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sim/decode/operations.h"
#include "sim/ops/memory/vector_memory.h"
#include "sim/state/memory_access.h"

namespace nereid::sim {

namespace {

uint64_t scalar_offset(const Wave &wave, const Instruction &instruction) {
  uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(instruction.immediate));
  if (instruction.uses_offset)
    offset += static_cast<uint32_t>(wave.scalar_value(instruction.source[0], false));
  return offset;
}

/// Where a scalar instruction's bytes lie: all of them, or as many of its first words as a descriptor's range
/// check leaves.
struct ScalarPlace {
  uint64_t address;
  size_t bytes;
};

template <bool Buffer> ScalarPlace place(const Wave &wave, const Instruction &instruction, size_t bytes) {
  const unsigned base = instruction.scalar_base;
  const uint64_t offset = scalar_offset(wave, instruction);
  if constexpr (!Buffer)
    return {wave.scalar_pair(base) + offset, bytes};
  const uint64_t start = wave.scalar_pair(base) & 0xFFFFFFFFFFFF, low = offset & 0xFFFFFFFF;
  const uint32_t stride = wave.sgpr[base + 1] >> 16 & 0x3FFF;
  const uint64_t size = uint64_t{wave.sgpr[base + 2]} * (stride ? stride : 1);
  return {start + low, low < size ? std::min<uint64_t>(bytes, (size - low) / 4 * 4) : 0};
}

/// Accesses ignore the low address bits on the hardware: such an address is never meant.
bool aligned(Wave &wave, uint64_t address, unsigned alignment, const char *what) {
  if (address % alignment == 0) [[likely]]
    return true;
  wave.raise(FaultKind::Misaligned, -1,
             fmt::format("{} at {:#x}, which is no multiple of {}", what, address, alignment));
  wave.fault->memory = address;
  return false;
}

/// Shows the access to the checker as one of lane 0. False after a fault.
bool shown(Wave &wave, const Instruction &instruction, MemoryAccess::Kind kind, const ScalarPlace &place) {
  if (!wave.checker)
    return true;
  MemoryAccess access;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(place.bytes);
  access.lanes = place.bytes ? 1 : 0;
  access.address[0] = place.address;
  return wave.show(instruction, access);
}

/// The bytes of a place, of which there are some; null after a fault.
std::byte *located(Wave &wave, const ScalarPlace &place, const char *what) {
  std::byte *found = wave.global(place.address, place.bytes);
  if (!found)
    wave.raise_out_of_bounds(place.address, place.bytes, -1, what);
  return found;
}

/// Words out of a descriptor's range read as 0.
template <unsigned Words, bool Buffer> void load(Wave &wave, const Instruction &instruction) {
  ScalarPlace at = place<Buffer>(wave, instruction, 4 * Words);
  if (!aligned(wave, at.address, 4, "scalar load"))
    return;
  // Compilers widen a load of three words to four when it is aligned: what lies past the end of the buffer in
  // the same aligned piece reads as 0.
  const Block *block = wave.memory->find(at.address, 1);
  if (!Buffer && Words <= 4 && block && at.address % at.bytes == 0)
    at.bytes = std::min<uint64_t>(at.bytes, block->address() + block->size() - at.address);
  const std::byte *from = at.bytes ? located(wave, at, "scalar load") : nullptr;
  if ((at.bytes && !from) || !shown(wave, instruction, MemoryAccess::Kind::Load, at))
    return;
  uint32_t words[Words] = {};
  if (from)
    std::memcpy(words, from, at.bytes);
  for (unsigned k = 0; k < Words; ++k)
    wave.set_scalar(instruction.destination + k, words[k]);
}

/// Words out of a descriptor's range are dropped.
template <unsigned Words, bool Buffer> void store(Wave &wave, const Instruction &instruction) {
  const ScalarPlace at = place<Buffer>(wave, instruction, 4 * Words);
  if (!at.bytes || !aligned(wave, at.address, 4, "scalar store"))
    return;
  std::byte *to = located(wave, at, "scalar store");
  if (!to || !shown(wave, instruction, MemoryAccess::Kind::Store, at))
    return;
  for (unsigned k = 0; 4 * k < at.bytes; ++k)
    std::memcpy(to + 4 * k, &wave.sgpr[(instruction.destination + k) & 127], 4);
}

/// Out of a descriptor's range it changes nothing and returns 0.
template <bool Buffer> void atomic(Wave &wave, const Instruction &instruction) {
  const AtomicAccess &access = atomic_of(*instruction.operation);
  const ScalarPlace at = place<Buffer>(wave, instruction, access.bytes);
  const bool wide = access.bytes == 8, dropped = at.bytes < access.bytes;
  uint64_t old = 0;
  if (!dropped) {
    if (!aligned(wave, at.address, access.bytes, "scalar atomic"))
      return;
    std::byte *to = located(wave, at, "scalar atomic");
    if (!to || !shown(wave, instruction, MemoryAccess::Kind::Atomic, at))
      return;
    auto operand = [&](unsigned first) {
      return wide ? wave.scalar_pair(first & 127) : uint64_t{wave.sgpr[first & 127]};
    };
    const uint64_t expected = access.compares ? operand(instruction.destination + access.bytes / 4u) : 0;
    old = perform_atomic(access, to, operand(instruction.destination), expected);
  }
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

Operation memory_row(std::string name, Handler handler, MemoryForm::Kind kind) {
  return memory_operation(std::move(name), Category::Smem, handler,
                          {.kind = kind, .addressing = Addressing::Scalar});
}
Operation load_row(std::string name, Handler handler) {
  return memory_row(std::move(name), handler, MemoryForm::Kind::Load);
}
Operation store_row(std::string name, Handler handler) {
  return memory_row(std::move(name), handler, MemoryForm::Kind::Store);
}

Operation other_row(std::string name, Handler handler, WaitCounter counter = WaitCounter::None) {
  Operation row = custom_operation(std::move(name), Category::Smem, handler, OperandType::None);
  row.counter = counter;
  return row;
}

} // namespace

std::vector<Operation> scalar_memory_operations() {
  const Handler nothing = [](Wave &, const Instruction &) {};
  std::vector<Operation> rows = {
      load_row("s_load_dword", load<1, false>),
      load_row("s_load_dwordx2", load<2, false>),
      load_row("s_load_dwordx4", load<4, false>),
      load_row("s_load_dwordx8", load<8, false>),
      load_row("s_load_dwordx16", load<16, false>),
      load_row("s_buffer_load_dword", load<1, true>),
      load_row("s_buffer_load_dwordx2", load<2, true>),
      load_row("s_buffer_load_dwordx4", load<4, true>),
      load_row("s_buffer_load_dwordx8", load<8, true>),
      load_row("s_buffer_load_dwordx16", load<16, true>),
      load_row("s_scratch_load_dword", scratch<load<1, false>>),
      load_row("s_scratch_load_dwordx2", scratch<load<2, false>>),
      load_row("s_scratch_load_dwordx4", scratch<load<4, false>>),
      store_row("s_store_dword", store<1, false>),
      store_row("s_store_dwordx2", store<2, false>),
      store_row("s_store_dwordx4", store<4, false>),
      store_row("s_buffer_store_dword", store<1, true>),
      store_row("s_buffer_store_dwordx2", store<2, true>),
      store_row("s_buffer_store_dwordx4", store<4, true>),
      store_row("s_scratch_store_dword", scratch<store<1, false>>),
      store_row("s_scratch_store_dwordx2", scratch<store<2, false>>),
      store_row("s_scratch_store_dwordx4", scratch<store<4, false>>),
      other_row("s_memtime", memory_time, WaitCounter::Scalar),
      other_row("s_memrealtime", memory_time, WaitCounter::Scalar),
      other_row("s_dcache_inv", nothing),
      other_row("s_dcache_wb", nothing),
      other_row("s_dcache_inv_vol", nothing),
      other_row("s_dcache_wb_vol", nothing),
      // A hint to the address translation.
      other_row("s_atc_probe", nothing),
      other_row("s_atc_probe_buffer", nothing),
  };
  for (const AtomicAccess &access : global_atomics()) {
    if (access.is_float)
      continue;
    const std::string name(access.name);
    rows.push_back(memory_row("s_atomic_" + name, atomic<false>, MemoryForm::Kind::Atomic));
    describe_atomic(rows.back(), access);
    rows.push_back(memory_row("s_buffer_atomic_" + name, atomic<true>, MemoryForm::Kind::Atomic));
    describe_atomic(rows.back(), access);
  }
  return rows;
}

} // namespace nereid::sim
