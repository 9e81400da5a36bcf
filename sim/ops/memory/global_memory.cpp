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
  const ElementForm &form = instruction.operation->memory.element;
  MemoryAccess access;
  LanePointers from;
  access.bytes = form.bytes;
  if (admit<S>(wave, instruction, access, 1, "load", from))
    load_lanes(wave, instruction.destination, form, access.lanes, from);
}

template <Segment S> void store(Wave &wave, const Instruction &instruction) {
  const ElementForm &form = instruction.operation->memory.element;
  MemoryAccess access;
  LanePointers to;
  access.kind = Kind::Store;
  access.bytes = form.bytes;
  if (admit<S>(wave, instruction, access, 1, "store", to))
    store_lanes(wave, instruction.data, form, access.lanes, to);
}

/// The immediate offset counts for both addresses.
template <Segment S> void load_to_lds(Wave &wave, const Instruction &instruction) {
  const ElementForm &form = instruction.operation->memory.element;
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
  const AtomicAccess &form = atomic_of(*instruction.operation);
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

/// FLAT proper has no loads to LDS, and those of scratch move at most a word.
bool loads_to_lds(Segment segment, const ElementForm &element) {
  const bool widths = segment == Segment::Global || (segment == Segment::Scratch && element.bytes <= 4);
  return widths && !element.half && element.bytes != 8;
}

constexpr Addressing addressing_of(Segment segment) {
  return segment == Segment::Flat     ? Addressing::Flat
         : segment == Segment::Global ? Addressing::Global
                                      : Addressing::Scratch;
}

template <Segment S> void rows(std::vector<Operation> &out, const std::string &prefix) {
  using Form = MemoryForm::Kind;
  const auto add = [&](const char *action, std::string_view suffix, Category category, Handler handler,
                       Form kind, const ElementForm &element) -> Operation & {
    const MemoryForm form{.kind = kind, .addressing = addressing_of(S), .element = element};
    return out.emplace_back(memory_operation(prefix + action + std::string(suffix), category, handler, form));
  };
  for (const auto &[suffix, element] : loads) {
    add("_load_", suffix, Category::VmemLoad, load<S>, Form::Load, element);
    if (loads_to_lds(S, element))
      add("_load_lds_", suffix, Category::VmemLoad, load_to_lds<S>, Form::Load, element).hazard =
          HazardClass::ReadsM0;
  }
  for (const auto &[suffix, element] : stores)
    add("_store_", suffix, Category::VmemStore, store<S>, Form::Store, element);
  if constexpr (S != Segment::Scratch)
    for (const AtomicAccess &access : global_atomics())
      describe_atomic(add("_atomic_", access.name, Category::VmemAtomic, atomic<S>, Form::Atomic, {}),
                      access);
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
