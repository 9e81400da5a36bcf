// How taint propagates through MFMA and SMFMAC: an element of A taints a row of the result, one of B a
// column, one of C itself.

#include <algorithm>

#include "sim/ops/matrix/matrix.h"
#include "sim/shadow/checker.h"

namespace nereid::sim {

namespace {

using LaneFlags = std::array<bool, lane_count>;

constexpr uint32_t nan_exponent = 0xFF;

/// How many registers an operand that starts at `first` has.
unsigned operand_words(const TaintRule &rule, unsigned first) {
  unsigned words = 1;
  for (const RegisterRange &range : rule.reads)
    if (range.first == first)
      words = std::max<unsigned>(words, range.count);
  return words;
}

/// The lanes that hold a tainted bit of an operand.
void add_operand(const TaintRule &rule, const Wave &plane, const Source &source, LaneFlags &lanes) {
  if (source.kind != Source::Kind::Vector)
    return;
  for (unsigned k = 0; k < operand_words(rule, source.index); ++k)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      lanes[lane] |= plane.vgpr[source.index + k].word[lane] != 0;
}

unsigned scale_field(const Instruction &instruction, unsigned side) {
  return side ? instruction.scale_b : instruction.scale_a;
}
bool has_scale(const Instruction &instruction, unsigned side) {
  return instruction.scaled && scale_field(instruction, side) >= first_vector_field;
}
/// The register of the scale of a side that has one.
unsigned scale_register(const Instruction &instruction, unsigned side) {
  return scale_field(instruction, side) - first_vector_field;
}

bool is_sparse(const Instruction &instruction) { return instruction.operation->has(Operation::SparseIndex); }

/// The lane that B is read from, and the block whose A a block uses.
unsigned source_lane(const MatrixShape &shape, const Instruction &instruction, unsigned lane) {
  const bool has_pattern = shape.result != Element::F64 && shape.a != Element::F8F6F4;
  return broadcast_lane(has_pattern ? instruction.blgp : 0, lane);
}
unsigned block_of_a(const MatrixShape &shape, const Instruction &instruction, unsigned block) {
  const bool shares = shape.a != Element::F8F6F4 && !is_sparse(instruction);
  return shares ? source_block(instruction, block) : block;
}

/// The rows and columns of each block with a tainted element of A or B.
struct TaintedSides {
  bool row[16][32] = {}, column[16][32] = {};

  TaintedSides(const MatrixShape &shape, const Instruction &instruction, const LaneFlags &a,
               const LaneFlags &b) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const unsigned block = lane / shape.m % shape.blocks, index = lane % shape.m;
      row[block][index] |= a[lane];
      column[block][index] |= b[source_lane(shape, instruction, lane)];
    }
  }
};

} // namespace

bool ShadowChecker::has_nan_scale(const Step &step) const {
  if (step.rule.applies_scale) {
    const auto is_nan = [](uint32_t word) { return (word >> 23 & 0xFF) == nan_exponent; };
    const Source &scale = step.instruction.source[1];
    if (scale.kind != Source::Kind::Vector)
      return is_nan(static_cast<uint32_t>(step.wave.scalar_value(scale, false)));
    const uint32_t *words = step.wave.vgpr[scale.index].word;
    return std::any_of(words, words + lane_count, is_nan);
  }
  for (unsigned side = 0; side < 2; ++side) {
    if (!has_scale(step.instruction, side))
      continue;
    const uint32_t *words = step.wave.vgpr[scale_register(step.instruction, side)].word;
    const unsigned shift = scale_shift(step.instruction, side);
    uint32_t found = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      found |= (words[lane] >> shift & 0xFF) == nan_exponent;
    if (found)
      return true;
  }
  return false;
}

void ShadowChecker::matrix_taint(const Step &step, ShadowPlane plane, MatrixTaint &out) {
  const Instruction &instruction = step.instruction;
  const MatrixShape &shape = *step.operation().matrix;
  const Wave &from = step.shadow[plane];
  LaneFlags sides[2]{};
  for (unsigned side = 0; side < 2; ++side) {
    add_operand(step.rule, from, instruction.source[side], sides[side]);
    if (!has_scale(instruction, side))
      continue;
    const unsigned reg = scale_register(instruction, side), shift = scale_shift(instruction, side);
    const bool finds_nan = plane == ShadowPlane::NanScale && nan_scale_;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      sides[side][lane] |= (from.vgpr[reg].word[lane] >> shift & 0xFF) != 0;
      sides[side][lane] |= finds_nan && (step.wave.vgpr[reg].word[lane] >> shift & 0xFF) == nan_exponent;
    }
  }
  if (is_sparse(instruction)) // the index belongs to A
    add_operand(step.rule, from, instruction.source[2], sides[0]);
  const TaintedSides tainted_sides(shape, instruction, sides[0], sides[1]);
  const Source c = is_sparse(instruction)
                       ? Source{.kind = Source::Kind::Vector, .index = instruction.destination}
                       : instruction.source[2];
  const unsigned words = shape.result == Element::F64 ? 2 : 1;
  bool any = false;
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned i = 0; i < shape.m; ++i)
      for (unsigned j = 0; j < shape.n; ++j) {
        const ResultLocation at = result_location(shape, block, i, j);
        bool tainted =
            tainted_sides.row[block_of_a(shape, instruction, block)][i] || tainted_sides.column[block][j];
        for (unsigned k = 0; c.kind == Source::Kind::Vector && k < words; ++k)
          tainted |= from.vgpr[c.index + words * at.index + k].word[at.lane] != 0;
        for (unsigned k = 0; k < words; ++k)
          out[words * at.index + k].word[at.lane] = tainted ? ~uint32_t{0} : 0;
        any |= tainted;
      }
  step.shadow.uses(plane) |= any;
  if (plane == ShadowPlane::Undefined)
    step.shadow.uses(ShadowPlane::Computed) |= any;
}

void ShadowChecker::matrix(const Step &step) {
  MatrixTaint undefined{}, nan{};
  if (step.shadow.uses(ShadowPlane::Undefined))
    matrix_taint(step, ShadowPlane::Undefined, undefined);
  if (nan_scale_)
    matrix_taint(step, ShadowPlane::NanScale, nan);
  for (unsigned k = 0; k < step.operation().matrix->result_registers(); ++k) {
    const unsigned reg = step.instruction.destination + k;
    step.shadow[ShadowPlane::Undefined].vgpr[reg] = step.shadow[ShadowPlane::Computed].vgpr[reg] =
        undefined[k];
    step.shadow[ShadowPlane::NanScale].vgpr[reg] = nan[k];
  }
  refresh_results(step);
}

} // namespace nereid::sim
