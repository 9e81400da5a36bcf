// How taint propagates through instructions on scalar registers.

#include <bit>

#include "sim/shadow/checker.h"
#include "sim/shadow/logic.h"
#include "sim/shadow/registers.h"

namespace nereid::sim {

namespace {

constexpr uint64_t low_word = 0xFFFFFFFF;

/// The lowest scalar register that an instruction writes, or 0.
unsigned first_written(const TaintRule &rule) {
  unsigned first = 0;
  any_scalar_register(rule.scalar_writes[0], rule.scalar_writes[1], [&](unsigned reg) {
    first = reg;
    return true;
  });
  return first;
}

bool writes_lower_exec(const TaintRule &rule) { return rule.scalar_writes[1] >> (scalar::exec - 64) & 1; }

} // namespace

bool ShadowChecker::any_scalar(const Step &step, ShadowPlane plane) const {
  const TaintRule &rule = step.rule;
  const auto &tainted = step.shadow.scalar_tainted;
  return any_scalar_register(rule.scalar_reads[0] & tainted[0], rule.scalar_reads[1] & tainted[1],
                             [&](unsigned reg) { return step.shadow.scalar(plane, reg) != 0; }) ||
         (rule.reads_scc && step.shadow.scc_is_tainted(plane));
}

void ShadowChecker::put_scalar(const Step &step, ShadowPlane plane, uint64_t bits) {
  Wave &to = step.shadow[plane];
  unsigned written = 0;
  each_scalar_register(step.rule.scalar_writes, [&](unsigned reg) {
    to.sgpr[reg] = static_cast<uint32_t>(bits >> 32 * (written++ % 2));
    step.shadow.refresh_scalar(reg);
  });
  step.shadow.uses(plane) |= bits != 0;
}

void ShadowChecker::put_scc(const Step &step, ShadowPlane plane, bool tainted) {
  if (!step.rule.writes_scc)
    return;
  const unsigned bit = index_of(plane);
  step.shadow.scc = static_cast<uint8_t>((step.shadow.scc & ~(1u << bit)) | unsigned{tainted} << bit);
}

/// SCC says whether a value is zero: one set bit that is known decides.
void ShadowChecker::put_scc_of_value(const Step &step, ShadowPlane plane, uint64_t value, uint64_t bits) {
  put_scc(step, plane, bits && !(value & ~bits));
}

void ShadowChecker::scalar_arithmetic(const Step &step) {
  const bool undefined = any_scalar(step, ShadowPlane::Undefined),
             nan = any_scalar(step, ShadowPlane::NanScale);
  for (ShadowPlane plane : shadow_planes) {
    const bool tainted = plane == ShadowPlane::NanScale ? nan : undefined;
    put_scalar(step, plane, tainted ? ~uint64_t{0} : 0);
    put_scc(step, plane, tainted);
  }
}

void ShadowChecker::scalar_move(const Step &step) {
  const TaintRule &rule = step.rule;
  Instruction copy = rule.on_plane;
  for (unsigned k = 0; k < 2; ++k)
    if (rule.control >> k & 1) {
      copy.source[k].value = step.wave.scalar_value(step.instruction.source[k], true);
      copy.source[k].kind = Source::Kind::Constant;
    }
  // The value, for SCC.
  uint64_t value = 0;
  if (rule.writes_scc) {
    probe_.sgpr = step.wave.sgpr;
    probe_.scc = step.wave.scc;
    step.instruction.run(probe_, step.instruction);
    value = probe_.scalar_pair(first_written(rule));
  }
  const bool wide = std::popcount(rule.scalar_writes[0]) + std::popcount(rule.scalar_writes[1]) > 1;
  const auto is_controlled = [&](ShadowPlane plane) {
    bool tainted = rule.reads_scc && step.shadow.scc_is_tainted(plane);
    for (unsigned k = 0; k < 2; ++k)
      if (rule.control >> k & 1)
        tainted |= (step.shadow[plane].scalar_value(rule.on_plane.source[k], false) & rule.used[k]) != 0;
    return tainted;
  };
  const bool by_undefined = is_controlled(ShadowPlane::Undefined),
             by_nan = is_controlled(ShadowPlane::NanScale);
  for (ShadowPlane plane : shadow_planes) {
    Wave &to = step.shadow[plane];
    to.scc = step.wave.scc;
    copy.run(to, copy);
    uint64_t bits = to.scalar_pair(first_written(rule));
    if (!wide)
      bits &= low_word;
    if (plane == ShadowPlane::NanScale ? by_nan : by_undefined)
      bits = ~uint64_t{0};
    put_scalar(step, plane, bits);
    put_scc_of_value(step, plane, wide ? value : value & low_word, wide ? bits : bits & low_word);
  }
}

void ShadowChecker::scalar_logic(const Step &step) {
  const TaintRule &rule = step.rule;
  const Instruction &instruction = step.instruction;
  const bool wide = step.operation().source[0] == OperandType::Bits64;
  const bool with_exec = wide && writes_lower_exec(rule) && instruction.source[1].kind == Source::Kind::None;
  const uint64_t limit = wide ? ~uint64_t{0} : low_word;
  LogicOperands<uint64_t> operands{};
  operands.value[0] = step.wave.scalar_value(instruction.source[0], wide);
  operands.value[1] = with_exec ? step.wave.exec() : step.wave.scalar_value(instruction.source[1], wide);
  const uint64_t value =
      apply_table<uint64_t>(rule.truth_table, operands.value[0], operands.value[1], 0) & limit;
  uint64_t undefined = 0;
  for (ShadowPlane plane : shadow_planes) {
    Wave &shadow = step.shadow[plane];
    for (unsigned k = 0; k < (with_exec ? 1u : 2u); ++k)
      operands.unknown[k] = shadow.scalar_value(rule.on_plane.source[k], wide);
    uint64_t bits = unknown_bits(rule.truth_table, operands, rule.same_sources) & limit;
    if (plane == ShadowPlane::Undefined)
      undefined = bits;
    if (plane == ShadowPlane::Computed)
      bits = undefined & (operands.unknown[0] | operands.unknown[1]);
    if (with_exec) {
      // The destination gets the old EXEC, or with wrexec the result, which is defined when it gets that far.
      put_scalar(step, plane, 0);
      shadow.sgpr[scalar::exec] = static_cast<uint32_t>(bits);
      shadow.sgpr[scalar::exec + 1] = static_cast<uint32_t>(bits >> 32);
    } else {
      put_scalar(step, plane, bits);
    }
    put_scc_of_value(step, plane, value, bits);
  }
}

void ShadowChecker::bit_test(const Step &step) {
  const TaintRule &rule = step.rule;
  const uint32_t control_bits = rule.used[1];
  const auto bit =
      static_cast<uint32_t>(step.wave.scalar_value(step.instruction.source[1], false)) & control_bits;
  for (ShadowPlane plane : shadow_planes) {
    const Wave &from = step.shadow[plane];
    const bool tested = from.scalar_value(rule.on_plane.source[0], true) >> bit & 1;
    const bool controlled = (from.scalar_value(rule.on_plane.source[1], false) & control_bits) != 0;
    put_scc(step, plane, tested || controlled);
  }
}

} // namespace nereid::sim
