#include "sim/shadow/checker.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/decode/program.h"
#include "sim/state/mode.h"
#include "sim/state/register_set.h"

namespace nereid::sim {

namespace {

const char *plane_words(Plane plane) {
  switch (plane) {
  case Plane::Undefined:
    return "undefined";
  case Plane::Computed:
    return "computed from undefined bits";
  case Plane::NanScale:
    return "from the product of an e8m0 NaN";
  }
  return "";
}

FaultKind fault_kind(Plane plane) {
  return plane == Plane::NanScale ? FaultKind::NanScale : FaultKind::Undefined;
}

} // namespace

ShadowChecker::ShadowChecker(LaunchState &state, bool undefined, bool nan_scale)
    : state_(state), table_(flows_of(state)), undefined_(undefined), nan_scale_(nan_scale) {}

void ShadowChecker::begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  while (waves_.size() < waves.size())
    waves_.push_back(std::make_unique<ShadowWave>());
  for (const auto &wave : waves) {
    ShadowWave &shadow = *waves_[wave->index];
    shadow.reset(undefined_, table_.last_vector);
    for (Wave &plane : shadow.plane)
      plane.program = wave->program;
    // What the launch sets up: arguments and numbers of the workgroup, the work-item, private memory.
    for (unsigned reg = 0; reg < wave->preset_scalars; ++reg)
      shadow.define_scalar(reg);
    for (unsigned reg : {scalar::flat_scratch, scalar::flat_scratch + 1, scalar::xnack, scalar::xnack + 1,
                         scalar::exec, scalar::exec + 1})
      shadow.define_scalar(reg);
    shadow.define(0, wave->exec(), ~uint32_t{0});
  }
  begin_memory(group, waves);
}

bool ShadowChecker::has_marks(const Step &step) const {
  const Flow &flow = step.flow;
  const ShadowWave &shadow = step.shadow;
  uint64_t lanes = 0;
  for (const RegisterRange &range : flow.reads)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      lanes |= shadow.marked[reg & (vector_registers - 1)];
  if (!flow.all_lanes)
    lanes &= step.wave.exec();
  return lanes | (shadow.scalar_marked[0] & flow.scalar_reads[0]) |
         (shadow.scalar_marked[1] & flow.scalar_reads[1]) | (flow.reads_scc ? shadow.scc : 0);
}

void ShadowChecker::before(Wave &wave, const Instruction &instruction) {
  const Step step{wave, instruction, table_.flows[wave.current], *waves_[wave.index]};
  if (step.flow.kind == Flow::Kind::None)
    return;
  if (!wave.ordinary && is_skipped(wave, instruction)) [[unlikely]]
    return;
  if (!wave.ordinary && is_indexed(wave, instruction)) [[unlikely]]
    return before_indexed(step);
  memory_ran_ = false;
  if (has_marks(step) || (nan_scale_ && has_nan_scale(step))) [[unlikely]]
    follow(step);
  else if (!step.flow.is_atomic)
    define_results(step);
}

/// With an index on its registers an instruction is another one.
void ShadowChecker::before_indexed(const Step &step) {
  constexpr uint32_t index_bits = 0xF0FF;
  if (step.shadow.scalar(Plane::Undefined, scalar::m0) & index_bits)
    return report_scalar(step, Plane::Undefined, "the register index in", scalar::m0);
  Instruction moved = step.instruction;
  if (!add_index(step.wave, moved))
    return;
  Flow flow = step.flow;
  (void)add_index(step.wave, flow.on_plane);
  const auto move = [](std::vector<RegisterRange> &ranges, unsigned from, unsigned to) {
    for (RegisterRange &range : ranges)
      if (range.first == from)
        range.first = static_cast<uint16_t>(to);
  };
  move(flow.writes, step.instruction.destination, moved.destination);
  // A register may be named by several sources of which some are indexed: all places count.
  const std::vector<RegisterRange> reads = flow.reads;
  for (unsigned k = 0; k < 3; ++k) {
    std::vector<RegisterRange> ranges = reads;
    move(ranges, step.instruction.source[k].index, moved.source[k].index);
    flow.reads.insert(flow.reads.end(), ranges.begin(), ranges.end());
  }
  const Step indexed{step.wave, moved, flow, step.shadow};
  if (has_marks(indexed))
    follow(indexed);
  else
    define_results(indexed);
}

void ShadowChecker::define_results(const Step &step) {
  const Flow &flow = step.flow;
  ShadowWave &shadow = step.shadow;
  const uint64_t lanes = flow.kind == Flow::Kind::Matrix ? ~uint64_t{0} : step.wave.exec();
  for (const RegisterRange &range : flow.writes)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      if (shadow.marked[reg & (vector_registers - 1)] & lanes)
        shadow.define(reg & (vector_registers - 1), lanes, flow.replaced);
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = flow.scalar_writes[half] & shadow.scalar_marked[half]; left; left &= left - 1)
      shadow.define_scalar(64 * half + static_cast<unsigned>(std::countr_zero(left)));
  if (flow.writes_scc)
    shadow.scc = 0;
}

void ShadowChecker::follow(const Step &step) {
  step.shadow.follow_exec(step.wave);
  switch (step.flow.kind) {
  case Flow::Kind::None:
    break;
  case Flow::Kind::VectorArithmetic:
    vector_arithmetic(step);
    break;
  case Flow::Kind::VectorMove:
    vector_move(step);
    break;
  case Flow::Kind::VectorLogic:
    vector_logic(step);
    break;
  case Flow::Kind::ScalarArithmetic:
    scalar_arithmetic(step);
    break;
  case Flow::Kind::ScalarMove:
    scalar_move(step);
    break;
  case Flow::Kind::ScalarLogic:
    scalar_logic(step);
    break;
  case Flow::Kind::BitTest:
    bit_test(step);
    break;
  case Flow::Kind::Matrix:
    matrix(step);
    break;
  case Flow::Kind::VectorMemory:
  case Flow::Kind::ScalarMemory:
    check_addresses(step);
    if (!step.flow.is_atomic)
      define_results(step);
    break;
  case Flow::Kind::Branch:
    branch(step);
    break;
  }
  if (step.flow.writes_exec)
    check_exec(step);
}

void ShadowChecker::report_scalar(const Step &step, Plane plane, const char *use, unsigned reg) {
  step.wave.raise(fault_kind(plane), -1,
                  fmt::format("{} {} has bits {:#x} that are {}", use, register_name(vector_registers + reg),
                              step.shadow.scalar(plane, reg), plane_words(plane)));
}

void ShadowChecker::report_register(const Step &step, Plane plane, const char *use, unsigned reg, int lane,
                                    uint32_t bits) {
  step.wave.raise(fault_kind(plane), lane,
                  fmt::format("{} {} has bits {:#x} that are {}", use, register_name(reg),
                              step.shadow.words(plane, reg)[lane] & bits, plane_words(plane)));
}

void ShadowChecker::check_exec(const Step &step) {
  for (unsigned reg : {scalar::exec, scalar::exec + 1}) {
    if (!(step.flow.scalar_writes[1] >> (reg - 64) & 1))
      continue;
    if (step.shadow.marks(Plane::Undefined, reg) && !step.wave.fault)
      report_scalar(step, Plane::Undefined, "the value for", reg);
    step.shadow.define_scalar(reg);
  }
}

void ShadowChecker::check_addresses(const Step &step) {
  const Flow &flow = step.flow;
  const uint64_t exec = step.wave.exec();
  if (flow.kind == Flow::Kind::VectorMemory && !exec)
    return; // what no lane uses does not matter
  for (const RegisterRange &range : flow.addresses)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      for (uint64_t left = step.shadow.marked[reg & (vector_registers - 1)] & exec; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (step.shadow.words(Plane::Undefined, reg)[lane])
          return report_register(step, Plane::Undefined, "the address in", reg, lane);
      }
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = flow.scalar_reads[half] & ~flow.scalar_data[half] & step.shadow.scalar_marked[half];
         left; left &= left - 1) {
      const unsigned reg = 64 * half + static_cast<unsigned>(std::countr_zero(left));
      if (step.shadow.marks(Plane::Undefined, reg))
        return report_scalar(step, Plane::Undefined, "the address in", reg);
    }
}

void ShadowChecker::branch(const Step &step) {
  const std::string_view name = step.instruction.operation->name;
  const ShadowWave &shadow = step.shadow;
  if (name.starts_with("s_cbranch_scc")) {
    if (shadow.scc_has(Plane::Undefined))
      step.wave.raise(FaultKind::Undefined, -1, "the branch condition SCC is undefined");
    return;
  }
  if (name.starts_with("s_cbranch_vcc")) {
    // A defined bit that is set decides.
    const uint64_t marks = scalar_marks(step, Plane::Undefined, scalar::vcc, 2);
    if (marks && !(step.wave.scalar_pair(scalar::vcc) & ~marks))
      report_scalar(step, Plane::Undefined, "the branch condition",
                    static_cast<uint32_t>(marks) ? scalar::vcc : scalar::vcc + 1);
    return;
  }
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = step.flow.scalar_reads[half] & shadow.scalar_marked[half]; left; left &= left - 1) {
      const unsigned reg = 64 * half + static_cast<unsigned>(std::countr_zero(left));
      if (shadow.marks(Plane::Undefined, reg))
        return report_scalar(step, Plane::Undefined, "the branch target in", reg);
    }
  define_results(step);
}

uint64_t ShadowChecker::scalar_marks(const Step &step, Plane plane, unsigned first, unsigned count) const {
  uint64_t marks = step.shadow.scalar(plane, first);
  if (count == 2)
    marks |= uint64_t{step.shadow.scalar(plane, first + 1)} << 32;
  return marks;
}

} // namespace nereid::sim
