// MUBUF: loads, stores, atomics and loads to LDS through a buffer descriptor.

#include <bit>
#include <cstring>

#include "sim/decode/operations.h"
#include "sim/ops/memory/buffer_address.h"
#include "sim/ops/memory/lane_memory.h"

namespace nereid::sim {

namespace {

using Kind = MemoryAccess::Kind;

/// Accesses of a word or more ignore the low address bits on the hardware: such an address is never meant.
unsigned alignment_of(const Access &form) { return form.bytes < 4 ? 1 : 4; }

bool by_dword(const Access &form) { return form.bytes > 4; }

/// What the lanes load: zeros where the range check drops something.
class Loaded {
public:
  /// Places the bytes of `active` lanes, of which `access` has located some.
  Loaded(uint64_t active, const MemoryAccess &access, LanePointers &from) {
    static constexpr std::byte zeros[16] = {};
    each_lane(active & ~access.lanes, [&](unsigned lane) { from.at[lane] = const_cast<std::byte *>(zeros); });
    if (!access.partial)
      return;
    each_lane(access.lanes, [&](unsigned lane) {
      const size_t bytes = 4 * static_cast<size_t>(std::popcount(access.dwords[lane]));
      if (bytes == access.bytes)
        return;
      std::memset(part_[lane], 0, sizeof part_[lane]);
      std::memcpy(part_[lane], from.at[lane], bytes);
      from.at[lane] = part_[lane];
    });
  }

private:
  std::byte part_[lane_count][16];
};

void load(Wave &wave, const Instruction &instruction) {
  const Access &form = loads[instruction.operation->detail];
  const uint64_t active = wave.exec();
  MemoryAccess access;
  LanePointers from;
  access.bytes = form.bytes;
  BufferAddressing(wave, instruction).find(active, by_dword(form), access);
  if (!locate(wave, access, alignment_of(form), "buffer load", from) || !shown(wave, instruction, access))
    return;
  const Loaded loaded(active, access, from);
  load_lanes(wave, instruction.data, form, active, from);
}

/// Lanes out of range write zeros to LDS.
void load_to_lds(Wave &wave, const Instruction &instruction) {
  const Access &form = loads[instruction.operation->detail];
  const uint64_t active = wave.exec();
  MemoryAccess access, destination;
  LanePointers from, to;
  access.bytes = form.bytes;
  access.to_lds = true;
  BufferAddressing(wave, instruction).find(active, by_dword(form), access);
  lds_destination(wave, instruction, form, active, destination);
  if (!locate(wave, access, alignment_of(form), "buffer load to LDS", from) ||
      !locate(wave, destination, 4, "buffer load to LDS", to) || !shown(wave, instruction, access) ||
      !shown(wave, instruction, destination))
    return;
  const Loaded loaded(active, access, from);
  copy_to_lds(form, active, from, to);
}

void load_either(Wave &wave, const Instruction &instruction) {
  instruction.to_lds ? load_to_lds(wave, instruction) : load(wave, instruction);
}

void store(Wave &wave, const Instruction &instruction) {
  const Access &form = stores[instruction.operation->detail];
  MemoryAccess access;
  LanePointers to;
  access.kind = Kind::Store;
  access.bytes = form.bytes;
  BufferAddressing(wave, instruction).find(wave.exec(), by_dword(form), access);
  if (!locate(wave, access, alignment_of(form), "buffer store", to) || !shown(wave, instruction, access))
    return;
  if (!access.partial)
    return store_lanes(wave, instruction.data, form, access.lanes, to);
  each_lane(access.lanes, [&](unsigned lane) {
    std::byte bytes[16];
    take_stored(wave, instruction.data, lane, form, bytes);
    std::memcpy(to.at[lane], bytes, 4 * static_cast<size_t>(std::popcount(access.dwords[lane])));
  });
}

/// Lanes out of range change nothing and return zero.
void atomic(Wave &wave, const Instruction &instruction) {
  const AtomicAccess &form = global_atomics()[instruction.operation->detail];
  const uint64_t active = wave.exec();
  MemoryAccess access;
  LanePointers places;
  access.kind = Kind::Atomic;
  access.bytes = form.bytes;
  BufferAddressing(wave, instruction).find(active, false, access);
  if (!locate(wave, access, form.bytes, "buffer atomic", places) || !shown(wave, instruction, access))
    return;
  exchange_lanes(wave, instruction.data, instruction.returns, form.bytes, active, places,
                 [&](unsigned lane, std::byte *at) {
                   return access.touches(lane) ? perform_atomic(wave, form, instruction, lane, at) : 0;
                 });
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
