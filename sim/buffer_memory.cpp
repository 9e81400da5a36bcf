// MUBUF: loads, stores, atomics and loads to LDS through a buffer descriptor.

#include <fmt/format.h>

#include "sim/buffer_address.h"
#include "sim/operations.h"
#include "sim/vector_memory.h"

namespace nereid::sim {

namespace {

/// Accesses of a word or more ignore the low address bits on the hardware: such an address is never meant.
bool check_alignment(Wave &wave, uint64_t address, unsigned bytes, unsigned lane) {
  if (bytes < 4 || address % 4 == 0)
    return true;
  wave.raise(FaultKind::Misaligned, static_cast<int>(lane),
             fmt::format("buffer access of {} bytes at {:#x}, which is no multiple of 4", bytes, address));
  return false;
}

/// Reads what a lane loads; dwords out of range are zero. False after a fault.
bool gather(Wave &wave, const BufferAddressing &addressing, const Access &access, unsigned lane,
            std::byte *to) {
  BufferPlace place = addressing(lane);
  uint64_t address = addressing.base() + place.offset;
  if (addressing.in_range(place, access.bytes)) [[likely]] {
    if (!check_alignment(wave, address, access.bytes, lane))
      return false;
    const std::byte *from = wave.global(address, access.bytes);
    if (!from) {
      wave.raise_out_of_bounds(address, access.bytes, static_cast<int>(lane), "buffer load");
      return false;
    }
    std::memcpy(to, from, access.bytes);
    return true;
  }
  std::memset(to, 0, 16);
  for (unsigned word = 0; access.bytes > 4 && word < access.words; ++word) {
    BufferPlace part{place.offset + 4 * word, place.index_in_range};
    if (!addressing.in_range(part, 4))
      continue;
    if (!check_alignment(wave, address, access.bytes, lane))
      return false;
    const std::byte *from = wave.global(address + 4 * word, 4);
    if (!from) {
      wave.raise_out_of_bounds(address + 4 * word, 4, static_cast<int>(lane), "buffer load");
      return false;
    }
    std::memcpy(to + 4 * word, from, 4);
  }
  return true;
}

void load(Wave &wave, const Instruction &instruction) {
  const Access &access = loads[instruction.operation->detail];
  BufferAddressing addressing(wave, instruction);
  uint64_t exec = wave.exec();
  std::byte bytes[16];
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    if (!gather(wave, addressing, access, lane, bytes))
      return;
    put_loaded(wave, instruction.data, lane, access, bytes);
  }
}

/// Lane l writes at M0 + offset + l * step of LDS; lanes out of range write zeros.
void load_to_lds(Wave &wave, const Instruction &instruction) {
  const Access &access = loads[instruction.operation->detail];
  BufferAddressing addressing(wave, instruction);
  unsigned step = access.bytes > 4 ? 16 : 4, written = access.bytes < 4 ? 4 : access.bytes;
  uint64_t base = (wave.sgpr[scalar::m0] & 0x3FFFF) + static_cast<uint32_t>(instruction.immediate);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    std::byte bytes[16] = {};
    if (!gather(wave, addressing, access, lane, bytes))
      return;
    std::byte *to =
        lds_bytes(wave, base + uint64_t{lane} * step, written, static_cast<int>(lane), "load to LDS");
    if (!to)
      return;
    if (access.sign_extend) {
      bool negative = static_cast<int8_t>(bytes[access.bytes - 1]) < 0;
      std::memset(bytes + access.bytes, negative ? 0xFF : 0, 4 - access.bytes);
    } else if (access.bytes < 4) {
      std::memset(bytes + access.bytes, 0, 4 - access.bytes);
    }
    std::memcpy(to, bytes, written);
  }
}

void load_either(Wave &wave, const Instruction &instruction) {
  instruction.to_lds ? load_to_lds(wave, instruction) : load(wave, instruction);
}

void store(Wave &wave, const Instruction &instruction) {
  const Access &access = stores[instruction.operation->detail];
  BufferAddressing addressing(wave, instruction);
  uint64_t exec = wave.exec();
  std::byte bytes[16];
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    take_stored(wave, instruction.data, lane, access, bytes);
    BufferPlace place = addressing(lane);
    // Each dword of a longer store is dropped or kept by itself.
    bool whole = addressing.in_range(place, access.bytes);
    unsigned pieces = whole || access.bytes <= 4 ? 1 : access.words;
    unsigned size = access.bytes / pieces;
    for (unsigned piece = 0; piece < pieces; ++piece) {
      BufferPlace part{place.offset + size * piece, place.index_in_range};
      if (!addressing.in_range(part, size))
        continue;
      uint64_t address = addressing.base() + part.offset;
      if (!check_alignment(wave, address, access.bytes, lane))
        return;
      std::byte *to = wave.global(address, size);
      if (!to)
        return wave.raise_out_of_bounds(address, size, static_cast<int>(lane), "buffer store");
      std::memcpy(to, bytes + size * piece, size);
    }
  }
}

void atomic(Wave &wave, const Instruction &instruction) {
  const AtomicAccess &access = global_atomics()[instruction.operation->detail];
  BufferAddressing addressing(wave, instruction);
  uint64_t exec = wave.exec();
  unsigned words = access.bytes / 4;
  auto operand = [&](unsigned first, unsigned lane) {
    uint64_t value = wave.vgpr[first].word[lane];
    return words == 2 ? value | uint64_t{wave.vgpr[first + 1].word[lane]} << 32 : value;
  };
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    BufferPlace place = addressing(lane);
    uint64_t old = 0;
    if (addressing.in_range(place, access.bytes)) {
      uint64_t address = addressing.base() + place.offset;
      if (address % access.bytes)
        return wave.raise(FaultKind::Misaligned, static_cast<int>(lane),
                          fmt::format("buffer atomic of {} bytes at {:#x}", access.bytes, address));
      std::byte *to = wave.global(address, access.bytes);
      if (!to)
        return wave.raise_out_of_bounds(address, access.bytes, static_cast<int>(lane), "buffer atomic");
      uint64_t expected = access.compares ? operand(instruction.data + words, lane) : 0;
      old = perform_atomic(access, to, operand(instruction.data, lane), expected);
    }
    if (!instruction.returns)
      continue;
    wave.vgpr[instruction.data].word[lane] = static_cast<uint32_t>(old);
    if (words == 2)
      wave.vgpr[instruction.data + 1].word[lane] = static_cast<uint32_t>(old >> 32);
  }
}

} // namespace

std::vector<Operation> buffer_memory_operations() {
  std::vector<Operation> rows;
  auto add = [&](std::string name, Category category, Handler handler, size_t detail, unsigned traits = 0) {
    Operation row = custom_operation("buffer_" + name, category, handler, OperandType::None);
    row.detail = static_cast<uint32_t>(detail);
    row.traits = static_cast<uint16_t>(traits);
    rows.push_back(row);
  };
  for (size_t k = 0; k < std::size(loads); ++k)
    add("load_" + std::string(loads[k].suffix), Category::VmemLoad, load_either, k);
  for (size_t k = 0; k < std::size(stores); ++k)
    add("store_" + std::string(stores[k].suffix), Category::VmemStore, store, k);
  for (size_t k = 0; k < global_atomics().size(); ++k)
    add("atomic_" + std::string(global_atomics()[k].name), Category::VmemAtomic, atomic, k,
        global_atomics()[k].is_float ? Operation::FloatAtomic : Operation::None);
  for (const char *name : {"inv", "wbl2"})
    add(name, Category::Other, [](Wave &, const Instruction &) {}, 0);
  return rows;
}

} // namespace nereid::sim
