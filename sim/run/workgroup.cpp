// Runs a workgroup: sets up its waves, gives them time slices in turn, joins them at barriers, ends it.

#include "sim/run/workgroup.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sim/decode/program.h"
#include "sim/state/mode.h"
#include "sim/state/simd.h"

namespace nereid::sim {

namespace {

/// Registers and LDS start with this: code that reads what it never wrote shows.
constexpr uint32_t undefined_word = 0xFFC0DEAD;
/// Instructions that a wave may execute before another one gets its turn. Few, as hardware runs the waves of
/// a workgroup side by side: some kernels count on a load to LDS taking longer than the reads of other waves.
constexpr uint64_t slice = 8;
/// Instructions after which a workgroup adds what it executed to the launch's count, at most.
constexpr uint64_t counted_at_once = uint64_t{1} << 16;

inline __attribute__((always_inline)) void fill_registers(Lanes *registers, unsigned count) {
  uint32_t *words = registers->word;
  for (size_t at = 0; at < size_t{count} * lane_count; ++at)
    words[at] = undefined_word;
}
void make_undefined_portable(Lanes *registers, unsigned count) { fill_registers(registers, count); }
NEREID_SIM_AVX2 void make_undefined_avx2(Lanes *registers, unsigned count) {
  fill_registers(registers, count);
}
void make_undefined(Lanes *registers, unsigned count) {
  uses_avx2() ? make_undefined_avx2(registers, count) : make_undefined_portable(registers, count);
}

} // namespace

void WorkgroupTotals::add(const WorkgroupTotals &other) {
  for (unsigned i = 0; i < category_count; ++i)
    counts[i] += other.counts[i];
  waves += other.waves;
  longest = std::max(longest, other.longest);
}

Report WorkgroupTotals::report() const {
  auto of = [&](Category category) { return counts[static_cast<unsigned>(category)]; };
  Report report;
  InstructionCounts &result = report.counts;
  for (uint64_t count : counts)
    result.total += count;
  result.mfma = of(Category::Mfma);
  result.valu = of(Category::Valu);
  result.salu = of(Category::Salu);
  result.smem = of(Category::Smem);
  result.lds = of(Category::Lds);
  result.vmem_load = of(Category::VmemLoad);
  result.vmem_store = of(Category::VmemStore);
  result.vmem_atomic = of(Category::VmemAtomic);
  result.barrier = of(Category::Barrier);
  result.waitcnt = of(Category::Waitcnt);
  result.branch = of(Category::Branch);
  result.other = of(Category::Other);
  report.waves = waves;
  report.longest_wave_instructions = longest;
  return report;
}

WorkgroupRunner::WorkgroupRunner(LaunchState &state, Checker *checker)
    : state_(state), program_(state.code->program()), checker_(checker) {
  // The descriptor's granules say how many registers the hardware gives a wave.
  registers_ = ((state.kernel->rsrc1 & 63) + 1) * vector_register_granule;
  for (uint32_t i = 0; i < state.wave_count; ++i)
    waves_.push_back(std::make_unique<Wave>());
  group_.waves = state.wave_count;
  group_.lds.resize(state.lds_size);
  scratch_.resize(size_t{state.scratch_size} * lane_count * state.wave_count);
}

WorkgroupRunner::WorkgroupRunner(LaunchState &copy, const WorkgroupRunner &other, Checker *checker)
    : state_(copy), program_(copy.code->program()), checker_(checker), group_(other.group_),
      scratch_(other.scratch_), totals_(other.totals_), turn_(other.turn_), slice_left_(other.slice_left_),
      ended_(other.ended_), uncounted_(other.uncounted_), allowance_(other.allowance_),
      registers_(other.registers_) {
  for (const auto &original : other.waves_) {
    waves_.push_back(std::make_unique<Wave>(*original));
    Wave &wave = *waves_.back();
    wave.group = &group_;
    wave.memory = &copy.memory;
    wave.recent = nullptr;
    wave.program = &program_;
    wave.checker = checker;
    wave.scratch = scratch_.data() + (original->scratch - other.scratch_.data());
  }
}

void WorkgroupRunner::prepare(uint64_t linear_id) {
  const auto &grid = state_.launch->grid;
  group_.linear_id = linear_id;
  group_.id[0] = static_cast<uint32_t>(linear_id % grid[0]);
  group_.id[1] = static_cast<uint32_t>(linear_id / grid[0] % grid[1]);
  group_.id[2] = static_cast<uint32_t>(linear_id / grid[0] / grid[1]);
  // The hardware allocates LDS in larger granules: up to three bytes at an odd end start as they are.
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
  wave.checker = checker_;
  wave.image_base = state_.image_base;
  wave.scratch_size = state_.scratch_size;
  wave.scratch = scratch_.data() + size_t{wave.index} * lane_count * state_.scratch_size;
  wave.state = Wave::State::Running;
  wave.fault.reset();
  wave.executed = 0;
  wave.scc = false;
  wave.pc = wave.current = program_.index_at(kernel.first_instruction());
  unsigned arch = std::min(registers_, accumulation_base);
  make_undefined(&wave.vgpr[0], arch);
  if (kernel.agpr_count)
    make_undefined(&wave.vgpr[accumulation_base], std::min(kernel.agpr_count, accumulation_base));
  wave.sgpr.fill(undefined_word);
  prepare_scalars(wave);
  wave.set_mode((kernel.rsrc1 >> 12 & 0xFF) | (kernel.rsrc1 >> 21 & 1) << 8 | (kernel.rsrc1 >> 23 & 1) << 9 |
                (kernel.rsrc1 >> 26 & 1) << 23);

  const uint32_t size = launch.block[0] * launch.block[1] * launch.block[2];
  const uint32_t first = wave.index * lane_count, count = std::min(lane_count, size - first);
  uint32_t x = first % launch.block[0], y = first / launch.block[0] % launch.block[1],
           z = first / launch.block[0] / launch.block[1];
  // The descriptor says how many coordinates of the work-item are wanted; the others read as 0.
  const unsigned coordinates = (kernel.rsrc2 >> 11 & 3) + 1;
  const uint32_t wanted = coordinates >= 3 ? ~0u : (1u << 10 * coordinates) - 1;
  for (unsigned lane = 0; lane < count; ++lane) {
    wave.vgpr[0].word[lane] = (x | y << 10 | z << 20) & wanted;
    if (++x == launch.block[0]) {
      x = 0;
      z += ++y == launch.block[1];
      y = y == launch.block[1] ? 0 : y;
    }
  }
  wave.set_exec(~uint64_t{0} >> (lane_count - count));
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

template <bool Checked> uint64_t WorkgroupRunner::execute(Wave &wave, uint64_t limit) {
  uint64_t done = 0;
  while (done < limit && wave.state == Wave::State::Running) {
    wave.current = wave.pc++;
    const Instruction &instruction = program_[wave.current];
    ++done;
    ++wave.executed;
    ++totals_.counts[static_cast<unsigned>(instruction.category)];
    if constexpr (Checked) {
      checker_->before(wave, instruction);
      if (wave.fault)
        break;
      if (instruction.category == Category::Mfma && !state_.compute_products)
        continue;
    }
    if (wave.ordinary) [[likely]]
      instruction.run(wave, instruction);
    else
      run_in_mode(wave, instruction);
  }
  return done;
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
  fault.memory = raised.memory;
  return fault;
}

void WorkgroupRunner::begin(uint64_t linear_id) {
  prepare(linear_id);
  turn_ = 0;
  slice_left_ = slice;
  ended_ = false;
  if (checker_)
    checker_->begin(group_, waves_);
}

std::optional<Fault> WorkgroupRunner::run(uint64_t linear_id) {
  begin(linear_id);
  while (!ended_)
    if (auto fault = advance(slice))
      return fault;
  return std::nullopt;
}

std::optional<Fault> WorkgroupRunner::advance(uint64_t limit) {
  Wave &wave = *waves_[turn_];
  if (allowance_ == 0 && !renew_allowance())
    return budget_fault(wave);
  limit = std::min({limit, slice_left_, allowance_});
  const uint64_t done = checker_ ? execute<true>(wave, limit) : execute<false>(wave, limit);
  slice_left_ -= done;
  allowance_ -= done;
  uncounted_ += done;
  if (wave.state == Wave::State::Faulted)
    return describe(wave, *wave.fault);
  if (wave.state == Wave::State::Running && slice_left_ > 0)
    return std::nullopt;
  return pass_turn();
}

std::optional<Fault> WorkgroupRunner::pass_turn() {
  slice_left_ = slice;
  for (size_t passed = 0; passed < waves_.size(); ++passed) {
    turn_ = (turn_ + 1) % waves_.size();
    if (waves_[turn_]->state == Wave::State::Running)
      return std::nullopt;
  }
  return finish_round();
}

std::optional<Fault> WorkgroupRunner::finish_round() {
  unsigned waiting = 0;
  Wave *at_barrier = nullptr;
  for (auto &wave : waves_)
    if (wave->state == Wave::State::AtBarrier) {
      ++waiting;
      at_barrier = wave.get();
    }
  if (waiting == 0) {
    ended_ = true;
    if (checker_)
      checker_->end(group_);
    totals_.waves += waves_.size();
    for (auto &wave : waves_)
      totals_.longest = std::max(totals_.longest, wave->executed);
    allowance_ = 0;
    if (count_executed() > state_.launch->instruction_budget)
      return budget_fault(*waves_[turn_]);
    return std::nullopt;
  }
  // Waves that have ended count as arrived on the hardware; code that relies on it is wrong in HIP's terms.
  if (waiting < waves_.size())
    return describe(*at_barrier,
                    {FaultKind::Barrier, -1,
                     fmt::format("{} of {} waves wait here, the others have ended", waiting, waves_.size())});
  for (auto &wave : waves_)
    wave->state = Wave::State::Running;
  turn_ = 0;
  if (checker_)
    checker_->barrier(group_);
  return std::nullopt;
}

bool WorkgroupRunner::renew_allowance() {
  const uint64_t budget = state_.launch->instruction_budget;
  const uint64_t executed = count_executed();
  if (executed >= budget)
    return false;
  // Half of what is left: others execute too, and the last ones count in small steps.
  const uint64_t left = budget - executed;
  allowance_ = std::min(left, std::clamp(left / 2, slice, counted_at_once));
  return true;
}

uint64_t WorkgroupRunner::count_executed() {
  const uint64_t executed = state_.executed.fetch_add(uncounted_) + uncounted_;
  uncounted_ = 0;
  return executed;
}

Fault WorkgroupRunner::budget_fault(const Wave &wave) const {
  return describe(wave, {FaultKind::Budget, -1,
                         fmt::format("the launch executed its {} instructions and has not ended",
                                     state_.launch->instruction_budget)});
}

} // namespace nereid::sim
