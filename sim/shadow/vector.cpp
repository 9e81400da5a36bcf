// How taint propagates through instructions on vector registers.

#include <algorithm>

#include "sim/ops/vector/lanes.h"
#include "sim/shadow/checker.h"
#include "sim/shadow/logic.h"
#include "sim/shadow/registers.h"

namespace nereid::sim {

namespace {

constexpr uint32_t low_half = 0xFFFF, high_half = 0xFFFF0000, all_bits = ~uint32_t{0};

/// Both halves, each as a whole.
uint32_t by_halves(uint32_t word) {
  return (word & low_half ? low_half : 0) | (word & high_half ? high_half : 0);
}

/// A source's words copied to where an instruction can name them as a constant.
void make_constant(Source &source, const Operand &operand, uint64_t value, OperandBuffers &words) {
  std::copy_n(operand.low, lane_count, words.low.word);
  if (operand.high && is_wide(source.type))
    std::copy_n(operand.high, lane_count, words.high.word);
  const OperandType type = source.type;
  source = {};
  source.kind = Source::Kind::Constant;
  source.type = type;
  source.value = value;
  source.lanes = words.low.word;
}

/// Selectors of v_perm from 13 on name the constant 0xFF, which would taint a byte: 12 is the constant 0.
void without_ones(Lanes &selectors) {
  constexpr uint32_t zero = 12;
  for (uint32_t &word : selectors.word)
    for (unsigned k = 0; k < 4; ++k)
      if ((word >> 8 * k & 0xFF) > zero)
        word = (word & ~(0xFFu << 8 * k)) | zero << 8 * k;
}

/// The lanes that an instruction writes, on a plane.
const Lanes &written_lanes(const Instruction &instruction, const Wave &plane) {
  return instruction.permuted ? plane.permutation_mask : plane.exec_mask;
}

/// The shadow bits of the result register `index` from those of the sources of its lane.
uint32_t result_bits(Taint::Elements elements, unsigned index, uint32_t low, uint32_t high) {
  switch (elements) {
  case Taint::Elements::Whole:
    return low ? all_bits : 0;
  case Taint::Elements::Halves:
    return by_halves(low);
  case Taint::Elements::Words:
  case Taint::Elements::Upward:
    return (index ? high : low) ? all_bits : 0;
  case Taint::Elements::SourceByHalf:
    return (low ? low_half : 0) | (high ? high_half : 0);
  }
  return 0;
}

unsigned source_count(const Instruction &instruction) {
  unsigned count = 3;
  while (count > 1 && instruction.source[count - 1].kind == Source::Kind::None)
    --count;
  return count;
}

/// v_lshl_or: the operands as they are after the first was shifted by the second.
void shift_first(LogicOperands<uint32_t> &operands, uint32_t amount_bits) {
  const unsigned amount = operands.value[1] & 31;
  operands.value[0] <<= amount;
  operands.unknown[0] = operands.unknown[1] & amount_bits ? all_bits : operands.unknown[0] << amount;
  operands.value[1] = operands.unknown[1] = 0;
}

} // namespace

ShadowChecker::LaneTaint ShadowChecker::gather(const Step &step, ShadowPlane plane) {
  const TaintRule &rule = step.rule;
  Wave &from = step.shadow[plane];
  LaneTaint taint;
  const auto add = [&](unsigned lane, uint32_t low, uint32_t high) {
    taint.word[0][lane] |= low;
    taint.word[1][lane] |= high;
  };
  for (unsigned k = 0; k < 3; ++k) {
    const Source &source = rule.on_plane.source[k];
    if (source.type == OperandType::None || source.kind == Source::Kind::None ||
        source.kind == Source::Kind::Constant)
      continue;
    OperandBuffers buffers;
    const Operand operand = fetch(from, rule.on_plane, source, buffers);
    const bool wide = is_wide(source.type);
    const bool by_element = (rule.elements == Taint::Elements::Words && wide) ||
                            (rule.elements == Taint::Elements::Halves && is_half_pair(source.type));
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint32_t low = operand.low[lane] & rule.used[k], high = wide ? operand.high[lane] : 0;
      const uint32_t any = low | high ? all_bits : 0;
      if (rule.elements == Taint::Elements::SourceByHalf)
        taint.word[k & 1][lane] |= low;
      else if (by_element)
        add(lane, low, high);
      else if (rule.elements == Taint::Elements::Upward)
        add(lane, low, low | high);
      else
        add(lane, any, any);
    }
  }
  for (const RegisterRange &range : rule.unnamed)
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint32_t any = from.vgpr[range.first].word[lane] ? all_bits : 0;
      add(lane, any, any);
    }
  if (step.operation().has(Operation::ImplicitVcc)) {
    const uint64_t mask = from.scalar_pair(scalar::vcc);
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (mask >> lane & 1)
        add(lane, all_bits, all_bits);
  }
  return taint;
}

void ShadowChecker::put(const Step &step, ShadowPlane plane, const LaneTaint &taint) {
  const TaintRule &rule = step.rule;
  Wave &to = step.shadow[plane];
  const Lanes &mask = written_lanes(step.instruction, to);
  unsigned index = 0;
  uint32_t any = 0;
  each_register(rule.writes, [&](unsigned reg) {
    uint32_t *words = to.vgpr[reg].word;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint32_t replaced = rule.replaced & mask.word[lane];
      const uint32_t bits = result_bits(rule.elements, index, taint.word[0][lane], taint.word[1][lane]) &
                            rule.results & replaced;
      words[lane] = (words[lane] & ~replaced) | bits;
      any |= bits;
    }
    ++index;
  });
  step.shadow.uses(plane) |= any != 0;
  put_mask(step, plane, taint, mask);
}

void ShadowChecker::put_mask(const Step &step, ShadowPlane plane, const LaneTaint &taint, const Lanes &mask) {
  if (!(step.rule.scalar_writes[0] | step.rule.scalar_writes[1]))
    return;
  uint64_t bits = 0;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    bits |= uint64_t{(taint.word[0][lane] | taint.word[1][lane]) && mask.word[lane]} << lane;
  put_scalar(step, plane, bits);
}

void ShadowChecker::refresh_results(const Step &step) {
  each_register(step.rule.writes, [&](unsigned reg) { step.shadow.refresh(reg & (vector_registers - 1)); });
  each_scalar_register(step.rule.scalar_writes, [&](unsigned reg) { step.shadow.refresh_scalar(reg); });
}

void ShadowChecker::vector_arithmetic(const Step &step) {
  const LaneTaint undefined = gather(step, ShadowPlane::Undefined);
  LaneTaint nan = step.shadow.uses(ShadowPlane::NanScale) ? gather(step, ShadowPlane::NanScale) : LaneTaint();
  if (nan_scale_ && step.rule.applies_scale) { // the scale is the exponent of the second source
    OperandBuffers buffers;
    const Operand scale = fetch(step.wave, step.instruction, step.instruction.source[1], buffers);
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if ((scale.low[lane] >> 23 & 0xFF) == 0xFF)
        nan.word[0][lane] = nan.word[1][lane] = all_bits;
  }
  if (step.instruction.permuted)
    for (ShadowPlane plane : {ShadowPlane::Computed, ShadowPlane::NanScale})
      step.shadow[plane].permutation_mask = step.shadow[ShadowPlane::Undefined].permutation_mask;
  put(step, ShadowPlane::Undefined, undefined);
  put(step, ShadowPlane::Computed, undefined);
  put(step, ShadowPlane::NanScale, nan);
  refresh_results(step);
}

/// Taints results because control operands are tainted.
void ShadowChecker::taint_by_control(const Step &step, ShadowPlane plane, const Lanes &controlled,
                                     const Lanes &dependent) {
  const TaintRule &rule = step.rule;
  const auto is_set = [](uint32_t word) { return word != 0; };
  if (std::none_of(std::begin(controlled.word), std::end(controlled.word), is_set))
    return;
  for (ShadowPlane to : {plane, plane == ShadowPlane::Undefined ? ShadowPlane::Computed : plane}) {
    step.shadow.uses(to) = true;
    Wave &wave = step.shadow[to];
    const Lanes &mask = written_lanes(step.instruction, wave);
    each_register(rule.writes, [&](unsigned reg) {
      for (unsigned lane = 0; lane < lane_count; ++lane)
        if (controlled.word[lane])
          wave.vgpr[reg].word[lane] |= rule.results & mask.word[lane] & dependent.word[lane];
    });
    if (rule.scalar_writes[0] | rule.scalar_writes[1])
      put_scalar(step, to, ~uint64_t{0});
  }
}

Instruction ShadowChecker::controlled_by_wave(const Step &step, OperandBuffers *constants) {
  const TaintRule &rule = step.rule;
  Instruction copy = rule.on_plane;
  for (unsigned k = 0; k < 3; ++k) {
    if (!(rule.control >> k & 1))
      continue;
    const Source &source = step.instruction.source[k];
    OperandBuffers buffers;
    const Operand operand = fetch(step.wave, step.instruction, source, buffers);
    const uint64_t value = source.kind == Source::Kind::Vector ? step.wave.vgpr[source.index].word[0]
                                                               : step.wave.scalar_value(source, true);
    if (source.permuted)
      for (Wave &plane : step.shadow.plane)
        plane.permutation_mask = step.wave.permutation_mask;
    make_constant(copy.source[k], operand, value, constants[k]);
    if (rule.is_byte_permute)
      without_ones(constants[k].low);
  }
  return copy;
}

ShadowChecker::ControlTaint ShadowChecker::control_taint(const Step &step) {
  const TaintRule &rule = step.rule;
  ControlTaint controlled{};
  for (ShadowPlane plane : {ShadowPlane::Undefined, ShadowPlane::NanScale}) {
    if (!step.shadow.uses(plane))
      continue;
    Lanes &lanes = controlled[index_of(plane)];
    for (unsigned k = 0; k < 3; ++k) {
      const Source &source = rule.on_plane.source[k];
      if (!(rule.control >> k & 1) || source.kind == Source::Kind::Constant)
        continue;
      OperandBuffers buffers;
      const Operand operand = fetch(step.shadow[plane], rule.on_plane, source, buffers);
      for (unsigned lane = 0; lane < lane_count; ++lane)
        lanes.word[lane] |= operand.low[lane] & rule.used[k];
    }
    if (rule.control & Taint::address_controls)
      lanes = step.shadow[plane].vgpr[step.instruction.address_register];
  }
  return controlled;
}

Lanes ShadowChecker::bits_that_depend_on_control(const Step &step) {
  const TaintRule &rule = step.rule;
  Lanes dependent;
  std::fill_n(dependent.word, lane_count, all_bits);
  if (!rule.is_select)
    return dependent;
  OperandBuffers values[2], shadows[2];
  const uint32_t *value[2], *shadow[2];
  Wave &undefined = step.shadow[ShadowPlane::Undefined];
  for (unsigned k = 0; k < 2; ++k) {
    value[k] = fetch(step.wave, step.instruction, step.instruction.source[k], values[k]).low;
    shadow[k] = fetch(undefined, rule.on_plane, rule.on_plane.source[k], shadows[k]).low;
  }
  for (unsigned lane = 0; lane < lane_count; ++lane)
    dependent.word[lane] = (value[0][lane] ^ value[1][lane]) | shadow[0][lane] | shadow[1][lane];
  return dependent;
}

void ShadowChecker::vector_move(const Step &step) {
  const bool by_address = step.rule.control & Taint::address_controls;
  OperandBuffers constants[3];
  Instruction copy = controlled_by_wave(step, constants);
  if (by_address)
    copy.address_register = vector_registers;
  // Both before results replace what they are found from.
  const ControlTaint controlled = control_taint(step);
  const Lanes dependent = bits_that_depend_on_control(step);
  for (ShadowPlane which : shadow_planes) {
    if (!step.shadow.uses(which))
      continue;
    Wave &plane = step.shadow[which];
    if (by_address)
      plane.vgpr[vector_registers] = step.wave.vgpr[step.instruction.address_register];
    copy.run(plane, copy);
  }
  for (ShadowPlane plane : {ShadowPlane::Undefined, ShadowPlane::NanScale})
    taint_by_control(step, plane, controlled[index_of(plane)], dependent);
  refresh_results(step);
}

void ShadowChecker::vector_logic(const Step &step) {
  const TaintRule &rule = step.rule;
  const OperandType type = step.operation().result;
  const unsigned count = source_count(rule.on_plane);
  OperandBuffers buffers[3];
  Operand value[3]{};
  for (unsigned k = 0; k < count; ++k)
    value[k] = fetch(step.wave, step.instruction, step.instruction.source[k], buffers[k]);
  Lanes undefined{};
  for (ShadowPlane plane : shadow_planes) {
    if (!step.shadow.uses(plane))
      continue;
    Wave &wave = step.shadow[plane];
    OperandBuffers plane_buffers[3];
    Operand unknown[3]{};
    for (unsigned k = 0; k < count; ++k)
      unknown[k] = fetch(wave, rule.on_plane, rule.on_plane.source[k], plane_buffers[k]);
    Lanes result;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      LogicOperands<uint32_t> operands{};
      for (unsigned k = 0; k < count; ++k) {
        operands.value[k] = value[k].low[lane];
        operands.unknown[k] = unknown[k].low[lane];
      }
      if (rule.shifts_first)
        shift_first(operands, rule.used[1]);
      if (plane == ShadowPlane::Computed)
        result.word[lane] =
            undefined.word[lane] & (operands.unknown[0] | operands.unknown[1] | operands.unknown[2]);
      else
        result.word[lane] = unknown_bits(rule.truth_table, operands, rule.same_sources);
      if (type == OperandType::Bits16)
        result.word[lane] &= low_half;
    }
    if (plane == ShadowPlane::Undefined)
      undefined = result;
    store_result(wave, rule.on_plane, type, result, result);
  }
  refresh_results(step);
}

} // namespace nereid::sim
