// How taint propagates through memory: LDS and private memory have the planes that registers have, global
// memory has undefined bits that outlive the launch.

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/decode/program.h"
#include "sim/shadow/checker.h"
#include "sim/shadow/registers.h"
#include "sim/state/lane_mask.h"

namespace nereid::sim {

namespace {

using Space = MemoryAccess::Space;

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

/// Calls `function(offset, bytes)` for the parts of a lane's access that are in range.
template <class F> void each_part(const MemoryAccess &access, unsigned lane, F function) {
  if (!access.partial)
    return function(0u, unsigned{access.bytes});
  for (unsigned word = 0; 4 * word < access.bytes; ++word)
    if (access.dwords[lane] >> word & 1)
      function(4 * word, std::min(4u, access.bytes - 4 * word));
}

} // namespace

/// Gives a plane of a wave its memory.
void ShadowChecker::give_memory(Wave &plane, ShadowPlane which, size_t scratch_offset) {
  plane.group = &groups_[index_of(which)];
  plane.scratch = scratch_[index_of(which)].data() + scratch_offset;
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
    for (ShadowPlane plane : shadow_planes)
      twin->give_memory(shadow[plane], plane,
                        static_cast<size_t>((*wave)[plane].scratch - scratch_[index_of(plane)].data()));
  }
  return twin;
}

void ShadowChecker::begin_memory(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  for (ShadowPlane plane : shadow_planes) {
    std::vector<std::byte> &lds = groups_[index_of(plane)].lds, &scratch = scratch_[index_of(plane)];
    lds.resize(group.lds.size());
    scratch.resize(size_t{state_.scratch_size} * lane_count * waves.size());
    const bool ones = plane == ShadowPlane::Undefined && undefined_;
    if (ones || memory_uses(plane)) {
      std::fill(lds.begin(), lds.end(), ones ? std::byte{0xFF} : std::byte{0});
      std::fill(scratch.begin(), scratch.end(), ones ? std::byte{0xFF} : std::byte{0});
    }
    memory_used_[index_of(plane)] = ones;
    for (const auto &wave : waves) {
      Wave &shadow = (*waves_[wave->index])[plane];
      shadow.scratch_size = wave->scratch_size;
      give_memory(shadow, plane, static_cast<size_t>(wave->scratch - waves.front()->scratch));
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
                                  unsigned offset, unsigned bytes, ShadowPlane plane) {
  const uint64_t address = access.address[lane] + offset;
  if (access.space != Space::Global && !memory_uses(plane))
    return nullptr;
  switch (access.space) {
  case Space::Global: {
    if (plane != ShadowPlane::Undefined)
      return nullptr;
    const Block *block = block_at(address, bytes);
    if (!block || !block->definedness().anything_undefined())
      return nullptr;
    std::byte *bits = block->definedness().bits();
    return bits ? bits + (address - block->address()) : nullptr;
  }
  case Space::Lds:
    return groups_[index_of(plane)].lds.data() + address;
  case Space::Scratch:
    return step.shadow[plane].scratch + uint64_t{lane} * step.wave.scratch_size + address;
  }
  return nullptr;
}

/// Whether no byte that the access touches can have a shadow bit set in that plane.
bool ShadowChecker::is_untainted(const MemoryAccess &access, ShadowPlane plane) {
  if (access.space != Space::Global)
    return !memory_uses(plane);
  if (plane != ShadowPlane::Undefined || !undefined_ || !access.lanes)
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

/// The lanes that read a byte with a shadow bit set in that plane.
uint64_t ShadowChecker::tainted_lanes(const Step &step, const MemoryAccess &access, ShadowPlane plane) {
  if (is_untainted(access, plane))
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

void ShadowChecker::define_memory(const Step &step, const MemoryAccess &access, ShadowPlane plane) {
  if (is_untainted(access, plane))
    return;
  each_lane(access.lanes, [&](unsigned lane) {
    each_part(access, lane, [&](unsigned offset, unsigned bytes) {
      if (std::byte *bits = bits_at(step, access, lane, offset, bytes, plane))
        clear(bits, bytes);
    });
  });
}

void ShadowChecker::expect_undefined(uint64_t address, unsigned bytes) {
  if (const Block *block = block_at(address, bytes); block && block->definedness().bits())
    block->definedness().expect_undefined();
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
  const bool has_address = !step.rule.addresses.empty();
  if (has_address)
    copy.address_register = vector_registers;
  for (ShadowPlane which : shadow_planes) {
    const bool is_undefined = which == ShadowPlane::Undefined;
    if (!is_undefined && global)
      continue;
    if (!memory_uses(which) && !step.shadow.uses(which) && !(is_undefined && undefined_))
      continue;
    (step.rule.loads ? step.shadow.uses(which) : memory_used_[index_of(which)]) = true;
    Wave &plane = step.shadow[which];
    const auto bits = plane.sgpr;
    plane.sgpr = step.wave.sgpr;
    if (has_address)
      for (unsigned k = 0; k < 2; ++k)
        plane.vgpr[vector_registers + k] = step.wave.vgpr[step.instruction.address_register + k];
    copy.run(plane, copy);
    plane.fault.reset();
    const auto loaded = plane.sgpr;
    plane.sgpr = bits;
    each_scalar_register(step.rule.scalar_writes, [&](unsigned reg) { plane.sgpr[reg] = loaded[reg]; });
  }
  refresh_results(step);
}

/// Taints whole results of some lanes.
void ShadowChecker::taint_results(const Step &step, ShadowPlane plane, uint64_t lanes) {
  if (!lanes)
    return;
  step.shadow.uses(plane) = true;
  each_register(step.rule.writes, [&](unsigned reg) {
    each_lane(lanes, [&](unsigned lane) { step.shadow.words(plane, reg)[lane] |= step.rule.results; });
  });
  each_scalar_register(step.rule.scalar_writes,
                       [&](unsigned reg) { step.shadow[plane].sgpr[reg] = ~uint32_t{0}; });
  refresh_results(step);
}

uint64_t ShadowChecker::tainted_data(const Step &step, ShadowPlane plane) const {
  uint64_t lanes = 0;
  each_register(step.rule.data, [&](unsigned reg) {
    const uint32_t *words = step.shadow.words(plane, reg);
    each_lane(step.shadow.tainted[reg],
              [&](unsigned lane) { lanes |= uint64_t{(words[lane] & step.rule.stored) != 0} << lane; });
  });
  each_scalar_register(step.rule.scalar_data,
                       [&](unsigned reg) { lanes |= step.shadow.scalar(plane, reg) ? 1 : 0; });
  return lanes;
}

/// Reports what must not reach global memory.
bool ShadowChecker::report_data(const Step &step, const MemoryAccess &access, ShadowPlane plane) {
  const uint64_t lanes = tainted_data(step, plane) & access.lanes;
  if (!lanes)
    return false;
  const int lane = std::countr_zero(lanes);
  each_register(step.rule.data, [&](unsigned reg) {
    if (!step.wave.fault && step.shadow.words(plane, reg)[lane] & step.rule.stored)
      report_register(step, plane, "what is stored from", reg, lane, step.rule.stored);
  });
  if (!step.wave.fault)
    step.wave.raise(plane == ShadowPlane::NanScale ? FaultKind::NanScale : FaultKind::Undefined, -1,
                    "what a scalar instruction stores was computed from undefined bits");
  return true;
}

void ShadowChecker::load(const Step &step, const MemoryAccess &access) {
  for (ShadowPlane plane : {ShadowPlane::Undefined, ShadowPlane::NanScale}) {
    const uint64_t lanes = tainted_lanes(step, access, plane);
    if (!lanes)
      continue;
    if (!step.operation().memory.converts)
      return run_memory(step, access.space == Space::Global);
    taint_results(step, plane, lanes);
    if (plane == ShadowPlane::Undefined)
      taint_results(step, ShadowPlane::Computed, lanes);
  }
}

void ShadowChecker::store(const Step &step, const MemoryAccess &access) {
  const bool global = access.space == Space::Global;
  const bool has_data = !access.to_lds;
  if (has_data && (tainted_data(step, ShadowPlane::Undefined) | tainted_data(step, ShadowPlane::NanScale)) &
                      access.lanes) {
    if (global && (report_data(step, access, ShadowPlane::Computed) ||
                   report_data(step, access, ShadowPlane::NanScale)))
      return;
    if (global && step.operation().memory.converts) {
      report_data(step, access, ShadowPlane::Undefined);
      return;
    }
    if (global)
      each_lane(access.lanes, [&](unsigned lane) { expect_undefined(access.address[lane], 1); });
    return run_memory(step, global);
  }
  for (ShadowPlane plane : shadow_planes)
    if (!memory_ran_ || plane != ShadowPlane::Undefined)
      define_memory(step, access, plane);
}

/// What an atomic leaves in memory for one lane.
void ShadowChecker::put_atomic(const Step &step, const MemoryAccess &access, unsigned lane, ShadowPlane plane,
                               bool tainted) {
  if (tainted && access.space == Space::Global)
    expect_undefined(access.address[lane], access.bytes);
  else if (tainted)
    memory_used_[index_of(plane)] = true;
  std::byte *bits = bits_at(step, access, lane, 0, access.bytes, plane);
  if (!bits)
    return;
  const bool moves = step.operation().memory.exchanges && !step.rule.data.empty();
  for (unsigned k = 0; k < access.bytes / 4u; ++k) {
    const uint32_t word = moves     ? step.shadow.words(plane, step.rule.data.front().first + k)[lane]
                          : tainted ? ~uint32_t{0}
                                    : 0;
    std::memcpy(bits + 4 * k, &word, 4);
  }
}

/// An atomic is arithmetic on memory and operand, an exchange moves both.
void ShadowChecker::atomic(const Step &step, const MemoryAccess &access) {
  const bool exchanges = step.operation().memory.exchanges, global = access.space == Space::Global;
  if (global && (report_data(step, access, ShadowPlane::NanScale) ||
                 report_data(step, access, exchanges ? ShadowPlane::Computed : ShadowPlane::Undefined)))
    return;
  std::array<uint64_t, shadow_plane_count> operand, returned{};
  for (ShadowPlane plane : shadow_planes)
    operand[index_of(plane)] = tainted_data(step, plane);
  each_lane(access.lanes, [&](unsigned lane) {
    bool old[shadow_plane_count];
    for (ShadowPlane plane : shadow_planes) {
      const std::byte *bits = bits_at(step, access, lane, 0, access.bytes, plane);
      old[index_of(plane)] = bits && any_set(bits, access.bytes);
      returned[index_of(plane)] |= uint64_t{old[index_of(plane)]} << lane;
    }
    if (global && old[index_of(ShadowPlane::Undefined)] && !exchanges && !step.wave.fault)
      step.wave.raise(FaultKind::Undefined, static_cast<int>(lane),
                      fmt::format("an atomic computes with the {} bytes at {:#x}, which are undefined",
                                  access.bytes, access.address[lane]));
    for (ShadowPlane plane : shadow_planes) {
      // What is computed from undefined bits is undefined and computed.
      const bool computes = plane == ShadowPlane::Computed && !exchanges;
      const unsigned from = index_of(computes ? ShadowPlane::Undefined : plane);
      const bool source = operand[from] >> lane & 1;
      put_atomic(step, access, lane, plane, source || (!exchanges && old[from]));
    }
  });
  if (step.wave.fault)
    return;
  define_results(step);
  for (ShadowPlane plane : shadow_planes) {
    const uint64_t lanes = returned[index_of(plane)];
    taint_results(step, plane, lanes && step.operation().memory.result_is_uniform ? step.wave.exec() : lanes);
  }
}

void ShadowChecker::access(Wave &wave, const Instruction &, const MemoryAccess &access) {
  const Step step{wave, (*wave.program)[wave.current], rules_.rules[wave.current], *waves_[wave.index]};
  switch (access.kind) {
  case MemoryAccess::Kind::Load:
    return load(step, access);
  case MemoryAccess::Kind::Store:
    return store(step, access);
  case MemoryAccess::Kind::Atomic:
    return atomic(step, access);
  }
}

} // namespace nereid::sim
