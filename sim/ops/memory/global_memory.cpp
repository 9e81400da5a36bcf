// GLOBAL, FLAT and SCRATCH instructions.

#include "sim/decode/operations.h"
#include "sim/ops/memory/lane_memory.h"

namespace nereid::sim {

namespace {

enum class Segment { Flat, Global, Scratch };

using Space = MemoryAccess::Space;
using Kind = MemoryAccess::Kind;

void global_addresses(const Wave &wave, const Instruction &instruction, MemoryAccess &out) {
  const uint32_t *low = wave.vgpr[instruction.address_register].word;
  const uint32_t *high = wave.vgpr[instruction.address_register + 1].word;
  uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(instruction.immediate));
  if (instruction.scalar_base == no_scalar_base) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      out.address[lane] = (low[lane] | uint64_t{high[lane]} << 32) + offset;
  } else {
    uint64_t base = wave.scalar_pair(instruction.scalar_base) + offset;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      out.address[lane] = base + low[lane];
  }
}

/// Scratch addresses are offsets into the private memory of each lane.
void scratch_addresses(const Wave &wave, const Instruction &instruction, MemoryAccess &out) {
  uint32_t base = static_cast<uint32_t>(instruction.immediate);
  if (instruction.scalar_base != no_scalar_base)
    base += wave.sgpr[instruction.scalar_base];
  const uint32_t *offset = wave.vgpr[instruction.address_register].word;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    out.address[lane] = instruction.uses_offset ? base + offset[lane] : base;
}

/// What the lanes of a FLAT instruction touch, by the aperture that their addresses are in.
class FlatAccesses {
public:
  explicit FlatAccesses(const MemoryAccess &access) {
    uint64_t shared = 0, own = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint64_t high = access.address[lane] >> 32;
      shared |= uint64_t{high == shared_aperture} << lane;
      own |= uint64_t{high == private_aperture} << lane;
    }
    add(access, Space::Global, access.lanes & ~(shared | own));
    add(access, Space::Lds, access.lanes & shared);
    add(access, Space::Scratch, access.lanes & own);
  }
  bool locate(Wave &wave, unsigned alignment, const char *what, LanePointers &out) const {
    for (unsigned k = 0; k < count_; ++k)
      if (!sim::locate(wave, parts_[k], alignment, what, out))
        return false;
    return true;
  }
  bool shown(Wave &wave, const Instruction &instruction) const {
    for (unsigned k = 0; k < count_; ++k)
      if (!sim::shown(wave, instruction, parts_[k]))
        return false;
    return true;
  }

private:
  void add(const MemoryAccess &access, Space space, uint64_t lanes) {
    if (!lanes)
      return;
    MemoryAccess &part = parts_[count_++];
    part = access;
    part.space = space;
    part.lanes = lanes;
    if (space != Space::Global)
      for (uint64_t &address : part.address)
        address = static_cast<uint32_t>(address);
  }

  MemoryAccess parts_[3];
  unsigned count_ = 0;
};

/// Finds the bytes of the active lanes and shows them to the checker. False after a fault.
template <Segment S>
bool admit(Wave &wave, const Instruction &instruction, MemoryAccess &access, unsigned alignment,
           const char *what, LanePointers &out) {
  access.lanes = wave.exec();
  if constexpr (S == Segment::Scratch) {
    access.space = Space::Scratch;
    scratch_addresses(wave, instruction, access);
  } else
    global_addresses(wave, instruction, access);
  if constexpr (S == Segment::Flat) {
    const FlatAccesses accesses(access);
    return accesses.locate(wave, alignment, what, out) && accesses.shown(wave, instruction);
  }
  return locate(wave, access, alignment, what, out) && shown(wave, instruction, access);
}

template <Segment S> void load(Wave &wave, const Instruction &instruction) {
  const Access &form = loads[instruction.operation->detail];
  MemoryAccess access;
  LanePointers from;
  access.bytes = form.bytes;
  if (admit<S>(wave, instruction, access, 1, "load", from))
    load_lanes(wave, instruction.destination, form, access.lanes, from);
}

template <Segment S> void store(Wave &wave, const Instruction &instruction) {
  const Access &form = stores[instruction.operation->detail];
  MemoryAccess access;
  LanePointers to;
  access.kind = Kind::Store;
  access.bytes = form.bytes;
  if (admit<S>(wave, instruction, access, 1, "store", to))
    store_lanes(wave, instruction.data, form, access.lanes, to);
}

/// The immediate offset counts for both addresses.
template <Segment S> void load_to_lds(Wave &wave, const Instruction &instruction) {
  const Access &form = loads[instruction.operation->detail];
  MemoryAccess access, destination;
  LanePointers from, to;
  access.bytes = form.bytes;
  access.to_lds = true;
  lds_destination(wave, instruction, form, wave.exec(), destination);
  if (locate(wave, destination, 4, "load to LDS", to) &&
      admit<S>(wave, instruction, access, 1, "load to LDS", from) && shown(wave, instruction, destination))
    copy_to_lds(form, access.lanes, from, to);
}

template <Segment S> void atomic(Wave &wave, const Instruction &instruction) {
  const AtomicAccess &form = global_atomics()[instruction.operation->detail];
  MemoryAccess access;
  LanePointers places;
  access.kind = Kind::Atomic;
  access.bytes = form.bytes;
  if (!admit<S>(wave, instruction, access, form.bytes, "atomic", places))
    return;
  exchange_lanes(
      wave, instruction.destination, instruction.returns, form.bytes, access.lanes, places,
      [&](unsigned lane, std::byte *at) { return perform_atomic(wave, form, instruction, lane, at); });
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
