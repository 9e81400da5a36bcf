#include "codegen/assign/dot_plan.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include <fmt/format.h>

#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

namespace {

unsigned log2_of(int64_t size) {
  return static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(size)));
}

/// The columns of a matrix tile under construction; bits that a small tile lacks are copies.
struct Columns {
  ir::Shape shape; ///< two dimensions
  std::array<std::vector<uint64_t>, 3> bases{};

  uint64_t unit(unsigned dim, unsigned bit) const {
    if (bit >= log2_of(shape[dim]))
      return 0;
    const unsigned flat = bit + (dim == 0 ? log2_of(shape[1]) : 0);
    require_layout(flat < 64, "a tile has more than 64 bits of coordinates");
    return uint64_t(1) << flat;
  }
  bool add_register(unsigned dim, unsigned bit) {
    if (uint64_t flat_basis = unit(dim, bit)) {
      bases[0].push_back(flat_basis);
      return true;
    }
    return false;
  }
  void add_lane(unsigned dim, unsigned bit) { bases[1].push_back(unit(dim, bit)); }
  void add_wave(unsigned dim, unsigned bit) { bases[2].push_back(unit(dim, bit)); }
  void add_copy_wave() { bases[2].push_back(0); }
  /// The odd factor of dimension `first` is the faster one.
  LinearLayout layout(unsigned first) const {
    std::vector<Repeat> repeats;
    for (unsigned d : {first, 1 - first})
      if (uint32_t odd = Dimension::of(shape[d]).odd; odd > 1)
        repeats.push_back({Space::Register, odd, static_cast<int>(d)});
    return LinearLayout::from_flat_bases(shape, bases, std::move(repeats));
  }
};

/// Which tile bits of M and N the waves own: the highest, so that a wave's tiles are neighbours.
struct WaveDeal {
  unsigned n_bits, m_bits, copies;
  unsigned n_tile_bits, m_tile_bits;
  unsigned k_bits = 0;
};

WaveDeal deal_waves(unsigned waves, unsigned n_tile_bits, unsigned m_tile_bits, bool balanced) {
  WaveDeal deal{0, 0, 0, n_tile_bits, m_tile_bits};
  for (unsigned i = 0; i < waves; ++i) {
    unsigned n_left = n_tile_bits - deal.n_bits, m_left = m_tile_bits - deal.m_bits;
    if (n_left > 0 && (!balanced || n_left >= m_left))
      ++deal.n_bits;
    else if (m_left > 0)
      ++deal.m_bits;
    else
      ++deal.copies;
  }
  return deal;
}

/// Clocks of a workgroup's shared units for a product, as a rough measure: LDS, from which each wave reads
/// all of A that it multiplies, and the vector cache, through which A comes once and each wave's B.
struct Traffic {
  int64_t most, sum;
  bool operator<(const Traffic &other) const {
    return most != other.most ? most < other.most : sum < other.sum;
  }
};

Traffic traffic(const WaveDeal &deal, int64_t a_bytes, int64_t b_bytes, int64_t matrix_clocks) {
  constexpr int64_t lds_bytes_per_clock = 128, cache_bytes_per_clock = 64;
  int64_t lds = (a_bytes << deal.n_bits) / lds_bytes_per_clock;
  int64_t cache = (a_bytes + (b_bytes << deal.m_bits)) / cache_bytes_per_clock;
  return {std::max({lds, cache, matrix_clocks}), lds + cache};
}

/// m_dim, n_dim, k_dim: the tile's dimensions, negative for one that it lacks.
void add_waves(Columns &tile, const WaveDeal &deal, unsigned size_bits, int m_dim, int n_dim, int k_dim) {
  for (unsigned i = 0; i < deal.k_bits; ++i)
    if (k_dim < 0)
      tile.add_copy_wave();
    else
      tile.add_wave(k_dim, log2_of(tile.shape[k_dim]) - deal.k_bits + i);
  for (unsigned i = 0; i < deal.n_bits; ++i)
    if (n_dim < 0)
      tile.add_copy_wave();
    else
      tile.add_wave(n_dim, size_bits + deal.n_tile_bits - deal.n_bits + i);
  for (unsigned i = 0; i < deal.m_bits; ++i)
    if (m_dim < 0)
      tile.add_copy_wave();
    else
      tile.add_wave(m_dim, size_bits + deal.m_tile_bits - deal.m_bits + i);
  for (unsigned i = 0; i < deal.copies; ++i)
    tile.add_copy_wave();
}

/// Lanes along the rows of an instruction; those of rows that the tile lacks take K from `chunk_bits` up.
void add_rows(Columns &tile, unsigned row_dim, unsigned k_dim, unsigned size_bits, unsigned k_lane_bits,
              unsigned chunk_bits) {
  const unsigned rows = log2_of(tile.shape[row_dim]);
  for (unsigned i = 0; i < size_bits; ++i)
    if (i >= rows && i - rows < k_lane_bits)
      tile.add_lane(k_dim, chunk_bits + i - rows);
    else
      tile.add_lane(row_dim, i);
}

DotOperandPlan plan_operand(const MfmaFacts &mfma, const OperandFacts &facts, const WaveDeal &deal,
                            const ir::Shape &shape, bool is_a, unsigned k_lane_bits) {
  unsigned row_dim = is_a ? 0 : 1;
  unsigned k_dim = 1 - row_dim;
  unsigned size_bits = mfma.size_bits();
  DotOperandPlan plan;
  plan.facts = &facts;
  plan.row_tile_bits = is_a ? deal.m_tile_bits - deal.m_bits : deal.n_tile_bits - deal.n_bits;
  plan.row_tile_odd = Dimension::of(shape[row_dim]).odd;
  plan.k_odd = Dimension::of(shape[k_dim]).odd;
  if (facts.has_six_bits()) {
    const int64_t groups = shape[k_dim] * 8 / 6 / ir::scale_group;
    plan.k_odd = Dimension::of(groups).odd;
    for (unsigned i = log2_of(groups); i < mfma.lane_k_bits(); ++i)
      plan.padded_lanes |= 1u << (size_bits + i);
    return plan;
  }
  Columns tile{shape};
  unsigned k_bit = 0;
  for (unsigned i = 0; i < facts.register_bits_below; ++i)
    plan.element_bits += tile.add_register(k_dim, k_bit++);
  add_rows(tile, row_dim, k_dim, size_bits, k_lane_bits,
           facts.register_bits_below + mfma.lane_k_bits() + facts.register_bits_above);
  plan.k_lane_bits = k_lane_bits;
  plan.k_lanes_from = log2_of(shape[row_dim]);
  for (unsigned i = 0; i < mfma.lane_k_bits(); ++i, ++k_bit) {
    if (!tile.unit(k_dim, k_bit))
      plan.padded_lanes |= 1u << (size_bits + i);
    tile.add_lane(k_dim, k_bit);
  }
  for (unsigned i = 0; i < facts.register_bits_above; ++i)
    plan.element_bits += tile.add_register(k_dim, k_bit++);
  for (k_bit += k_lane_bits; k_bit + deal.k_bits < log2_of(shape[k_dim]); ++k_bit)
    tile.add_register(k_dim, k_bit);
  for (unsigned i = 0; i < plan.row_tile_bits; ++i)
    tile.add_register(row_dim, size_bits + i);
  add_waves(tile, deal, size_bits, is_a ? static_cast<int>(row_dim) : -1,
            is_a ? -1 : static_cast<int>(row_dim), static_cast<int>(k_dim));
  plan.layout = tile.layout(k_dim);
  return plan;
}

LinearLayout scale_layout(const MfmaFacts &mfma, const WaveDeal &deal, const ir::Shape &shape, bool is_a,
                          unsigned k_lane_bits) {
  Columns tile{shape};
  add_rows(tile, 0, 1, mfma.size_bits(), k_lane_bits, mfma.lane_k_bits());
  unsigned k_bit = 0;
  for (unsigned i = 0; i < mfma.lane_k_bits(); ++i)
    tile.add_lane(1, k_bit++);
  for (k_bit += k_lane_bits; k_bit + deal.k_bits < log2_of(shape[1]); ++k_bit)
    tile.add_register(1, k_bit);
  unsigned tiles = is_a ? deal.m_tile_bits - deal.m_bits : deal.n_tile_bits - deal.n_bits;
  for (unsigned i = 0; i < tiles; ++i)
    tile.add_register(0, mfma.size_bits() + i);
  add_waves(tile, deal, mfma.size_bits(), is_a ? 0 : -1, is_a ? -1 : 0, 1);
  return tile.layout(1);
}

LinearLayout result_layout(const MfmaFacts &mfma, const WaveDeal &deal, const ir::Shape &shape,
                           unsigned &result_bits) {
  Columns tile{shape};
  unsigned n_bit = 0;
  for (; n_bit < 2; ++n_bit)
    result_bits += tile.add_register(1, n_bit);
  for (unsigned i = 0; i < mfma.size_bits(); ++i)
    tile.add_lane(0, i);
  for (unsigned i = mfma.size_bits(); i < 6; ++i)
    tile.add_lane(1, n_bit++);
  for (; n_bit < mfma.size_bits(); ++n_bit)
    result_bits += tile.add_register(1, n_bit);
  for (unsigned i = 0; i < deal.n_tile_bits - deal.n_bits; ++i)
    tile.add_register(1, mfma.size_bits() + i);
  for (unsigned i = 0; i < deal.m_tile_bits - deal.m_bits; ++i)
    tile.add_register(0, mfma.size_bits() + i);
  add_waves(tile, deal, mfma.size_bits(), 0, 1, -1);
  return tile.layout(1);
}

/// Where scales multiply sums, those that belong to a lane's sums: the result's registers, for each group.
LinearLayout sum_scale_layout(const LinearLayout &result, const ir::Shape &scales, bool is_a) {
  const unsigned group_bits = log2_of(scales[1]), n_bits = result.dim(1).bits;
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces)
    for (uint64_t flat_basis : result.bases(space)) {
      const uint64_t row = is_a ? flat_basis >> n_bits : flat_basis & ((uint64_t(1) << n_bits) - 1);
      bases[static_cast<unsigned>(space)].push_back(row << group_bits);
    }
  for (unsigned bit = 0; bit < group_bits; ++bit)
    bases[0].push_back(uint64_t(1) << bit);
  std::vector<Repeat> repeats = result.repeats();
  for (Repeat &repeat : repeats)
    repeat.dim = repeat.dim == (is_a ? 0 : 1) ? 0 : Repeat::broadcast;
  if (const uint32_t odd = Dimension::of(scales[1]).odd; odd > 1)
    repeats.push_back({Space::Register, odd, 1});
  return LinearLayout::from_flat_bases(scales, bases, std::move(repeats));
}

struct Choice {
  const MfmaFacts *mfma;
  const OperandFacts *a, *b;
};

Result<Choice> choose_mfma(const ir::Function &function, const ir::Op &op, const DotSides &sides) {
  const std::optional<MfmaKind> kind = mfma_kind(sides.a.format, sides.b.format);
  const OperandFacts *a = kind ? find_operand(*kind, sides.a.format) : nullptr;
  const OperandFacts *b = kind ? find_operand(*kind, sides.b.format) : nullptr;
  if (!a || !b)
    return nereid_error(fmt::format("{} of {} and {} has no matrix instruction here yet",
                                    ir::facts(op.opcode).name, name_of(sides.a.format),
                                    name_of(sides.b.format)),
                        "formats that compile: " + operand_formats(), function.place(op));
  const ir::Shape &shape = function.type(op.result()).shape;
  const bool large = function.options.mfma == 32 && shape[0] % 32 == 0 && shape[1] % 32 == 0;
  return Choice{&find_mfma(*kind, large ? 32 : 16), a, b};
}

} // namespace

unsigned DotPlan::tile(unsigned m, unsigned n) const {
  const unsigned n_bits = b.row_tile_bits, m_bits = a.row_tile_bits;
  const unsigned repeat = (m >> m_bits) * b.row_tile_odd + (n >> n_bits);
  const unsigned within = (m & ((1u << m_bits) - 1)) << n_bits | (n & ((1u << n_bits) - 1));
  return repeat << (m_bits + n_bits) | within;
}

size_t DotPlan::sum_scale(size_t result_register, unsigned group) const {
  const unsigned bits = result.bits(Space::Register);
  const unsigned group_bits = log2_of(k_instructions / group_instructions());
  const size_t within = result_register & ((size_t(1) << bits) - 1);
  const size_t group_within = group & ((1u << group_bits) - 1), block = group >> group_bits;
  const size_t odd = (result_register >> bits) + block * result.odd(Space::Register);
  return odd << (bits + group_bits) | group_within << bits | within;
}

std::vector<ir::ValueId> DotSides::operands() const {
  std::vector<ir::ValueId> result;
  for (const DotSide *side : {&a, &b}) {
    result.push_back(side->value);
    if (side->scale)
      result.push_back(*side->scale);
  }
  return result;
}

DotSides sides_of_dot(const ir::Function &function, const ir::Op &op) {
  size_t next = 0;
  const auto side = [&](const char *format_name) {
    DotSide made{op.operands[next++], std::nullopt, std::nullopt};
    made.format = ir::format_named(op.has(format_name) ? std::string_view(op.string(format_name))
                                                       : ir::facts(function.type(made.value).element).name);
    if (op.opcode == ir::Opcode::DotScaled && ir::facts(*made.format).scaled)
      made.scale = op.operands[next++];
    return made;
  };
  DotSides sides;
  sides.a = side("format_a");
  sides.b = side("format_b");
  return sides;
}

Result<DotPlan> plan_dot(const ir::Function &function, const ir::Op &op, DotSharing sharing) {
  const DotSides sides = sides_of_dot(function, op);
  Result<Choice> choice = choose_mfma(function, op, sides);
  if (!choice)
    return choice.error();
  DotPlan plan;
  plan.mfma = choice->mfma;
  const ir::Shape &shape = function.type(op.result()).shape;
  unsigned size_bits = plan.mfma->size_bits();
  unsigned waves = log2_of(function.options.waves);
  unsigned m_tile_bits = std::max(log2_of(shape[0]), size_bits) - size_bits;
  unsigned n_tile_bits = std::max(log2_of(shape[1]), size_bits) - size_bits;
  const ir::Type &a = function.type(sides.a.value), &b = function.type(sides.b.value);
  const bool packed = sides.a.format && ir::facts(*sides.a.format).scaled;
  const int64_t k_count = packed ? a.shape[1] * 8 / ir::facts(*sides.a.format).bits : a.shape[1];
  const Dimension k_elements = Dimension::of(k_count);
  const unsigned k_bits = std::max(k_elements.bits, log2_of(plan.mfma->k)) - log2_of(plan.mfma->k);
  plan.k_instructions = k_elements.odd << k_bits;
  const bool idle_rows_may_take_k = sides.a.format == ir::Format::E2M1 &&
                                    sides.b.format == ir::Format::E2M1 && sides.a.scale && sides.b.scale;
  const bool may_slice = plan.mfma->kind == MfmaKind::F8F6F4
                             ? !choice->a->has_six_bits() && !choice->b->has_six_bits()
                             : plan.mfma->kind != MfmaKind::I8 && !sides.a.scale && !sides.b.scale;
  const bool slices = may_slice && sharing.owner == DotOwner::Slices && waves <= k_bits;
  WaveDeal deal{0, 0, waves, n_tile_bits, m_tile_bits};
  if (sharing.owner != DotOwner::Wave) {
    WaveDeal balanced = deal_waves(waves, n_tile_bits, m_tile_bits, true);
    deal = deal_waves(waves, n_tile_bits, m_tile_bits, false);
    int64_t a_bytes = a.count() * ir::byte_size(a.element), b_bytes = b.count() * ir::byte_size(b.element);
    // A wave's instruction takes 16 clocks; four waves run at a time.
    unsigned simds = std::min(waves, 2u);
    const int64_t odd = int64_t(Dimension::of(shape[0]).odd) * Dimension::of(shape[1]).odd;
    int64_t clocks = (16 * odd << (n_tile_bits + m_tile_bits)) * plan.k_instructions >> simds;
    bool prefers_balanced =
        traffic(balanced, a_bytes, b_bytes, clocks) < traffic(deal, a_bytes, b_bytes, clocks);
    if (function.options.wave_split == ir::WaveSplit::Mn ||
        (function.options.wave_split == ir::WaveSplit::Auto && prefers_balanced))
      deal = balanced;
  }
  plan.result = result_layout(*plan.mfma, deal, shape, plan.result_bits);
  if (slices) {
    deal = {0, 0, 0, n_tile_bits, m_tile_bits, waves};
    plan.result_bits = 0;
    plan.partial = result_layout(*plan.mfma, deal, shape, plan.result_bits);
  }
  const unsigned of_wave = k_bits - deal.k_bits;
  const unsigned idle_rows =
      size_bits == 4 && log2_of(shape[0]) < size_bits ? size_bits - log2_of(shape[0]) : 0;
  const unsigned k_lane_bits =
      idle_rows_may_take_k && sharing.idle_rows_take_k ? std::min(idle_rows, of_wave) : 0;
  plan.a = plan_operand(*plan.mfma, *choice->a, deal, a.shape, true, k_lane_bits);
  plan.b = plan_operand(*plan.mfma, *choice->b, deal, b.shape, false, 0);
  plan.scales_accumulators = plan.mfma->kind != MfmaKind::F8F6F4 && (sides.a.scale || sides.b.scale);
  for (auto [side, operand, is_a] :
       {std::tuple{&sides.a, &plan.a, true}, std::tuple{&sides.b, &plan.b, false}})
    if (side->scale) {
      const ir::Shape &scales = function.type(*side->scale).shape;
      operand->scale_layout = plan.scales_accumulators
                                  ? sum_scale_layout(plan.result, scales, is_a)
                                  : scale_layout(*plan.mfma, deal, scales, is_a, is_a ? k_lane_bits : 0);
    }
  plan.k_instructions = k_elements.odd << of_wave;
  return plan;
}

} // namespace nereid::codegen
