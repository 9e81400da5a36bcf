// The layouts of a dot: one instruction * its tiles in registers * the waves.
#include "codegen/assign/dot_plan.h"

#include <algorithm>

#include "codegen/layout/bits.h"
#include "codegen/layout/layout_transforms.h"

namespace nereid::codegen {

namespace {

constexpr Space reg = Space::Register, lane = Space::Lane, wave = Space::Wave;

LinearLayout broadcast_to_waves(unsigned bits) { return LinearLayout::zeros1d(wave, 2, int64_t(1) << bits); }

/// The waves above a tile whose dimensions are `dims`, as in "mk".
LinearLayout wave_layout(const WaveTiling &waves, std::string_view dims) {
  LinearLayout result = broadcast_to_waves(0);
  for (char name : {'k', 'n', 'm'}) {
    const size_t dim = dims.find(name);
    result = result * (dim == dims.npos
                           ? broadcast_to_waves(waves.along(name))
                           : along(wave, static_cast<unsigned>(dim), int64_t(1) << waves.along(name)));
  }
  return result * broadcast_to_waves(waves.broadcast);
}

/// instruction * tiles in registers * waves: a tile of `shape`.
LinearLayout tile_layout(const LinearLayout &instruction, const ir::Shape &shape, const LinearLayout &waves) {
  const auto tiles = [&](unsigned d) {
    return along(reg, d, shape[d] / instruction.dim(d).size() / waves.dim(d).size());
  };
  return instruction * tiles(1) * tiles(0) * waves;
}

/// A tile of a side: of `k_lane_bits` of the steps along K the next one is in the next of the lanes that the
/// instruction has for rows which the tile lacks.
LinearLayout side_layout(const LinearLayout &instruction, const ir::Shape &shape, const LinearLayout &waves,
                         unsigned k_lane_bits) {
  const LinearLayout first = crop(instruction, shape);
  LinearLayout result = tile_layout(first, shape, waves);
  for (unsigned i = 0; i < k_lane_bits; ++i)
    result = result.move_register(first.bits(reg), lane, Dimension::of(shape[0]).bits + i);
  return result;
}

/// Two adjacent runs of bits along K of a side's tile change places: `lanes` bits from `first` on, which the
/// instruction's lanes walk over, and `steps` above them, which number instructions.
LinearLayout swap_lanes_with_steps(const LinearLayout &layout, unsigned first, unsigned lanes,
                                   unsigned steps) {
  const auto moved = [&](uint64_t basis) {
    const uint64_t below = basis & low_mask(first), above = basis >> (first + lanes + steps)
                                                                         << (first + lanes + steps);
    const uint64_t of_lanes = basis >> first & low_mask(lanes);
    const uint64_t of_steps = basis >> (first + lanes) & low_mask(steps);
    return above | of_lanes << (first + steps) | of_steps << first | below;
  };
  Bases bases = layout.bases();
  for (std::vector<uint64_t> &space : bases)
    std::transform(space.begin(), space.end(), space.begin(), moved);
  return LinearLayout::from_flat_bases(layout.shape(), std::move(bases), layout.repeats());
}

/// `layout`, of a side's tile whose groups along K are `group` elements, with neighbouring groups in a lane.
LinearLayout with_neighbouring_groups(const LinearLayout &layout, const MfmaFacts &mfma, int64_t group) {
  constexpr unsigned steps_of_dword = 2; // a scale is a byte
  const unsigned first = Dimension::of(group).bits;
  const unsigned lanes = Dimension::of(mfma.k() / ir::scale_group).bits;
  const unsigned bits = layout.dim(1).bits;
  return bits <= first + lanes
             ? layout
             : swap_lanes_with_steps(layout, first, lanes, std::min(steps_of_dword, bits - first - lanes));
}

/// The lane bits along K of an instruction that a smaller tile does not fill.
unsigned lanes_beyond_k(const LinearLayout &instruction, const ir::Shape &shape) {
  const LinearLayout cropped = crop(instruction, shape);
  unsigned lanes = 0;
  for (unsigned bit = 0; bit < instruction.bits(lane); ++bit)
    if (instruction.basis(lane, bit)[1] != 0 && cropped.basis(lane, bit)[1] == 0)
      lanes |= 1u << bit;
  return lanes;
}

DotOperandPlan plan_operand(const MfmaFacts &mfma, const GridSide &side, const WaveTiling &waves,
                            unsigned k_lane_bits, bool neighbouring_groups) {
  const SideFormat format = side.operand.format;
  const Dimension rows = instructions_along(side.shape[0], mfma.size());
  DotOperandPlan plan;
  plan.facts = side.facts;
  plan.stored_dwords = side.instruction.registers() * stored_bits(format) / 32;
  plan.dwords = side.instruction.registers() * multiplied_bits(mfma.kind, format) / 32;
  plan.row_tile_bits = rows.bits - waves.along(side.dims[0]);
  plan.row_tile_odd = rows.odd;
  if (side.facts->has_six_bits() && multiplied_bits(mfma.kind, format) == 16) {
    const ir::Shape runs = {side.shape[0], side.shape[1] * 8 / 6 / run_of_halves};
    plan.k_odd = Dimension::of(runs[1]).odd;
    plan.layout = side_layout(layout_of_runs(side.instruction), runs, wave_layout(waves, side.dims), 0);
    return plan;
  }
  if (side.facts->has_six_bits()) {
    const ir::Shape groups = {side.shape[0], side.shape[1] * 8 / 6 / ir::scale_group};
    plan.k_odd = Dimension::of(groups[1]).odd;
    plan.padded_lanes = lanes_beyond_k(layout_of_scales(side.instruction), groups);
    return plan;
  }
  const LinearLayout elements = layout_of_elements(side.instruction, *side.facts);
  plan.log2_elements = crop(elements, side.shape).bits(reg);
  plan.k_odd = Dimension::of(side.shape[1]).odd;
  plan.padded_lanes = lanes_beyond_k(elements, side.shape);
  plan.k_lane_bits = k_lane_bits;
  plan.k_lanes_from = Dimension::of(side.shape[0]).bits;
  LinearLayout layout = side_layout(elements, side.shape, wave_layout(waves, side.dims), k_lane_bits);
  if (neighbouring_groups)
    layout = with_neighbouring_groups(layout, mfma, ir::scale_group / 2);
  plan.layout = side.dims == "mk" ? layout : permute(layout, {1, 0});
  return plan;
}

/// Where scales multiply accumulators, those of a lane's accumulators: the result's registers, for each
/// group.
LinearLayout sum_scale_layout(const LinearLayout &result, const GridSide &side, const ir::Shape &scales) {
  return expand_dims(slice(result, side.dims == "mk" ? 1 : 0), 1) * along(reg, 1, scales[1]);
}

bool waves_may_take_slices(const DotGrid &grid) {
  if (grid.wave_bits > grid.k.bits)
    return false;
  switch (grid.mfma->kind) {
  case MfmaKind::F8F6F4:
    return !grid.a.facts->has_six_bits() && !grid.b.facts->has_six_bits();
  case MfmaKind::I8:
    return false;
  default:
    return !grid.a.operand.scale && !grid.b.operand.scale;
  }
}

bool sides_are_scaled_e2m1(const DotGrid &grid) {
  const auto is_scaled_e2m1 = [](const GridSide &side) {
    return side.operand.format == ir::Format::E2M1 && side.operand.scale;
  };
  return grid.mfma->kind == MfmaKind::F8F6F4 && is_scaled_e2m1(grid.a) && is_scaled_e2m1(grid.b);
}

/// log2 of the steps along K that the lanes of rows which A lacks can take, of 2^k_bits.
unsigned steps_in_idle_rows(const DotGrid &grid, unsigned k_bits) {
  if (grid.mfma->size() != 16 || !sides_are_scaled_e2m1(grid))
    return 0;
  return std::min(instructions_along(grid.mfma->size(), grid.a.shape[0]).bits, k_bits);
}

} // namespace

unsigned DotPlan::tile(unsigned m, unsigned n) const {
  const unsigned n_bits = b.row_tile_bits, m_bits = a.row_tile_bits;
  const unsigned repeat = (m >> m_bits) * b.row_tile_odd + (n >> n_bits);
  const unsigned within = (m & ((1u << m_bits) - 1)) << n_bits | (n & ((1u << n_bits) - 1));
  return repeat << (m_bits + n_bits) | within;
}

size_t DotPlan::sum_scale(size_t result_register, unsigned group) const {
  const unsigned bits = result.bits(reg);
  const unsigned group_bits = Dimension::of(k_instructions / group_instructions()).bits;
  const size_t within = result_register & low_mask(bits);
  const size_t group_within = group & low_mask(group_bits), block = group >> group_bits;
  const size_t odd = (result_register >> bits) + block * result.odd(reg);
  return odd << (bits + group_bits) | group_within << bits | within;
}

Result<DotPlan> plan_dot(const ir::Function &function, const ir::Op &op, DotSharing sharing) {
  NEREID_TRY(const DotGrid grid,
             dot_grid(function, op, function.options.mfma == 32 || sharing.large_instruction));
  const ir::Shape &shape = function.type(op.result()).shape;
  WaveTiling waves = choose_wave_tiling(grid, sharing.owner);
  DotPlan plan;
  plan.mfma = grid.mfma;
  const LinearLayout first = crop(permute(grid.mfma->result_layout, {1, 0}), shape);
  plan.result_bits = first.bits(reg);
  plan.result = tile_layout(first, shape, wave_layout(waves, "mn"));
  if (sharing.owner == DotOwner::Slices && waves_may_take_slices(grid)) {
    waves = {.k = grid.wave_bits};
    plan.partial = tile_layout(first, shape, wave_layout(waves, "mn"));
  }
  const unsigned k_bits = grid.k.bits - waves.k;
  plan.k_instructions = grid.k.odd << k_bits;
  plan.scales_accumulators =
      grid.mfma->kind != MfmaKind::F8F6F4 && (grid.a.operand.scale || grid.b.operand.scale);

  const unsigned k_lane_bits = sharing.idle_rows_take_k ? steps_in_idle_rows(grid, k_bits) : 0;
  const bool neighbouring_groups =
      sharing.neighbouring_groups && k_lane_bits == 0 && sides_are_scaled_e2m1(grid);
  plan.a = plan_operand(*grid.mfma, grid.a, waves, k_lane_bits, neighbouring_groups);
  plan.b = plan_operand(*grid.mfma, grid.b, waves, 0, neighbouring_groups);
  for (auto [side, operand] : {std::pair{&grid.a, &plan.a}, {&grid.b, &plan.b}})
    if (side->operand.scale) {
      const ir::Shape &scales = function.type(*side->operand.scale).shape;
      operand->scale_layout = plan.scales_accumulators
                                  ? sum_scale_layout(plan.result, *side, scales)
                                  : side_layout(layout_of_scales(side->instruction), scales,
                                                wave_layout(waves, side->dims), operand->k_lane_bits);
      if (neighbouring_groups)
        operand->scale_layout = with_neighbouring_groups(operand->scale_layout, *grid.mfma, 1);
    }
  return plan;
}

} // namespace nereid::codegen
