// How marks go through instructions on scalar registers.

#include <bit>

#include "sim/shadow/checker.h"
#include "sim/shadow/logic.h"

namespace nereid::sim {

namespace {

constexpr uint64_t low_word = 0xFFFFFFFF;

/// The lowest scalar register that an instruction writes.
unsigned first_written(const Flow &flow) {
  const unsigned half = flow.scalar_writes[0] ? 0 : 1;
  return flow.scalar_writes[half]
             ? 64 * half + static_cast<unsigned>(std::countr_zero(flow.scalar_writes[half]))
             : 0;
}

bool writes_lower_exec(const Flow &flow) { return flow.scalar_writes[1] >> (scalar::exec - 64) & 1; }

} // namespace

bool ShadowChecker::any_scalar(const Step &step, Plane plane) const {
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = step.flow.scalar_reads[half] & step.shadow.scalar_marked[half]; left;
         left &= left - 1)
      if (step.shadow.marks(plane, 64 * half + static_cast<unsigned>(std::countr_zero(left))))
        return true;
  return step.flow.reads_scc && step.shadow.scc_has(plane);
}

void ShadowChecker::put_scalar(const Step &step, Plane plane, uint64_t marks) {
  Wave &to = step.shadow[plane];
  unsigned written = 0;
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = step.flow.scalar_writes[half]; left; left &= left - 1) {
      const unsigned reg = 64 * half + static_cast<unsigned>(std::countr_zero(left));
      to.sgpr[reg] = static_cast<uint32_t>(marks >> 32 * (written++ % 2));
      step.shadow.refresh_scalar(reg);
    }
  step.shadow.used[static_cast<unsigned>(plane)] |= marks != 0;
}

void ShadowChecker::put_scc(const Step &step, Plane plane, bool marked) {
  if (!step.flow.writes_scc)
    return;
  const unsigned p = static_cast<unsigned>(plane);
  step.shadow.scc = static_cast<uint8_t>((step.shadow.scc & ~(1u << p)) | unsigned{marked} << p);
}

/// SCC says whether a value is zero: one set bit that is known decides.
void ShadowChecker::put_nonzero(const Step &step, Plane plane, uint64_t value, uint64_t marks) {
  put_scc(step, plane, marks && !(value & ~marks));
}

void ShadowChecker::scalar_arithmetic(const Step &step) {
  const bool undefined = any_scalar(step, Plane::Undefined), nan = any_scalar(step, Plane::NanScale);
  for (Plane plane : {Plane::Undefined, Plane::Computed, Plane::NanScale}) {
    const bool marked = plane == Plane::NanScale ? nan : undefined;
    put_scalar(step, plane, marked ? ~uint64_t{0} : 0);
    put_scc(step, plane, marked);
  }
}

void ShadowChecker::scalar_move(const Step &step) {
  const Flow &flow = step.flow;
  Instruction copy = flow.on_plane;
  for (unsigned k = 0; k < 2; ++k)
    if (flow.control >> k & 1) {
      copy.source[k].value = step.wave.scalar_value(step.instruction.source[k], true);
      copy.source[k].kind = Source::Kind::Constant;
    }
  // The value, for SCC.
  uint64_t value = 0;
  if (flow.writes_scc) {
    probe_.sgpr = step.wave.sgpr;
    probe_.scc = step.wave.scc;
    step.instruction.run(probe_, step.instruction);
    value = probe_.scalar_pair(first_written(flow));
  }
  const bool wide = std::popcount(flow.scalar_writes[0]) + std::popcount(flow.scalar_writes[1]) > 1;
  const auto steered = [&](Plane plane) {
    bool marked = flow.reads_scc && step.shadow.scc_has(plane);
    for (unsigned k = 0; k < 2; ++k)
      if (flow.control >> k & 1)
        marked |= (step.shadow[plane].scalar_value(flow.on_plane.source[k], false) & flow.used[k]) != 0;
    return marked;
  };
  const bool steered_undefined = steered(Plane::Undefined), steered_nan = steered(Plane::NanScale);
  for (Plane plane : {Plane::Undefined, Plane::Computed, Plane::NanScale}) {
    const bool all = plane == Plane::NanScale ? steered_nan : steered_undefined;
    Wave &to = step.shadow[plane];
    to.scc = step.wave.scc;
    copy.run(to, copy);
    uint64_t marks = to.scalar_pair(first_written(flow));
    if (!wide)
      marks &= low_word;
    if (all)
      marks = ~uint64_t{0};
    put_scalar(step, plane, marks);
    put_nonzero(step, plane, wide ? value : value & low_word, wide ? marks : marks & low_word);
  }
}

void ShadowChecker::scalar_logic(const Step &step) {
  const Flow &flow = step.flow;
  const Instruction &plane_instruction = flow.on_plane;
  const bool with_exec =
      flow.is_wide && writes_lower_exec(flow) && step.instruction.source[1].kind == Source::Kind::None;
  const uint64_t limit = flow.is_wide ? ~uint64_t{0} : low_word;
  LogicOperands<uint64_t> operands{};
  operands.value[0] = step.wave.scalar_value(step.instruction.source[0], flow.is_wide);
  operands.value[1] =
      with_exec ? step.wave.exec() : step.wave.scalar_value(step.instruction.source[1], flow.is_wide);
  const uint64_t value = apply_table<uint64_t>(flow.table, operands.value[0], operands.value[1], 0) & limit;
  uint64_t undefined = 0;
  for (Plane plane : {Plane::Undefined, Plane::Computed, Plane::NanScale}) {
    const Wave &from = step.shadow[plane];
    for (unsigned k = 0; k < (with_exec ? 1u : 2u); ++k)
      operands.unknown[k] = from.scalar_value(plane_instruction.source[k], flow.is_wide);
    uint64_t marks = unknown_bits(flow.table, operands, flow.same_sources) & limit;
    if (plane == Plane::Undefined)
      undefined = marks;
    if (plane == Plane::Computed)
      marks = undefined & (operands.unknown[0] | operands.unknown[1]);
    if (flow.writes_exec && with_exec) {
      // The destination gets the old EXEC, or with wrexec the result, which is defined when it gets that far.
      put_scalar(step, plane, 0);
      Wave &to = step.shadow[plane];
      to.sgpr[scalar::exec] = static_cast<uint32_t>(marks);
      to.sgpr[scalar::exec + 1] = static_cast<uint32_t>(marks >> 32);
    } else {
      put_scalar(step, plane, marks);
    }
    put_nonzero(step, plane, value, marks);
  }
}

void ShadowChecker::bit_test(const Step &step) {
  const Instruction &instruction = step.instruction;
  const unsigned last = instruction.operation->source[0] == OperandType::Bits64 ? 63 : 31;
  const unsigned bit = static_cast<unsigned>(step.wave.scalar_value(instruction.source[1], false)) & last;
  for (Plane plane : {Plane::Undefined, Plane::Computed, Plane::NanScale}) {
    const Wave &from = step.shadow[plane];
    const bool tested = from.scalar_value(step.flow.on_plane.source[0], true) >> bit & 1;
    const bool steered = (from.scalar_value(step.flow.on_plane.source[1], false) & last) != 0;
    put_scc(step, plane, tested || steered);
  }
}

} // namespace nereid::sim
