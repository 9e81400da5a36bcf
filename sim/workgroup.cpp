#include "sim/workgroup.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sim/mode.h"
#include "sim/program.h"

namespace nereid::sim {

namespace {

/// Registers and LDS start with this: code that reads what it never wrote shows.
constexpr uint32_t undefined_word = 0xFFC0DEAD;
/// Instructions that a wave may execute before another one gets its turn (waves may wait for each other
/// through LDS).
constexpr uint64_t slice = 4096;
constexpr uint64_t budget_share = uint64_t{1} << 16;

} // namespace

WorkgroupRunner::WorkgroupRunner(LaunchState &state, Watch *watch)
    : state_(state), program_(state.code->program()), watch_(watch) {
  // The descriptor's granules say how many registers the hardware gives a wave.
  registers_ = ((state.kernel->rsrc1 & 63) + 1) * 8;
  for (uint32_t i = 0; i < state.wave_count; ++i) {
    auto wave = std::make_unique<Wave>();
    wave->vgpr = std::make_unique<Lanes[]>(vector_registers + register_margin);
    waves_.push_back(std::move(wave));
  }
  group_.waves = state.wave_count;
  group_.lds.resize(state.lds_size);
  scratch_.resize(size_t{state.scratch_size} * lane_count * state.wave_count);
}

void WorkgroupRunner::prepare(uint64_t linear_id) {
  const auto &grid = state_.launch->grid;
  group_.linear_id = linear_id;
  group_.id[0] = static_cast<uint32_t>(linear_id % grid[0]);
  group_.id[1] = static_cast<uint32_t>(linear_id / grid[0] % grid[1]);
  group_.id[2] = static_cast<uint32_t>(linear_id / grid[0] / grid[1]);
  // The hardware gives LDS in larger pieces: up to three bytes at an odd end start as they are.
  for (size_t at = 0; at + 4 <= group_.lds.size(); at += 4)
    std::memcpy(group_.lds.data() + at, &undefined_word, 4);
  for (uint32_t i = 0; i < state_.wave_count; ++i) {
    waves_[i]->index = i;
    prepare_wave(*waves_[i]);
  }
}

void WorkgroupRunner::prepare_wave(Wave &wave) {
  const Launch &launch = *state_.launch;
  const KernelInfo &kernel = *state_.kernel;
  wave.group = &group_;
  wave.memory = &state_.memory;
  wave.recent = nullptr;
  wave.program = &program_;
  wave.watch = watch_;
  wave.image_base = state_.image_base;
  wave.scratch_size = state_.scratch_size;
  wave.scratch = scratch_.data() + size_t{wave.index} * lane_count * state_.scratch_size;
  wave.state = Wave::State::Running;
  wave.fault.reset();
  wave.executed = 0;
  wave.scc = false;
  wave.pc = wave.current = program_.index_at(kernel.first_instruction());
  unsigned arch = std::min(registers_, accumulation_base);
  std::fill_n(wave.vgpr[0].word, size_t{arch} * lane_count, undefined_word);
  if (kernel.agpr_count)
    std::fill_n(wave.vgpr[accumulation_base].word,
                size_t{std::min(kernel.agpr_count, accumulation_base)} * lane_count, undefined_word);
  wave.sgpr.fill(undefined_word);
  prepare_scalars(wave);
  wave.set_mode((kernel.rsrc1 >> 12 & 0xFF) | (kernel.rsrc1 >> 21 & 1) << 8 | (kernel.rsrc1 >> 23 & 1) << 9 |
                (kernel.rsrc1 >> 26 & 1) << 23);

  uint32_t size = launch.block[0] * launch.block[1] * launch.block[2];
  uint64_t active = 0;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t item = wave.index * lane_count + lane;
    uint32_t x = item % launch.block[0], y = item / launch.block[0] % launch.block[1],
             z = item / launch.block[0] / launch.block[1];
    if (item < size) {
      wave.vgpr[0].word[lane] = x | y << 10 | z << 20;
      active |= uint64_t{1} << lane;
    }
  }
  wave.set_exec(active);
}

void WorkgroupRunner::prepare_scalars(Wave &wave) {
  const KernelInfo &kernel = *state_.kernel;
  unsigned next = 0;
  auto pair = [&](unsigned property, uint64_t value) {
    if (!(kernel.properties >> property & 1))
      return;
    wave.set_scalar_pair(next, value);
    next += 2;
  };
  if (kernel.properties & 1) // a private segment buffer, unused with architected scratch
    next += 4;
  pair(1, state_.dispatch_address);
  pair(2, state_.queue_address);
  pair(3, state_.kernarg_address);
  pair(4, 0); // dispatch id
  pair(5, 0); // flat scratch init
  if (kernel.properties >> 6 & 1)
    wave.set_scalar(next++, state_.scratch_size);
  unsigned preload_words = kernel.kernarg_preload & 0x7F, preload_offset = kernel.kernarg_preload >> 7;
  for (unsigned k = 0; k < preload_words; ++k) {
    uint32_t word = 0;
    size_t at = 4 * (preload_offset + k);
    if (at + 4 <= state_.kernarg.size())
      std::memcpy(&word, state_.kernarg.data() + at, 4);
    wave.set_scalar(next++, word);
  }
  next = std::max(next, kernel.rsrc2 >> 1 & 31);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (kernel.rsrc2 >> (7 + axis) & 1)
      wave.set_scalar(next++, group_.id[axis]);
  if (kernel.rsrc2 >> 10 & 1)
    wave.set_scalar(next++, state_.wave_count);
  wave.preset_scalars = next;
}

template <bool Watched> void WorkgroupRunner::execute(Wave &wave) {
  uint64_t limit = std::min(slice, budget_);
  uint64_t done = 0;
  while (done < limit && wave.state == Wave::State::Running) {
    wave.current = wave.pc++;
    const Instruction &instruction = program_[wave.current];
    ++done;
    ++totals_.counts[static_cast<unsigned>(instruction.category)];
    if constexpr (Watched) {
      watch_->before(wave, instruction);
      if (wave.fault)
        break;
    }
    if (wave.ordinary) [[likely]]
      instruction.run(wave, instruction);
    else
      run_in_mode(wave, instruction);
    if constexpr (Watched)
      if (!wave.fault)
        watch_->after(wave, instruction);
  }
  wave.executed += done;
  budget_ -= done;
}

Fault WorkgroupRunner::describe(const Wave &wave, const RaisedFault &raised) const {
  const Instruction &instruction = program_[wave.current];
  Fault fault;
  fault.kind = raised.kind;
  fault.address = instruction.address;
  fault.instruction = program_.text(instruction);
  fault.line = state_.code->line(instruction.address);
  fault.workgroup = {group_.id[0], group_.id[1], group_.id[2]};
  fault.wave = wave.index;
  fault.lane = raised.lane;
  fault.text = raised.text;
  return fault;
}

std::optional<Fault> WorkgroupRunner::run(uint64_t linear_id) {
  prepare(linear_id);
  if (watch_)
    watch_->begin(group_, waves_);
  for (;;) {
    unsigned done = 0, waiting = 0;
    Wave *at_barrier = nullptr;
    for (auto &wave : waves_) {
      if (wave->state == Wave::State::Running) {
        if (budget_ < slice)
          budget_ += take_budget();
        if (budget_ == 0)
          return describe(*wave, {FaultKind::Budget, -1,
                                  fmt::format("the launch executed its {} instructions and has not ended",
                                              state_.launch->instruction_budget)});
        watch_ ? execute<true>(*wave) : execute<false>(*wave);
      }
      if (wave->state == Wave::State::Faulted)
        return describe(*wave, *wave->fault);
      done += wave->state == Wave::State::Done;
      if (wave->state == Wave::State::AtBarrier) {
        ++waiting;
        at_barrier = wave.get();
      }
    }
    if (done == waves_.size())
      break;
    if (done + waiting < waves_.size())
      continue;
    // Waves that have ended count as arrived on the hardware; code that relies on it is wrong in HIP's terms.
    if (done > 0)
      return describe(*at_barrier, {FaultKind::Barrier, -1,
                                    fmt::format("{} of {} waves wait here, the others have ended", waiting,
                                                waves_.size())});
    for (auto &wave : waves_)
      wave->state = Wave::State::Running;
    if (watch_)
      watch_->barrier(group_);
  }
  if (watch_)
    watch_->end(group_);
  totals_.waves += waves_.size();
  for (auto &wave : waves_)
    totals_.longest = std::max(totals_.longest, wave->executed);
  return std::nullopt;
}

uint64_t WorkgroupRunner::take_budget() {
  uint64_t left = state_.budget_left.load();
  for (;;) {
    uint64_t take = std::min(left, budget_share);
    if (state_.budget_left.compare_exchange_weak(left, left - take))
      return take;
  }
}

} // namespace nereid::sim
