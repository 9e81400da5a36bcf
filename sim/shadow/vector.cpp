// How marks go through instructions on vector registers.

#include <algorithm>
#include <bit>

#include "sim/ops/vector/lanes.h"
#include "sim/shadow/checker.h"
#include "sim/shadow/logic.h"

namespace nereid::sim {

namespace {

constexpr uint32_t low_half = 0xFFFF, high_half = 0xFFFF0000, all_bits = ~uint32_t{0};

bool is_half_pair(OperandType type) {
  return type == OperandType::PackedBits16 || type == OperandType::PackedFloat16;
}

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

/// Selectors of v_perm that name the constant 0xFF would mark: what they give is as defined as zero.
void without_ones(Lanes &selectors) {
  for (uint32_t &word : selectors.word)
    for (unsigned k = 0; k < 4; ++k)
      if ((word >> 8 * k & 0xFF) > 12)
        word = (word & ~(0xFFu << 8 * k)) | 12u << 8 * k;
}

} // namespace

ShadowChecker::Marks ShadowChecker::gather(const Step &step, Plane plane) {
  const Flow &flow = step.flow;
  Wave &from = step.shadow[plane];
  Marks marks;
  for (unsigned k = 0; k < 3; ++k) {
    const Source &source = flow.on_plane.source[k];
    if (source.type == OperandType::None || source.kind == Source::Kind::None ||
        source.kind == Source::Kind::Constant)
      continue;
    OperandBuffers buffers;
    const Operand operand = fetch(from, flow.on_plane, source, buffers);
    const uint32_t used = flow.used[k];
    const bool wide = is_wide(source.type);
    const bool split = flow.elements == Flow::Elements::Words && wide;
    const bool halves = flow.elements == Flow::Elements::Halves && is_half_pair(source.type);
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      uint32_t low = operand.low[lane] & used, high = wide ? operand.high[lane] : 0;
      if (flow.elements == Flow::Elements::SourceByHalf) {
        marks.word[k & 1][lane] |= low;
      } else if (split || halves) {
        marks.word[0][lane] |= low;
        marks.word[1][lane] |= high;
      } else if (flow.elements == Flow::Elements::Upward) {
        marks.word[0][lane] |= low;
        marks.word[1][lane] |= low | high;
      } else {
        const uint32_t any = low | high ? all_bits : 0;
        marks.word[0][lane] |= any;
        marks.word[1][lane] |= any;
      }
    }
  }
  for (const RegisterRange &range : flow.more)
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint32_t any = from.vgpr[range.first].word[lane] ? all_bits : 0;
      marks.word[0][lane] |= any;
      marks.word[1][lane] |= any;
    }
  if (flow.implicit_mask) {
    const uint64_t mask = from.scalar_pair(scalar::vcc);
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (mask >> lane & 1)
        marks.word[0][lane] = marks.word[1][lane] = all_bits;
  }
  return marks;
}

void ShadowChecker::put(const Step &step, Plane plane, const Marks &marks) {
  const Flow &flow = step.flow;
  Wave &to = step.shadow[plane];
  const Lanes &mask = step.instruction.permuted ? to.permutation_mask : to.exec_mask;
  unsigned index = 0;
  for (const RegisterRange &range : flow.writes)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg, ++index) {
      uint32_t *words = to.vgpr[reg].word;
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        const uint32_t low = marks.word[0][lane], high = marks.word[1][lane];
        uint32_t value = 0;
        switch (flow.elements) {
        case Flow::Elements::Whole:
          value = low ? all_bits : 0;
          break;
        case Flow::Elements::Halves:
          value = by_halves(low);
          break;
        case Flow::Elements::Words:
        case Flow::Elements::Upward:
          value = (index ? high : low) ? all_bits : 0;
          break;
        case Flow::Elements::SourceByHalf:
          value = (low ? low_half : 0) | (high ? high_half : 0);
          break;
        }
        value &= flow.results;
        const uint32_t replaced = flow.replaced & mask.word[lane];
        words[lane] = (words[lane] & ~replaced) | (value & replaced);
        step.shadow.used[static_cast<unsigned>(plane)] |= (value & replaced) != 0;
      }
    }
  put_mask(step, plane, marks, mask);
}

void ShadowChecker::put_mask(const Step &step, Plane plane, const Marks &marks, const Lanes &mask) {
  if (!(step.flow.scalar_writes[0] | step.flow.scalar_writes[1]))
    return;
  uint64_t bits = 0;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    bits |= uint64_t{(marks.word[0][lane] | marks.word[1][lane]) && mask.word[lane]} << lane;
  put_scalar(step, plane, bits);
}

void ShadowChecker::refresh_results(const Step &step) {
  for (const RegisterRange &range : step.flow.writes)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      step.shadow.refresh(reg & (vector_registers - 1));
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = step.flow.scalar_writes[half]; left; left &= left - 1)
      step.shadow.refresh_scalar(64 * half + static_cast<unsigned>(std::countr_zero(left)));
}

void ShadowChecker::vector_arithmetic(const Step &step) {
  const Marks undefined = gather(step, Plane::Undefined);
  Marks nan = step.shadow.used[2] ? gather(step, Plane::NanScale) : Marks();
  if (nan_scale_ && step.flow.product) { // the scale is the exponent of the second source
    OperandBuffers buffers;
    const Operand scale = fetch(step.wave, step.instruction, step.instruction.source[1], buffers);
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if ((scale.low[lane] >> 23 & 0xFF) == 0xFF)
        nan.word[0][lane] = nan.word[1][lane] = all_bits;
  }
  if (step.instruction.permuted)
    for (Plane plane : {Plane::Computed, Plane::NanScale})
      step.shadow[plane].permutation_mask = step.shadow[Plane::Undefined].permutation_mask;
  put(step, Plane::Undefined, undefined);
  put(step, Plane::Computed, undefined);
  put(step, Plane::NanScale, nan);
  refresh_results(step);
}

/// Marks results because what steered the instruction is marked.
void ShadowChecker::steer(const Step &step, Plane plane, const Lanes &steered, const Lanes &differing) {
  const Flow &flow = step.flow;
  const auto is_steered = [&](uint32_t word) { return word != 0; };
  if (std::none_of(std::begin(steered.word), std::end(steered.word), is_steered))
    return;
  const std::array<Plane, 2> both{plane, plane == Plane::Undefined ? Plane::Computed : plane};
  for (Plane to : both) {
    step.shadow.used[static_cast<unsigned>(to)] = true;
    Wave &wave = step.shadow[to];
    const Lanes &mask = step.instruction.permuted ? wave.permutation_mask : wave.exec_mask;
    for (const RegisterRange &range : flow.writes)
      for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
        for (unsigned lane = 0; lane < lane_count; ++lane)
          if (steered.word[lane])
            wave.vgpr[reg].word[lane] |= flow.results & mask.word[lane] & differing.word[lane];
    if (flow.scalar_writes[0] | flow.scalar_writes[1])
      put_scalar(step, to, ~uint64_t{0});
  }
}

void ShadowChecker::vector_move(const Step &step) {
  const Flow &flow = step.flow;
  const bool by_address = flow.control & 8;
  Instruction copy = flow.on_plane;
  OperandBuffers constants[3];
  for (unsigned k = 0; k < 3; ++k) {
    if (!(flow.control >> k & 1))
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
    if (flow.perm_selector)
      without_ones(constants[k].low);
  }
  if (by_address)
    copy.address_register = vector_registers;
  // Which lanes are steered by marked bits, before results replace them.
  std::array<Lanes, plane_count> steered{};
  for (Plane plane : {Plane::Undefined, Plane::NanScale}) {
    if (!step.shadow.used[static_cast<unsigned>(plane)])
      continue;
    Lanes &lanes = steered[static_cast<unsigned>(plane)];
    for (unsigned k = 0; k < 3; ++k) {
      if (!(flow.control >> k & 1) || flow.on_plane.source[k].kind == Source::Kind::Constant)
        continue;
      OperandBuffers buffers;
      const Operand operand = fetch(step.shadow[plane], flow.on_plane, flow.on_plane.source[k], buffers);
      for (unsigned lane = 0; lane < lane_count; ++lane)
        lanes.word[lane] |= operand.low[lane] & flow.used[k];
    }
    if (by_address)
      lanes = step.shadow[plane].vgpr[step.instruction.address_register];
  }
  Lanes differing;
  std::fill_n(differing.word, lane_count, all_bits);
  if (flow.is_choice) {
    OperandBuffers buffers[2], marks[2];
    const uint32_t *value[2], *mark[2];
    for (unsigned k = 0; k < 2; ++k) {
      value[k] = fetch(step.wave, step.instruction, step.instruction.source[k], buffers[k]).low;
      mark[k] = fetch(step.shadow[Plane::Undefined], flow.on_plane, flow.on_plane.source[k], marks[k]).low;
    }
    for (unsigned lane = 0; lane < lane_count; ++lane)
      differing.word[lane] = (value[0][lane] ^ value[1][lane]) | mark[0][lane] | mark[1][lane];
  }
  for (unsigned p = 0; p < plane_count; ++p) {
    if (!step.shadow.used[p])
      continue;
    Wave &plane = step.shadow.plane[p];
    if (by_address)
      plane.vgpr[vector_registers] = step.wave.vgpr[step.instruction.address_register];
    copy.run(plane, copy);
  }
  steer(step, Plane::Undefined, steered[0], differing);
  steer(step, Plane::NanScale, steered[2], differing);
  refresh_results(step);
}

void ShadowChecker::vector_logic(const Step &step) {
  const Flow &flow = step.flow;
  const OperandType type = step.instruction.operation->result;
  OperandBuffers buffers[3];
  Operand value[3]{};
  const unsigned count = flow.on_plane.source[2].kind != Source::Kind::None   ? 3
                         : flow.on_plane.source[1].kind != Source::Kind::None ? 2
                                                                              : 1;
  for (unsigned k = 0; k < count; ++k)
    value[k] = fetch(step.wave, step.instruction, step.instruction.source[k], buffers[k]);
  Lanes undefined{};
  for (Plane plane : {Plane::Undefined, Plane::Computed, Plane::NanScale}) {
    if (!step.shadow.used[static_cast<unsigned>(plane)])
      continue;
    Wave &wave = step.shadow[plane];
    OperandBuffers plane_buffers[3];
    Operand marks[3]{};
    for (unsigned k = 0; k < count; ++k)
      marks[k] = fetch(wave, flow.on_plane, flow.on_plane.source[k], plane_buffers[k]);
    Lanes result;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      LogicOperands<uint32_t> operands{};
      for (unsigned k = 0; k < count; ++k) {
        operands.value[k] = value[k].low[lane];
        operands.unknown[k] = marks[k].low[lane];
      }
      if (flow.shifts_first) {
        const unsigned amount = operands.value[1] & 31;
        operands.value[0] <<= amount;
        operands.unknown[0] = operands.unknown[1] & flow.used[1] ? all_bits : operands.unknown[0] << amount;
        operands.value[1] = operands.unknown[1] = 0;
      }
      if (plane == Plane::Computed)
        result.word[lane] =
            undefined.word[lane] & (operands.unknown[0] | operands.unknown[1] | operands.unknown[2]);
      else
        result.word[lane] = unknown_bits(flow.table, operands, flow.same_sources);
      if (type == OperandType::Bits16)
        result.word[lane] &= low_half;
    }
    if (plane == Plane::Undefined)
      undefined = result;
    store_result(wave, flow.on_plane, type, result, result);
  }
  refresh_results(step);
}

} // namespace nereid::sim
