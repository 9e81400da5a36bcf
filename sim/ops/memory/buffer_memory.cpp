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
unsigned alignment_of(const ElementForm &form) { return form.bytes < 4 ? 1 : 4; }

bool by_dword(const ElementForm &form) { return form.bytes > 4; }

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
  const ElementForm &form = instruction.operation->memory.element;
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
  const ElementForm &form = instruction.operation->memory.element;
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
  const ElementForm &form = instruction.operation->memory.element;
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
  const AtomicAccess &form = atomic_of(*instruction.operation);
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
  using Form = MemoryForm::Kind;
  std::vector<Operation> rows;
  const auto add = [&](const std::string &name, Category category, Handler handler, Form kind,
                       const ElementForm &element) -> Operation & {
    const MemoryForm form{.kind = kind, .addressing = Addressing::Buffer, .element = element};
    return rows.emplace_back(memory_operation("buffer_" + name, category, handler, form));
  };
  for (const auto &[suffix, element] : loads)
    add("load_" + std::string(suffix), Category::VmemLoad, load_either, Form::Load, element);
  for (const auto &[suffix, element] : stores)
    add("store_" + std::string(suffix), Category::VmemStore, store, Form::Store, element);
  for (const AtomicAccess &access : global_atomics())
    describe_atomic(add("atomic_" + std::string(access.name), Category::VmemAtomic, atomic, Form::Atomic, {}),
                    access);
  const Handler nothing = [](Wave &, const Instruction &) {};
  add("wbl2", Category::Other, nothing, Form::WriteBack, {});
  add("inv", Category::Other, nothing, Form::Invalidate, {}).counter = WaitCounter::None;
  return rows;
}

} // namespace nereid::sim
