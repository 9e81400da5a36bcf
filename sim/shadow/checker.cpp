// What the shadow checker does before each instruction: without taint in the sources it defines the results,
// else it propagates by the rule of the instruction; and what it reports of addresses, branches and EXEC.

#include "sim/shadow/checker.h"

#include <bit>

#include <fmt/format.h>

#include "sim/decode/program.h"
#include "sim/shadow/registers.h"
#include "sim/state/mode.h"
#include "sim/state/register_set.h"

namespace nereid::sim {

namespace {

const char *plane_words(ShadowPlane plane) {
  switch (plane) {
  case ShadowPlane::Undefined:
    return "undefined";
  case ShadowPlane::Computed:
    return "computed from undefined bits";
  case ShadowPlane::NanScale:
    return "from the product of an e8m0 NaN";
  }
  return "";
}

FaultKind fault_kind(ShadowPlane plane) {
  return plane == ShadowPlane::NanScale ? FaultKind::NanScale : FaultKind::Undefined;
}

} // namespace

ShadowChecker::ShadowChecker(LaunchState &state, bool undefined, bool nan_scale)
    : state_(state), rules_(state.code->program().taint_rules()), undefined_(undefined),
      nan_scale_(nan_scale) {}

void ShadowChecker::begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  while (waves_.size() < waves.size())
    waves_.push_back(std::make_unique<ShadowWave>());
  for (const auto &wave : waves) {
    ShadowWave &shadow = *waves_[wave->index];
    shadow.reset(undefined_, rules_.last_vector);
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

bool ShadowChecker::reads_taint(const Step &step) const {
  const TaintRule &rule = step.rule;
  const ShadowWave &shadow = step.shadow;
  uint64_t lanes = 0;
  each_register(rule.reads, [&](unsigned reg) { lanes |= shadow.tainted[reg & (vector_registers - 1)]; });
  if (!rule.all_lanes)
    lanes &= step.wave.exec();
  return lanes | (shadow.scalar_tainted[0] & rule.scalar_reads[0]) |
         (shadow.scalar_tainted[1] & rule.scalar_reads[1]) | (rule.reads_scc ? shadow.scc : 0);
}

void ShadowChecker::before(Wave &wave, const Instruction &instruction) {
  const Step step{wave, instruction, rules_.rules[wave.current], *waves_[wave.index]};
  if (step.rule.kind == Taint::Kind::None)
    return;
  if (!wave.ordinary && is_skipped(wave, instruction)) [[unlikely]]
    return;
  if (!wave.ordinary && is_indexed(wave, instruction)) [[unlikely]]
    return before_indexed(step);
  memory_ran_ = false;
  if (reads_taint(step) || (nan_scale_ && has_nan_scale(step))) [[unlikely]]
    propagate(step);
  else if (!step.rule.is_atomic)
    define_results(step);
}

/// With an index on its registers an instruction is another one.
void ShadowChecker::before_indexed(const Step &step) {
  constexpr uint32_t index_bits = 0xF0FF;
  if (step.shadow.scalar(ShadowPlane::Undefined, scalar::m0) & index_bits)
    return report_scalar(step, ShadowPlane::Undefined, "the register index in", scalar::m0);
  Instruction moved = step.instruction;
  if (!add_index(step.wave, moved))
    return;
  TaintRule rule = step.rule;
  (void)add_index(step.wave, rule.on_plane);
  const auto move = [](std::vector<RegisterRange> &ranges, unsigned from, unsigned to) {
    for (RegisterRange &range : ranges)
      if (range.first == from)
        range.first = static_cast<uint16_t>(to);
  };
  move(rule.writes, step.instruction.destination, moved.destination);
  // A register may be named by several sources of which some are indexed: all of them count.
  const std::vector<RegisterRange> reads = rule.reads;
  for (unsigned k = 0; k < 3; ++k) {
    std::vector<RegisterRange> ranges = reads;
    move(ranges, step.instruction.source[k].index, moved.source[k].index);
    rule.reads.insert(rule.reads.end(), ranges.begin(), ranges.end());
  }
  const Step indexed{step.wave, moved, rule, step.shadow};
  if (reads_taint(indexed))
    propagate(indexed);
  else
    define_results(indexed);
}

void ShadowChecker::define_results(const Step &step) {
  const TaintRule &rule = step.rule;
  ShadowWave &shadow = step.shadow;
  const uint64_t lanes = rule.kind == Taint::Kind::Matrix ? ~uint64_t{0} : step.wave.exec();
  each_register(rule.writes, [&](unsigned reg) {
    if (shadow.tainted[reg & (vector_registers - 1)] & lanes)
      shadow.define(reg & (vector_registers - 1), lanes, rule.replaced);
  });
  each_scalar_register(rule.scalar_writes[0] & shadow.scalar_tainted[0],
                       rule.scalar_writes[1] & shadow.scalar_tainted[1],
                       [&](unsigned reg) { shadow.define_scalar(reg); });
  if (rule.writes_scc)
    shadow.scc = 0;
}

void ShadowChecker::propagate(const Step &step) {
  step.shadow.follow_exec(step.wave);
  switch (step.rule.kind) {
  case Taint::Kind::None:
    break;
  case Taint::Kind::Arithmetic:
    step.operation().is_scalar() ? scalar_arithmetic(step) : vector_arithmetic(step);
    break;
  case Taint::Kind::Move:
    step.operation().is_scalar() ? scalar_move(step) : vector_move(step);
    break;
  case Taint::Kind::Logic:
    step.operation().is_scalar() ? scalar_logic(step) : vector_logic(step);
    break;
  case Taint::Kind::BitTest:
    bit_test(step);
    break;
  case Taint::Kind::Matrix:
    matrix(step);
    break;
  case Taint::Kind::Memory:
    check_addresses(step);
    if (!step.rule.is_atomic)
      define_results(step);
    break;
  case Taint::Kind::BranchOnScc:
    branch_on_scc(step);
    break;
  case Taint::Kind::BranchOnVcc:
    branch_on_vcc(step);
    break;
  case Taint::Kind::Branch:
    branch(step);
    break;
  }
  if (step.rule.writes_exec)
    check_exec(step);
}

void ShadowChecker::report_scalar(const Step &step, ShadowPlane plane, const char *use, unsigned reg) {
  step.wave.raise(fault_kind(plane), -1,
                  fmt::format("{} {} has bits {:#x} that are {}", use, register_name(vector_registers + reg),
                              step.shadow.scalar(plane, reg), plane_words(plane)));
}

void ShadowChecker::report_register(const Step &step, ShadowPlane plane, const char *use, unsigned reg,
                                    int lane, uint32_t bits) {
  step.wave.raise(fault_kind(plane), lane,
                  fmt::format("{} {} has bits {:#x} that are {}", use, register_name(reg),
                              step.shadow.words(plane, reg)[lane] & bits, plane_words(plane)));
}

void ShadowChecker::check_exec(const Step &step) {
  for (unsigned reg : {scalar::exec, scalar::exec + 1}) {
    if (!(step.rule.scalar_writes[1] >> (reg - 64) & 1))
      continue;
    if (step.shadow.scalar(ShadowPlane::Undefined, reg) && !step.wave.fault)
      report_scalar(step, ShadowPlane::Undefined, "the value for", reg);
    step.shadow.define_scalar(reg);
  }
}

void ShadowChecker::check_addresses(const Step &step) {
  const TaintRule &rule = step.rule;
  const uint64_t exec = step.wave.exec();
  if (!step.operation().is_scalar() && !exec)
    return; // what no lane uses does not matter
  each_register(rule.addresses, [&](unsigned reg) {
    for (uint64_t left = step.shadow.tainted[reg & (vector_registers - 1)] & exec; left && !step.wave.fault;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (step.shadow.words(ShadowPlane::Undefined, reg)[lane])
        report_register(step, ShadowPlane::Undefined, "the address in", reg, lane);
    }
  });
  if (step.wave.fault)
    return;
  const auto &tainted = step.shadow.scalar_tainted;
  any_scalar_register(rule.scalar_reads[0] & ~rule.scalar_data[0] & tainted[0],
                      rule.scalar_reads[1] & ~rule.scalar_data[1] & tainted[1], [&](unsigned reg) {
                        if (!step.shadow.scalar(ShadowPlane::Undefined, reg))
                          return false;
                        report_scalar(step, ShadowPlane::Undefined, "the address in", reg);
                        return true;
                      });
}

void ShadowChecker::branch_on_scc(const Step &step) {
  if (step.shadow.scc_is_tainted(ShadowPlane::Undefined))
    step.wave.raise(FaultKind::Undefined, -1, "the branch condition SCC is undefined");
}

/// A defined bit that is set decides.
void ShadowChecker::branch_on_vcc(const Step &step) {
  const uint64_t bits = step.shadow[ShadowPlane::Undefined].scalar_pair(scalar::vcc);
  if (bits && !(step.wave.scalar_pair(scalar::vcc) & ~bits))
    report_scalar(step, ShadowPlane::Undefined, "the branch condition",
                  static_cast<uint32_t>(bits) ? scalar::vcc : scalar::vcc + 1);
}

void ShadowChecker::branch(const Step &step) {
  const TaintRule &rule = step.rule;
  const auto &tainted = step.shadow.scalar_tainted;
  const bool reported = any_scalar_register(
      rule.scalar_reads[0] & tainted[0], rule.scalar_reads[1] & tainted[1], [&](unsigned reg) {
        if (!step.shadow.scalar(ShadowPlane::Undefined, reg))
          return false;
        report_scalar(step, ShadowPlane::Undefined, "the branch target in", reg);
        return true;
      });
  if (!reported)
    define_results(step);
}

} // namespace nereid::sim
