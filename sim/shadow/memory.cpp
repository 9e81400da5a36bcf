// How marks go through memory: LDS and private memory have the planes that registers have, global memory has
// undefined bits that outlive the launch.

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/decode/program.h"
#include "sim/shadow/checker.h"

namespace nereid::sim {

namespace {

using Space = MemoryAccess::Space;
using Kind = MemoryAccess::Kind;

constexpr unsigned p_undefined = static_cast<unsigned>(Plane::Undefined),
                   p_computed = static_cast<unsigned>(Plane::Computed),
                   p_nan = static_cast<unsigned>(Plane::NanScale);

bool any_set(const std::byte *at, unsigned bytes) {
  uint64_t found = 0;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    found |= word;
  }
  for (unsigned k = 0; k < bytes; ++k)
    found |= static_cast<uint64_t>(at[k]);
  return found != 0;
}

/// Sets bytes to zero; the usual sizes without a call.
void clear(std::byte *at, unsigned bytes) {
  switch (bytes) {
  case 4:
    std::memset(at, 0, 4);
    break;
  case 8:
    std::memset(at, 0, 8);
    break;
  case 16:
    std::memset(at, 0, 16);
    break;
  default:
    std::memset(at, 0, bytes);
  }
}

template <class F> void each_lane(uint64_t lanes, F function) {
  for (; lanes; lanes &= lanes - 1)
    function(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// Calls `function(offset, bytes)` for the parts of a lane's access that are in range.
template <class F> void each_part(const MemoryAccess &access, unsigned lane, F function) {
  if (!access.partial)
    return function(0u, unsigned{access.bytes});
  for (unsigned word = 0; 4 * word < access.bytes; ++word)
    if (access.dwords[lane] >> word & 1)
      function(4 * word, std::min(4u, access.bytes - 4 * word));
}

} // namespace

/// The memory of plane `number` for one wave.
void ShadowChecker::give_memory(Wave &plane, unsigned number, size_t scratch_offset) {
  plane.group = &groups_[number];
  plane.scratch = scratch_[number].data() + scratch_offset;
  plane.memory = &global_bits_;
  plane.recent = nullptr;
}

std::unique_ptr<Checker> ShadowChecker::fork(LaunchState &copy) const {
  auto twin = std::make_unique<ShadowChecker>(copy, undefined_, nan_scale_);
  twin->groups_ = groups_;
  twin->scratch_ = scratch_;
  twin->memory_used_ = memory_used_;
  twin->has_global_bits_ = has_global_bits_;
  if (has_global_bits_)
    twin->global_bits_ = copy.memory.undefined_bits();
  for (const auto &wave : waves_) {
    ShadowWave &shadow = *twin->waves_.emplace_back(std::make_unique<ShadowWave>(*wave));
    for (unsigned p = 0; p < plane_count; ++p)
      twin->give_memory(shadow.plane[p], p, static_cast<size_t>(wave->plane[p].scratch - scratch_[p].data()));
  }
  return twin;
}

void ShadowChecker::begin_memory(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  for (unsigned p = 0; p < plane_count; ++p) {
    groups_[p].lds.resize(group.lds.size());
    scratch_[p].resize(size_t{state_.scratch_size} * lane_count * waves.size());
    const bool ones = p == p_undefined && undefined_;
    if (ones || memory_used_[p]) {
      std::fill(groups_[p].lds.begin(), groups_[p].lds.end(), ones ? std::byte{0xFF} : std::byte{0});
      std::fill(scratch_[p].begin(), scratch_[p].end(), ones ? std::byte{0xFF} : std::byte{0});
    }
    memory_used_[p] = ones;
    for (const auto &wave : waves) {
      Wave &plane = waves_[wave->index]->plane[p];
      plane.scratch_size = wave->scratch_size;
      give_memory(plane, p, static_cast<size_t>(wave->scratch - waves.front()->scratch));
    }
  }
}

const Block *ShadowChecker::block_at(uint64_t address, unsigned bytes) {
  if (!recent_ || !recent_->holds(address, bytes))
    if (const Block *found = state_.memory.find(address, bytes))
      recent_ = found;
  return recent_ && recent_->holds(address, bytes) ? recent_ : nullptr;
}

std::byte *ShadowChecker::bits_at(const Step &step, const MemoryAccess &access, unsigned lane,
                                  unsigned offset, unsigned bytes, unsigned plane) {
  const uint64_t address = access.address[lane] + offset;
  switch (access.space) {
  case Space::Global: {
    if (plane != p_undefined)
      return nullptr;
    const Block *block = block_at(address, bytes);
    if (!block || !block->definedness().anything_undefined())
      return nullptr;
    std::byte *bits = block->definedness().bits();
    return bits ? bits + (address - block->address()) : nullptr;
  }
  case Space::Lds:
    return memory_used_[plane] ? groups_[plane].lds.data() + address : nullptr;
  case Space::Scratch:
    return memory_used_[plane]
               ? step.shadow.plane[plane].scratch + uint64_t{lane} * step.wave.scratch_size + address
               : nullptr;
  }
  return nullptr;
}

/// Whether no byte that the access touches can have a mark of that plane.
bool ShadowChecker::unmarked(const MemoryAccess &access, unsigned plane) {
  if (access.space != Space::Global)
    return !memory_used_[plane];
  if (plane != p_undefined || !undefined_ || !access.lanes)
    return true;
  // Usually all lanes are in one block.
  const Block *block = block_at(access.address[static_cast<unsigned>(std::countr_zero(access.lanes))], 1);
  if (!block || block->definedness().anything_undefined())
    return false;
  const uint64_t start = block->address(), last = block->size() - 1;
  uint64_t outside = 0; // its top bit is set when an address is outside
  for (uint64_t address : access.address)
    outside |= (address - start) | (last - (address - start));
  if (!(outside >> 63))
    return true;
  outside = 0; // of the lanes that count
  for (unsigned lane = 0; lane < lane_count; ++lane)
    outside |= access.address[lane] - start > last ? access.lanes & uint64_t{1} << lane : 0;
  return outside == 0;
}

/// The lanes that read a marked bit of that plane.
uint64_t ShadowChecker::marked_lanes(const Step &step, const MemoryAccess &access, unsigned plane) {
  if (unmarked(access, plane))
    return 0;
  uint64_t found = 0;
  each_lane(access.lanes, [&](unsigned lane) {
    each_part(access, lane, [&](unsigned offset, unsigned bytes) {
      if (const std::byte *bits = bits_at(step, access, lane, offset, bytes, plane))
        found |= uint64_t{any_set(bits, bytes)} << lane;
    });
  });
  return found;
}

void ShadowChecker::define_memory(const Step &step, const MemoryAccess &access, unsigned plane) {
  if (unmarked(access, plane))
    return;
  each_lane(access.lanes, [&](unsigned lane) {
    each_part(access, lane, [&](unsigned offset, unsigned bytes) {
      if (std::byte *bits = bits_at(step, access, lane, offset, bytes, plane))
        clear(bits, bytes);
    });
  });
}

/// Executes a load or a store on the planes: control comes from the wave, data and memory from the plane.
void ShadowChecker::run_memory(const Step &step, bool global) {
  if (memory_ran_)
    return;
  memory_ran_ = true;
  step.shadow.follow_exec(step.wave);
  if (!has_global_bits_) {
    global_bits_ = state_.memory.undefined_bits();
    has_global_bits_ = true;
  }
  Instruction copy = step.instruction;
  const bool has_address = !step.flow.addresses.empty();
  if (has_address)
    copy.address_register = vector_registers;
  for (unsigned p = 0; p < plane_count; ++p) {
    if (p != p_undefined && global)
      continue;
    if (!memory_used_[p] && !step.shadow.used[p] && !(p == p_undefined && undefined_))
      continue;
    const bool loads = step.flow.loads;
    (loads ? step.shadow.used[p] : memory_used_[p]) = true;
    Wave &plane = step.shadow.plane[p];
    const auto marks = plane.sgpr;
    plane.sgpr = step.wave.sgpr;
    if (has_address)
      for (unsigned k = 0; k < 2; ++k)
        plane.vgpr[vector_registers + k] = step.wave.vgpr[step.instruction.address_register + k];
    copy.run(plane, copy);
    plane.fault.reset();
    const auto loaded = plane.sgpr;
    plane.sgpr = marks;
    for (unsigned half = 0; half < 2; ++half)
      for (uint64_t left = step.flow.scalar_writes[half]; left; left &= left - 1) {
        const unsigned reg = 64 * half + static_cast<unsigned>(std::countr_zero(left));
        plane.sgpr[reg] = loaded[reg];
      }
  }
  refresh_results(step);
}

/// Marks whole results of some lanes.
void ShadowChecker::mark_results(const Step &step, Plane plane, uint64_t lanes) {
  if (!lanes)
    return;
  step.shadow.used[static_cast<unsigned>(plane)] = true;
  for (const RegisterRange &range : step.flow.writes)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      each_lane(lanes, [&](unsigned lane) { step.shadow[plane].vgpr[reg].word[lane] |= step.flow.results; });
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = step.flow.scalar_writes[half]; left; left &= left - 1)
      step.shadow[plane].sgpr[64 * half + static_cast<unsigned>(std::countr_zero(left))] = ~uint32_t{0};
  refresh_results(step);
}

uint64_t ShadowChecker::marked_data(const Step &step, unsigned plane) const {
  uint64_t lanes = 0;
  for (const RegisterRange &range : step.flow.data)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      each_lane(step.shadow.marked[reg], [&](unsigned lane) {
        lanes |= uint64_t{(step.shadow.plane[plane].vgpr[reg].word[lane] & step.flow.stored) != 0} << lane;
      });
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = step.flow.scalar_data[half]; left; left &= left - 1)
      if (step.shadow.plane[plane].sgpr[64 * half + static_cast<unsigned>(std::countr_zero(left))])
        lanes |= 1;
  return lanes;
}

/// Reports what must not reach global memory.
bool ShadowChecker::report_data(const Step &step, const MemoryAccess &access, Plane plane) {
  const uint64_t lanes = marked_data(step, static_cast<unsigned>(plane)) & access.lanes;
  if (!lanes)
    return false;
  const int lane = std::countr_zero(lanes);
  for (const RegisterRange &range : step.flow.data)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      if (step.shadow.words(plane, reg)[lane] & step.flow.stored) {
        report_register(step, plane, "what is stored from", reg, lane, step.flow.stored);
        return true;
      }
  step.wave.raise(plane == Plane::NanScale ? FaultKind::NanScale : FaultKind::Undefined, -1,
                  "what a scalar instruction stores was computed from undefined bits");
  return true;
}

void ShadowChecker::load(const Step &step, const MemoryAccess &access) {
  for (unsigned p : {p_undefined, p_nan}) {
    const uint64_t lanes = marked_lanes(step, access, p);
    if (!lanes)
      continue;
    if (!step.flow.converts)
      return run_memory(step, access.space == Space::Global);
    for (Plane plane : {Plane::Undefined, Plane::Computed})
      mark_results(step, p == p_nan ? Plane::NanScale : plane, lanes);
  }
}

void ShadowChecker::store(const Step &step, const MemoryAccess &access) {
  const bool global = access.space == Space::Global;
  if (!access.to_lds && (marked_data(step, p_undefined) | marked_data(step, p_nan)) & access.lanes) {
    if (global && (report_data(step, access, Plane::Computed) || report_data(step, access, Plane::NanScale)))
      return;
    if (global && step.flow.converts) {
      report_data(step, access, Plane::Undefined);
      return;
    }
    if (global)
      each_lane(access.lanes, [&](unsigned lane) {
        if (const Block *block = block_at(access.address[lane], 1); block && block->definedness().bits())
          block->definedness().mark();
      });
    return run_memory(step, global);
  }
  for (unsigned p = 0; p < plane_count; ++p)
    if (!memory_ran_ || p != p_undefined)
      define_memory(step, access, p);
}

/// An atomic is arithmetic on memory and operand, an exchange moves both.
void ShadowChecker::atomic(const Step &step, const MemoryAccess &access) {
  const std::string_view name = step.instruction.operation->name;
  const bool exchanges = name.find("_swap") != std::string_view::npos ||
                         (name.starts_with("ds_wrxchg_") && step.flow.data.size() == 1);
  const bool global = access.space == Space::Global;
  if (global && (report_data(step, access, Plane::NanScale) ||
                 report_data(step, access, exchanges ? Plane::Computed : Plane::Undefined)))
    return;
  const uint64_t operand[plane_count] = {marked_data(step, p_undefined), marked_data(step, p_computed),
                                         marked_data(step, p_nan)};
  const unsigned words = access.bytes / 4u;
  std::array<uint64_t, plane_count> returned{};
  each_lane(access.lanes, [&](unsigned lane) {
    bool old[plane_count];
    for (unsigned p = 0; p < plane_count; ++p) {
      const std::byte *bits = bits_at(step, access, lane, 0, access.bytes, p);
      old[p] = bits && any_set(bits, access.bytes);
      returned[p] |= uint64_t{old[p]} << lane;
    }
    if (global && old[p_undefined] && !exchanges && !step.wave.fault)
      step.wave.raise(FaultKind::Undefined, static_cast<int>(lane),
                      fmt::format("an atomic computes with the {} bytes at {:#x}, which are undefined",
                                  access.bytes, access.address[lane]));
    for (unsigned p = 0; p < plane_count; ++p) {
      const bool source = operand[p == p_computed && !exchanges ? p_undefined : p] >> lane & 1;
      const bool before = old[p == p_computed && !exchanges ? p_undefined : p];
      const bool marked = exchanges ? source : source || before;
      if (marked && global)
        if (const Block *block = block_at(access.address[lane], access.bytes);
            block && block->definedness().bits())
          block->definedness().mark();
      if (marked && !global && !memory_used_[p])
        memory_used_[p] = true;
      std::byte *bits = bits_at(step, access, lane, 0, access.bytes, p);
      if (!bits)
        continue;
      for (unsigned k = 0; k < words; ++k) {
        uint32_t word = marked ? ~uint32_t{0} : 0;
        if (exchanges && !step.flow.data.empty())
          word = step.shadow.plane[p].vgpr[step.flow.data.front().first + k].word[lane];
        std::memcpy(bits + 4 * k, &word, 4);
      }
    }
  });
  if (step.wave.fault)
    return;
  define_results(step);
  // One counter for the whole wave gives all lanes the same.
  const bool shared = name == "ds_append" || name == "ds_consume";
  for (unsigned p = 0; p < plane_count; ++p)
    mark_results(step, static_cast<Plane>(p), shared && returned[p] ? step.wave.exec() : returned[p]);
}

void ShadowChecker::access(Wave &wave, const Instruction &, const MemoryAccess &access) {
  const Step step{wave, (*wave.program)[wave.current], table_.flows[wave.current], *waves_[wave.index]};
  switch (access.kind) {
  case Kind::Load:
    return load(step, access);
  case Kind::Store:
    return store(step, access);
  case Kind::Atomic:
    return atomic(step, access);
  }
}

} // namespace nereid::sim
