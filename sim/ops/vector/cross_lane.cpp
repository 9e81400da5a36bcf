// Operations that move data between lanes or between register files.

#include <bit>

#include "sim/decode/operations.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

constexpr OperandType word = OperandType::Bits32;

uint32_t scalar_operand(const Wave &wave, const Source &source) {
  if (source.kind == Source::Kind::Vector)
    return wave.vgpr[source.index].word[0];
  return static_cast<uint32_t>(wave.scalar_value(source, false));
}

void read_lane(Wave &wave, const Instruction &instruction) {
  unsigned lane = scalar_operand(wave, instruction.source[1]) % lane_count;
  wave.set_scalar(instruction.destination, wave.vgpr[instruction.source[0].index].word[lane]);
}

void read_first_lane(Wave &wave, const Instruction &instruction) {
  const Source &source = instruction.source[0];
  unsigned lane = wave.exec() ? static_cast<unsigned>(std::countr_zero(wave.exec())) : 0;
  uint32_t value =
      source.kind == Source::Kind::Vector ? wave.vgpr[source.index].word[lane] : scalar_operand(wave, source);
  wave.set_scalar(instruction.destination, value);
}

void write_lane(Wave &wave, const Instruction &instruction) {
  unsigned lane = scalar_operand(wave, instruction.source[1]) % lane_count;
  wave.vgpr[instruction.destination].word[lane] = scalar_operand(wave, instruction.source[0]);
}

/// Adds to the second operand how many bits of the first one belong to lanes below.
template <unsigned First> void count_below(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[2];
  const uint32_t *mask = fetch(wave, instruction, instruction.source[0], buffers[0]).low;
  const uint32_t *start = fetch(wave, instruction, instruction.source[1], buffers[1]).low;
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint64_t below = (uint64_t{1} << lane) - 1;
    uint32_t counted = mask[lane] & static_cast<uint32_t>(below >> First);
    result.word[lane] = start[lane] + static_cast<uint32_t>(std::popcount(counted));
  }
  store_result(wave, instruction, OperandType::Bits32, result, result);
}

/// Exchanges lane groups of the source (the lower ones) with groups of the destination (the upper ones). A
/// pair with an inactive lane stays as it is.
template <unsigned Width> void swap_lanes(Wave &wave, const Instruction &instruction) {
  uint32_t *destination = wave.vgpr[instruction.destination].word;
  uint32_t *source = wave.vgpr[instruction.source[0].index].word;
  uint64_t exec = wave.exec();
  for (unsigned base = 0; base < lane_count; base += 2 * Width)
    for (unsigned lane = base; lane < base + Width; ++lane)
      if (exec >> lane & exec >> (lane + Width) & 1)
        std::swap(source[lane], destination[lane + Width]);
}

void swap_registers(Wave &wave, const Instruction &instruction) {
  uint32_t *a = wave.vgpr[instruction.destination].word;
  uint32_t *b = wave.vgpr[instruction.source[0].index].word;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (wave.exec_mask.word[lane])
      std::swap(a[lane], b[lane]);
}

void store_at(Wave &wave, unsigned index, const uint32_t *from) {
  uint32_t *to = wave.vgpr[index].word;
  const uint32_t *mask = wave.exec_mask.word;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    to[lane] = (from[lane] & mask[lane]) | (to[lane] & ~mask[lane]);
}

void read_accumulation(Wave &wave, const Instruction &instruction) {
  store_at(wave, instruction.destination,
           wave.vgpr[accumulation_base + instruction.source[0].index % accumulation_base].word);
}
void write_accumulation(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers;
  Operand from = fetch(wave, instruction, instruction.source[0], buffers);
  store_at(wave, accumulation_base + instruction.destination, from.low);
}
void move_accumulation(Wave &wave, const Instruction &instruction) {
  store_at(wave, accumulation_base + instruction.destination,
           wave.vgpr[accumulation_base + instruction.source[0].index % accumulation_base].word);
}

} // namespace

std::vector<Operation> cross_lane_operations() {
  const auto row = [](std::string name, Handler handler, OperandType second, const RowFacts &facts) {
    return custom_operation(std::move(name), Category::Valu, handler, word, word, second, OperandType::None,
                            facts);
  };
  constexpr OperandType none = OperandType::None;
  constexpr uint32_t to_scalar = Operation::ScalarResult;
  constexpr Taint by_lane = taint::cross_lane(taint::move_by({1}, lane_count - 1));
  constexpr RowFacts swap{.taint = taint::cross_lane(), .hazard = HazardClass::LaneSwap};
  return {
      row("v_readlane_b32", read_lane, word,
          {.traits = to_scalar, .taint = by_lane, .hazard = HazardClass::ReadLane}),
      row("v_readfirstlane_b32", read_first_lane, none,
          {.traits = to_scalar, .taint = taint::move, .hazard = HazardClass::ReadFirstLane}),
      row("v_writelane_b32", write_lane, word, {.taint = by_lane, .hazard = HazardClass::WriteLane}),
      row("v_mbcnt_lo_u32_b32", count_below<0>, word, {}),
      row("v_mbcnt_hi_u32_b32", count_below<32>, word, {}),
      row("v_permlane16_swap_b32", swap_lanes<16>, none, swap),
      row("v_permlane32_swap_b32", swap_lanes<32>, none, swap),
      row("v_swap_b32", swap_registers, none, {.taint = taint::cross_lane()}),
      row("v_accvgpr_read_b32", read_accumulation, none, {.taint = taint::move}),
      row("v_accvgpr_write_b32", write_accumulation, none, {.taint = taint::move}),
      row("v_accvgpr_mov_b32", move_accumulation, none, {.taint = taint::move}),
  };
}

} // namespace nereid::sim
