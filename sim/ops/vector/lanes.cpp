#include "sim/ops/vector/lanes.h"

#include <algorithm>
#include <emmintrin.h>
#include <optional>

namespace nereid::sim {

namespace {

/// The lane that a DPP control makes `lane` read, or nothing when there is none.
std::optional<unsigned> permuted_lane(unsigned control, unsigned lane) {
  unsigned row = lane & ~15u, place = lane & 15;
  unsigned amount = control & 15;
  if (control < 0x100)
    return (lane & ~3u) | ((control >> 2 * (lane & 3)) & 3);
  switch (control & 0x1F0) {
  case 0x100: // row_shl
    return place + amount < 16 ? std::optional(lane + amount) : std::nullopt;
  case 0x110: // row_shr
    return place >= amount ? std::optional(lane - amount) : std::nullopt;
  case 0x120: // row_ror
    return row | ((place - amount) & 15);
  case 0x150: // row_newbcast
    return row | amount;
  default:
    break;
  }
  switch (control) {
  case 0x130: // wave_shl
    return lane < 63 ? std::optional(lane + 1) : std::nullopt;
  case 0x134: // wave_rol
    return (lane + 1) & 63;
  case 0x138: // wave_shr
    return lane > 0 ? std::optional(lane - 1) : std::nullopt;
  case 0x13C: // wave_ror
    return (lane - 1) & 63;
  case 0x140: // row_mirror
    return row | (15 - place);
  case 0x141: // row_half_mirror
    return (lane & ~7u) | (7 - (lane & 7));
  case 0x142: // row_bcast15
    return lane >= 16 ? std::optional(row - 1) : std::nullopt;
  case 0x143: // row_bcast31
    return lane >= 32 ? std::optional(31u) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Permutes the lanes of an operand and notes which lanes the instruction writes.
void permute(Wave &wave, const Permutation &permutation, const Operand &from, bool wide, OperandBuffers &to) {
  uint64_t exec = wave.exec();
  OperandBuffers result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    bool enabled =
        exec >> lane & permutation.row_mask >> (lane / 16) & permutation.bank_mask >> (lane / 4 % 4) & 1;
    std::optional<unsigned> source = permuted_lane(permutation.control, lane);
    if (source && !(exec >> *source & 1))
      source.reset();
    result.low.word[lane] = source ? from.low[*source] : 0;
    if (wide)
      result.high.word[lane] = source ? from.high[*source] : 0;
    wave.permutation_mask.word[lane] = enabled && (source || permutation.zero_invalid) ? ~0u : 0;
  }
  to.low = result.low;
  if (wide)
    to.high = result.high;
}

uint32_t select_part(uint32_t word, unsigned select, bool sign_extend) {
  if (select < 4) {
    uint32_t part = word >> 8 * select & 0xFF;
    return sign_extend ? static_cast<uint32_t>(static_cast<int8_t>(part)) : part;
  }
  if (select < 6) {
    uint32_t part = word >> 16 * (select - 4) & 0xFFFF;
    return sign_extend ? static_cast<uint32_t>(static_cast<int16_t>(part)) : part;
  }
  return word;
}

Operand plain(Wave &wave, const Source &source, OperandBuffers &buffers) {
  if (source.kind == Source::Kind::Vector)
    return {wave.vgpr[source.index].word, wave.vgpr[source.index + 1].word};
  if (source.kind == Source::Kind::Constant)
    return {source.lanes, source.lanes + lane_count};
  if (source.type == OperandType::LaneBit) {
    uint64_t mask = wave.scalar_value(source, true);
    for (unsigned lane = 0; lane < lane_count; ++lane)
      buffers.low.word[lane] = mask >> lane & 1;
    return {buffers.low.word, buffers.low.word};
  }
  bool wide = is_wide(source.type);
  uint64_t value = wave.scalar_value(source, wide);
  broadcast(buffers.low, static_cast<uint32_t>(value));
  if (wide)
    broadcast(buffers.high, static_cast<uint32_t>(value >> 32));
  return {buffers.low.word, buffers.high.word};
}

void change_sign(const Source &source, uint32_t *words, uint32_t sign) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (source.absolute)
      words[lane] &= ~sign;
    if (source.negative)
      words[lane] ^= sign;
  }
}

/// VOP3P: each half of the result reads either half of the source, with its own sign.
Operand fetch_packed(const Instruction &instruction, const Source &source, Operand from,
                     OperandBuffers &buffers) {
  unsigned k = static_cast<unsigned>(&source - instruction.source);
  bool low_from_high = instruction.op_sel >> k & 1, high_from_high = instruction.op_sel_hi >> k & 1;
  bool negate_low = instruction.neg_lo >> k & 1, negate_high = instruction.neg_hi >> k & 1;
  if (source.type == OperandType::PackedFloat32) {
    OperandBuffers result;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      uint32_t low = low_from_high ? from.high[lane] : from.low[lane];
      uint32_t high = high_from_high ? from.high[lane] : from.low[lane];
      result.low.word[lane] = low ^ (negate_low ? 0x80000000 : 0);
      result.high.word[lane] = high ^ (negate_high ? 0x80000000 : 0);
    }
    buffers = result;
    return {buffers.low.word, buffers.high.word};
  }
  uint32_t flip = (negate_low ? 0x8000u : 0) | (negate_high ? 0x80000000u : 0);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t word = from.low[lane];
    uint32_t low = low_from_high ? word >> 16 : word & 0xFFFF;
    uint32_t high = high_from_high ? word >> 16 : word & 0xFFFF;
    buffers.low.word[lane] = (low | high << 16) ^ flip;
  }
  return {buffers.low.word, buffers.low.word};
}

/// What the clamp bit and the output modifier do to a result, given the modes.
struct OutputChange {
  double factor = 1;
  bool clamp;
  bool nan_to_zero; ///< DX10_CLAMP

  OutputChange(const Wave &wave, const Instruction &instruction, OperandType type)
      : clamp(instruction.clamp), nan_to_zero(wave.mode >> 8 & 1) {
    // The hardware ignores the modifier in IEEE mode and where results may be denormal.
    constexpr double factors[] = {1.0, 2.0, 4.0, 0.5};
    const bool single = type == OperandType::Float32 || type == OperandType::PackedFloat32;
    const uint32_t ieee = 1u << 9, denormal_results = single ? 0x20 : 0x80;
    if (!(wave.mode & (ieee | denormal_results)))
      factor = factors[instruction.output_modifier];
  }

  template <class T> T operator()(T value) const {
    if (factor != 1)
      value = value * static_cast<T>(factor) + T(0); // -0 becomes +0
    if (!clamp || (value != value && !nan_to_zero))
      return value;
    return value > 0 ? std::min(value, T(1)) : T(0);
  }
  uint32_t half(uint32_t bits) const { return float_to_half((*this)(half_to_float(bits))); }
};

/// Float clamp and output modifier, by the type of the result.
void modify_output(const OutputChange &change, OperandType type, Lanes &low, Lanes &high) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t &a = low.word[lane], &b = high.word[lane];
    switch (type) {
    case OperandType::Float32:
      a = std::bit_cast<uint32_t>(change(std::bit_cast<float>(a)));
      break;
    case OperandType::PackedFloat32:
      a = std::bit_cast<uint32_t>(change(std::bit_cast<float>(a)));
      b = std::bit_cast<uint32_t>(change(std::bit_cast<float>(b)));
      break;
    case OperandType::Float64: {
      uint64_t bits = std::bit_cast<uint64_t>(change(std::bit_cast<double>(a | uint64_t{b} << 32)));
      a = static_cast<uint32_t>(bits);
      b = static_cast<uint32_t>(bits >> 32);
      break;
    }
    case OperandType::Float16:
      a = change.half(a & 0xFFFF);
      break;
    case OperandType::PackedFloat16:
      a = change.half(a & 0xFFFF) | change.half(a >> 16) << 16;
      break;
    default:
      break;
    }
  }
}

void merge(uint32_t *to, const uint32_t *from, const uint32_t *mask) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < lane_count; ++lane)
    to[lane] = (from[lane] & mask[lane]) | (to[lane] & ~mask[lane]);
}

void store_modified(Wave &wave, const Instruction &instruction, OperandType type, const Lanes &low,
                    const Lanes &high) {
  Lanes a = low, b = high;
  bool wide = is_wide(type);
  if (instruction.clamp || instruction.output_modifier)
    modify_output(OutputChange(wave, instruction, type), type, a, b);
  const uint32_t *mask = instruction.permuted ? wave.permutation_mask.word : wave.exec_mask.word;
  uint32_t *to = wave.vgpr[instruction.destination].word;
  bool preserves = is_16_bit(type) && instruction.operation->has(Operation::PreservesHigh);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t value = a.word[lane], old = to[lane];
    unsigned select = instruction.sdwa_select;
    if (select < 6) {
      unsigned width = select < 4 ? 8 : 16;
      unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
      uint32_t part = (width == 8 ? 0xFFu : 0xFFFFu) << shift;
      uint32_t placed = value << shift & part;
      if (instruction.sdwa_unused == 2)
        placed |= old & ~part;
      else if (instruction.sdwa_unused == 1 && value >> (width - 1) & 1)
        placed |= ~uint32_t{0} << shift & ~part;
      value = placed;
    } else if (is_16_bit(type)) {
      if (instruction.op_sel & 8)
        value = (old & 0xFFFF) | value << 16;
      else if (preserves)
        value = (old & 0xFFFF0000) | (value & 0xFFFF);
    }
    a.word[lane] = value;
  }
  merge(to, a.word, mask);
  if (wide)
    merge(wave.vgpr[instruction.destination + 1].word, b.word, mask);
}

} // namespace

Operand fetch_modified(Wave &wave, const Instruction &instruction, const Source &source,
                       OperandBuffers &buffers) {
  Operand operand = plain(wave, source, buffers);
  if (!source.modified)
    return operand;
  bool wide = is_wide(source.type);
  if (source.permuted) {
    permute(wave, instruction.permutation, operand, wide, buffers);
    operand = {buffers.low.word, buffers.high.word};
  }
  if (is_packed(source.type))
    return fetch_packed(instruction, source, operand, buffers);
  if (operand.low != buffers.low.word) {
    std::copy_n(operand.low, lane_count, buffers.low.word);
    if (wide)
      std::copy_n(operand.high, lane_count, buffers.high.word);
  }
  uint32_t *low = buffers.low.word;
  if (source.select != 6)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      low[lane] = select_part(low[lane], source.select, source.sign_extend);
  if (source.high)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      low[lane] >>= 16;
  if (source.absolute || source.negative)
    change_sign(source, wide ? buffers.high.word : low, is_16_bit(source.type) ? 0x8000u : 0x80000000u);
  return {low, buffers.high.word};
}

void store_result(Wave &wave, const Instruction &instruction, OperandType type, const Lanes &low,
                  const Lanes &high) {
  if (!instruction.plain_result) [[unlikely]]
    return store_modified(wave, instruction, type, low, high);
  merge(wave.vgpr[instruction.destination].word, low.word, wave.exec_mask.word);
  if (is_wide(type))
    merge(wave.vgpr[instruction.destination + 1].word, high.word, wave.exec_mask.word);
}

void store_mask(Wave &wave, const Instruction &instruction, const Lanes &bits) {
  const Lanes &mask = instruction.permuted ? wave.permutation_mask : wave.exec_mask;
  uint64_t result = 0;
  for (unsigned lane = 0; lane < lane_count; lane += 4) {
    __m128i four = _mm_and_si128(_mm_load_si128(reinterpret_cast<const __m128i *>(bits.word + lane)),
                                 _mm_load_si128(reinterpret_cast<const __m128i *>(mask.word + lane)));
    int set = _mm_movemask_ps(_mm_castsi128_ps(_mm_slli_epi32(four, 31)));
    result |= static_cast<uint64_t>(set) << lane;
  }
  wave.set_scalar_pair(instruction.scalar_destination, result);
  if (instruction.operation->has(Operation::WritesExec))
    wave.set_exec(result);
}

} // namespace nereid::sim
