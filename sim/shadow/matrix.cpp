// How marks go through MFMA and SMFMAC: an element of A marks a row of the result, one of B a column, one of
// C itself.

#include <algorithm>

#include "sim/shadow/checker.h"

namespace nereid::sim {

namespace {

using LaneFlags = std::array<bool, lane_count>;

/// How many registers an operand that starts at `first` has.
unsigned operand_words(const Flow &flow, unsigned first) {
  unsigned words = 1;
  for (const RegisterRange &range : flow.reads)
    if (range.first == first)
      words = std::max<unsigned>(words, range.count);
  return words;
}

LaneFlags operand_lanes(const Flow &flow, const Wave &plane, const Source &source) {
  LaneFlags result{};
  if (source.kind != Source::Kind::Vector)
    return result;
  for (unsigned k = 0; k < operand_words(flow, source.index); ++k)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      result[lane] |= plane.vgpr[source.index + k].word[lane] != 0;
  return result;
}

unsigned scale_field(const Instruction &instruction, unsigned side) {
  return side ? instruction.scale_b : instruction.scale_a;
}
bool has_scale(const Instruction &instruction, unsigned side) {
  return instruction.scaled && scale_field(instruction, side) >= 256;
}

/// The lane that B is read from, and the block whose A a block uses.
unsigned source_lane(const Flow &flow, const Instruction &instruction, unsigned lane) {
  const bool has_pattern = flow.shape.result != Element::F64 && flow.shape.a != Element::F8F6F4;
  return broadcast_lane(has_pattern ? instruction.blgp : 0, lane);
}
unsigned block_of_a(const Flow &flow, const Instruction &instruction, unsigned block) {
  const bool shares = flow.shape.a != Element::F8F6F4 && !flow.is_sparse;
  return shares ? source_block(instruction, block) : block;
}

} // namespace

bool ShadowChecker::has_nan_scale(const Step &step) const {
  if (step.flow.product) {
    const auto is_nan = [](uint32_t word) { return (word >> 23 & 0xFF) == 0xFF; };
    const Source &scale = step.instruction.source[1];
    if (scale.kind != Source::Kind::Vector)
      return is_nan(static_cast<uint32_t>(step.wave.scalar_value(scale, false)));
    const uint32_t *words = step.wave.vgpr[scale.index].word;
    return std::any_of(words, words + lane_count, is_nan);
  }
  for (unsigned side = 0; side < 2; ++side) {
    if (!has_scale(step.instruction, side))
      continue;
    const uint32_t *words = step.wave.vgpr[scale_field(step.instruction, side) - 256].word;
    const unsigned shift = scale_shift(step.instruction, side);
    uint32_t found = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      found |= (words[lane] >> shift & 0xFF) == 0xFF;
    if (found)
      return true;
  }
  return false;
}

void ShadowChecker::matrix(const Step &step) {
  const Flow &flow = step.flow;
  const Instruction &instruction = step.instruction;
  const MatrixShape &shape = flow.shape;
  std::array<Lanes, 32> undefined{}, nan{};
  const auto find = [&](Plane plane, std::array<Lanes, 32> &out) {
    const Wave &from = step.shadow[plane];
    LaneFlags sides[2] = {operand_lanes(flow, from, instruction.source[0]),
                          operand_lanes(flow, from, instruction.source[1])};
    if (flow.is_sparse) { // the index belongs to A
      const LaneFlags index = operand_lanes(flow, from, instruction.source[2]);
      for (unsigned lane = 0; lane < lane_count; ++lane)
        sides[0][lane] |= index[lane];
    }
    for (unsigned side = 0; side < 2; ++side) {
      if (!has_scale(instruction, side))
        continue;
      const unsigned reg = scale_field(instruction, side) - 256, shift = scale_shift(instruction, side);
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        sides[side][lane] |= (from.vgpr[reg].word[lane] >> shift & 0xFF) != 0;
        if (plane == Plane::NanScale && nan_scale_)
          sides[side][lane] |= (step.wave.vgpr[reg].word[lane] >> shift & 0xFF) == 0xFF;
      }
    }
    bool rows[16][32] = {}, columns[16][32] = {};
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const unsigned block = lane / shape.m % shape.blocks, place = lane % shape.m;
      rows[block][place] |= sides[0][lane];
      columns[block][place] |= sides[1][source_lane(flow, instruction, lane)];
    }
    const bool wide = shape.result == Element::F64;
    const Source c = flow.is_sparse ? Source{.kind = Source::Kind::Vector, .index = instruction.destination}
                                    : instruction.source[2];
    for (unsigned block = 0; block < shape.blocks; ++block)
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.n; ++j) {
          const ResultPlace place = result_place(shape, block, i, j);
          bool marked = rows[block_of_a(flow, instruction, block)][i] || columns[block][j];
          for (unsigned k = 0; k < (wide ? 2u : 1u); ++k)
            if (c.kind == Source::Kind::Vector)
              marked |= from.vgpr[c.index + (wide ? 2 : 1) * place.index + k].word[place.lane] != 0;
          for (unsigned k = 0; k < (wide ? 2u : 1u); ++k)
            out[(wide ? 2 : 1) * place.index + k].word[place.lane] = marked ? ~uint32_t{0} : 0;
          step.shadow.used[static_cast<unsigned>(plane)] |= marked;
          if (marked && plane == Plane::Undefined)
            step.shadow.used[static_cast<unsigned>(Plane::Computed)] = true;
        }
  };
  if (step.shadow.used[static_cast<unsigned>(Plane::Undefined)])
    find(Plane::Undefined, undefined);
  if (nan_scale_)
    find(Plane::NanScale, nan);
  for (unsigned k = 0; k < shape.result_registers(); ++k) {
    const unsigned reg = instruction.destination + k;
    step.shadow[Plane::Undefined].vgpr[reg] = step.shadow[Plane::Computed].vgpr[reg] = undefined[k];
    step.shadow[Plane::NanScale].vgpr[reg] = nan[k];
  }
  refresh_results(step);
}

} // namespace nereid::sim
