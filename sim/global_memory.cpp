// GLOBAL, FLAT and SCRATCH instructions.

#include <fmt/format.h>

#include "sim/operations.h"
#include "sim/vector_memory.h"

namespace nereid::sim {

namespace {

enum class Segment { Flat, Global, Scratch };

/// Per-lane addresses of an instruction.
struct Addresses {
  uint64_t lane[lane_count];
};

void global_addresses(const Wave &wave, const Instruction &instruction, Addresses &out) {
  const uint32_t *low = wave.vgpr[instruction.address_register].word;
  const uint32_t *high = wave.vgpr[instruction.address_register + 1].word;
  uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(instruction.immediate));
  if (instruction.scalar_base == no_scalar_base) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      out.lane[lane] = (low[lane] | uint64_t{high[lane]} << 32) + offset;
  } else {
    uint64_t base = wave.scalar_pair(instruction.scalar_base) + offset;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      out.lane[lane] = base + low[lane];
  }
}

/// Scratch addresses are offsets into the private memory of each lane.
void scratch_addresses(const Wave &wave, const Instruction &instruction, Addresses &out) {
  uint32_t base = static_cast<uint32_t>(instruction.immediate);
  if (instruction.scalar_base != no_scalar_base)
    base += wave.sgpr[instruction.scalar_base];
  const uint32_t *offset = wave.vgpr[instruction.address_register].word;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    out.lane[lane] = instruction.uses_offset ? base + offset[lane] : base;
}

std::byte *scratch_bytes(Wave &wave, uint64_t address, size_t bytes, unsigned lane, const char *access) {
  if (address <= wave.scratch_size && bytes <= wave.scratch_size - address)
    return wave.scratch + uint64_t{lane} * wave.scratch_size + address;
  wave.raise(FaultKind::OutOfBounds, static_cast<int>(lane),
             fmt::format("{} of {} bytes at scratch address {:#x} is outside the {} bytes of a lane", access,
                         bytes, address, wave.scratch_size));
  return nullptr;
}

/// The host bytes of a lane's access, or null after raising a fault.
template <Segment S>
std::byte *resolve(Wave &wave, uint64_t address, size_t bytes, unsigned lane, const char *access) {
  if constexpr (S == Segment::Scratch)
    return scratch_bytes(wave, address, bytes, lane, access);
  if constexpr (S == Segment::Flat) {
    if (address >> 32 == shared_aperture)
      return lds_bytes(wave, static_cast<uint32_t>(address), bytes, static_cast<int>(lane), access);
    if (address >> 32 == private_aperture)
      return scratch_bytes(wave, static_cast<uint32_t>(address), bytes, lane, access);
  }
  if (std::byte *found = wave.global(address, bytes)) [[likely]]
    return found;
  wave.raise_out_of_bounds(address, bytes, static_cast<int>(lane), access);
  return nullptr;
}

template <Segment S> void addresses(const Wave &wave, const Instruction &instruction, Addresses &out) {
  if constexpr (S == Segment::Scratch)
    scratch_addresses(wave, instruction, out);
  else
    global_addresses(wave, instruction, out);
}

template <Segment S> void load(Wave &wave, const Instruction &instruction) {
  const Access &access = loads[instruction.operation->detail];
  Addresses at;
  addresses<S>(wave, instruction, at);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    const std::byte *from = resolve<S>(wave, at.lane[lane], access.bytes, lane, "load");
    if (!from)
      return;
    put_loaded(wave, instruction.destination, lane, access, from);
  }
}

template <Segment S> void store(Wave &wave, const Instruction &instruction) {
  const Access &access = stores[instruction.operation->detail];
  Addresses at;
  addresses<S>(wave, instruction, at);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    std::byte *to = resolve<S>(wave, at.lane[lane], access.bytes, lane, "store");
    if (!to)
      return;
    take_stored(wave, instruction.data, lane, access, to);
  }
}

/// Loads to LDS: lane l writes at M0 + offset + l * step, the offset counting for both addresses.
template <Segment S> void load_to_lds(Wave &wave, const Instruction &instruction) {
  const Access &access = loads[instruction.operation->detail];
  unsigned step = access.bytes > 4 ? 16 : 4;
  uint64_t base = (wave.sgpr[scalar::m0] & 0x3FFFF) + static_cast<uint64_t>(int64_t{instruction.immediate});
  Addresses at;
  addresses<S>(wave, instruction, at);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    const std::byte *from = resolve<S>(wave, at.lane[lane], access.bytes, lane, "load to LDS");
    if (!from)
      return;
    unsigned bytes = access.bytes < 4 ? 4u : access.bytes;
    std::byte *to =
        lds_bytes(wave, base + uint64_t{lane} * step, bytes, static_cast<int>(lane), "load to LDS");
    if (!to)
      return;
    if (access.bytes >= 4) {
      std::memcpy(to, from, access.bytes);
      continue;
    }
    uint32_t value = 0;
    std::memcpy(&value, from, access.bytes);
    if (access.sign_extend)
      value = access.bytes == 1 ? static_cast<uint32_t>(static_cast<int8_t>(value))
                                : static_cast<uint32_t>(static_cast<int16_t>(value));
    std::memcpy(to, &value, 4);
  }
}

template <Segment S> void atomic(Wave &wave, const Instruction &instruction) {
  const AtomicAccess &access = global_atomics()[instruction.operation->detail];
  Addresses at;
  addresses<S>(wave, instruction, at);
  uint64_t exec = wave.exec();
  unsigned words = access.bytes / 4;
  auto operand = [&](unsigned first, unsigned lane) {
    uint64_t value = wave.vgpr[first].word[lane];
    return words == 2 ? value | uint64_t{wave.vgpr[first + 1].word[lane]} << 32 : value;
  };
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    if (at.lane[lane] % access.bytes)
      return wave.raise(FaultKind::Misaligned, static_cast<int>(lane),
                        fmt::format("atomic of {} bytes at {:#x}", access.bytes, at.lane[lane]));
    std::byte *to = resolve<S>(wave, at.lane[lane], access.bytes, lane, "atomic");
    if (!to)
      return;
    uint64_t expected = access.compares ? operand(instruction.data + words, lane) : 0;
    uint64_t old = perform_atomic(access, to, operand(instruction.data, lane), expected);
    if (!instruction.returns)
      continue;
    wave.vgpr[instruction.destination].word[lane] = static_cast<uint32_t>(old);
    if (words == 2)
      wave.vgpr[instruction.destination + 1].word[lane] = static_cast<uint32_t>(old >> 32);
  }
}

template <Segment S> void rows(std::vector<Operation> &out, const std::string &prefix) {
  auto add = [&](std::string name, Category category, Handler handler, size_t detail, unsigned traits = 0) {
    Operation row = custom_operation(std::move(name), category, handler, OperandType::None);
    row.detail = static_cast<uint32_t>(detail);
    row.traits = static_cast<uint16_t>(traits);
    out.push_back(row);
  };
  for (size_t k = 0; k < std::size(loads); ++k) {
    add(prefix + "_load_" + std::string(loads[k].suffix), Category::VmemLoad, load<S>, k);
    // FLAT proper has no loads to LDS, and those of scratch move at most a word.
    const bool to_lds = S == Segment::Global || (S == Segment::Scratch && loads[k].bytes <= 4);
    if (to_lds && !loads[k].half && loads[k].bytes != 8)
      add(prefix + "_load_lds_" + std::string(loads[k].suffix), Category::VmemLoad, load_to_lds<S>, k);
  }
  for (size_t k = 0; k < std::size(stores); ++k)
    add(prefix + "_store_" + std::string(stores[k].suffix), Category::VmemStore, store<S>, k);
  if constexpr (S != Segment::Scratch)
    for (size_t k = 0; k < global_atomics().size(); ++k) {
      const AtomicAccess &access = global_atomics()[k];
      add(prefix + "_atomic_" + std::string(access.name), Category::VmemAtomic, atomic<S>, k,
          access.is_float ? Operation::FloatAtomic : Operation::None);
    }
}

} // namespace

std::vector<Operation> global_memory_operations() {
  std::vector<Operation> out;
  rows<Segment::Flat>(out, "flat");
  rows<Segment::Global>(out, "global");
  rows<Segment::Scratch>(out, "scratch");
  return out;
}

} // namespace nereid::sim
