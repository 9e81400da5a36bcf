// Where a quantize finds its groups of 32, and which waves do the work.
#include "codegen/assign/quantize_layout.h"

#include <algorithm>

#include "codegen/assign/memory_layout.h"
#include "codegen/layout/layout_error.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/target/cost_model.h"
#include "codegen/target/gfx950.h"
#include "dsl/ir/format.h"

namespace nereid::codegen {

namespace {

/// The layout of what each group of `size` elements along the last dimension becomes.
LinearLayout by_groups(const LinearLayout &layout, int64_t size) {
  ir::Shape shape = layout.shape();
  shape.back() /= size;
  shape.push_back(size);
  Result<LinearLayout> grouped = reshape(layout, shape);
  require_layout(grouped.ok(), "a dimension has no whole groups");
  return reduce(*grouped, layout.rank());
}

/// `size` neighbours along the last dimension in a lane for each of its elements.
LinearLayout in_place_of_each(const LinearLayout &layout, int64_t size) {
  return LinearLayout::identity1d(Space::Register, layout.rank(), layout.rank() - 1, size) * layout;
}

/// Two e2m1 codes are a byte.
bool packs_pairs(const ir::Shape &codes, const ir::Shape &x) { return codes.back() < x.back(); }

/// x's layout from that of the codes, if it has the bytes of a group in a lane.
std::optional<LinearLayout> operand_from_codes(const LinearLayout &codes, const ir::Shape &x) {
  const bool pairs = packs_pairs(codes.shape(), x);
  const std::vector<uint64_t> &registers = codes.bases(Space::Register);
  for (int64_t step = 1; step < (pairs ? ir::scale_group / 2 : ir::scale_group); step *= 2)
    if (std::find(registers.begin(), registers.end(), static_cast<uint64_t>(step)) == registers.end())
      return std::nullopt;
  return pairs ? in_place_of_each(codes, 2) : codes;
}

LinearLayout neighbours_in_a_lane(const ir::Shape &x, int64_t count, int waves) {
  ir::Shape parts = x;
  parts.back() /= count;
  return in_place_of_each(default_layout(parts, waves), count);
}

/// A group in a lane or, where there are fewer than lanes, in two or four lanes that follow each other.
LinearLayout default_operand(const ir::Shape &x, int waves) {
  constexpr int64_t values_of_access = 8; // 16 bytes of halves, a dword of e2m1 codes
  int64_t values = 1;                     // but for odd factors, which no lanes share
  for (const int64_t size : x)
    values <<= Dimension::of(size).bits;
  int64_t count = ir::scale_group;
  while (count > values_of_access && values / count < int64_t{gfx950::lanes} * waves)
    count /= 2;
  return neighbours_in_a_lane(x, count, waves);
}

/// The groups of x that are broadcast to all waves, split among them; nothing if there are none. Odd factors
/// stay with each wave.
std::optional<LinearLayout> split_by_wave(const LinearLayout &x) {
  LinearLayout result = x;
  for (unsigned wave = 0; wave < x.bits(Space::Wave); ++wave) {
    unsigned bit = result.bits(Space::Register);
    while (bit > 0 && result.flat_basis(Space::Register, bit - 1) < ir::scale_group)
      --bit;
    if (bit > 0 && x.flat_basis(Space::Wave, wave) == 0)
      result = result.move_register(bit - 1, Space::Wave, wave);
  }
  return result == x ? std::nullopt : std::optional(result);
}

/// Whether waves that need the same groups quantise a part each.
bool waves_may_share(const ir::Function &function, const LinearLayout &x) {
  return function.options.wave_split == ir::WaveSplit::N || x.registers() > cost::values_worth_a_barrier;
}

LinearLayout choose_operand(const ir::Function &function, const ir::Op &op, const QuantizeRequest &request) {
  const ir::Shape &x = function.type(op.operands[0]).shape, &codes = function.type(op.results[0]).shape;
  const int waves = function.options.waves;
  LinearLayout own =
      request.is_wave_split ? in_every_wave(default_operand(x, 1), waves) : default_operand(x, waves);
  if (request.is_stored && parts_of_groups(own).lanes != 0)
    return own;
  if (request.scales)
    return in_place_of_each(*request.scales, ir::scale_group);
  if (request.codes)
    if (std::optional<LinearLayout> layout = operand_from_codes(*request.codes, x))
      return *layout;
  if (request.operand)
    if (auto layout = operand_from_codes(quantize_codes_layout(*request.operand, codes), x))
      return *layout;
  return own;
}

} // namespace

LinearLayout quantize_codes_layout(const LinearLayout &x, const ir::Shape &codes) {
  return packs_pairs(codes, x.shape()) ? by_groups(x, 2) : x;
}

LinearLayout quantize_scales_layout(const LinearLayout &x) { return by_groups(x, ir::scale_group); }

GroupParts parts_of_groups(const LinearLayout &x) {
  GroupParts parts;
  for (const uint64_t basis : x.bases(Space::Register))
    if (basis != 0 && basis < ir::scale_group)
      parts.values *= 2;
  for (unsigned bit = 0; bit < x.bits(Space::Lane); ++bit)
    if (const uint64_t basis = x.flat_basis(Space::Lane, bit); basis != 0 && basis < ir::scale_group)
      parts.lanes |= 1u << bit;
  return parts;
}

QuantizeLayouts choose_quantize_layouts(const ir::Function &function, const ir::Op &op,
                                        const QuantizeRequest &request) {
  const ir::Shape &codes = function.type(op.results[0]).shape;
  if (ir::facts(*ir::format_named(op.string("format"))).bits == 6) {
    // The codes come through LDS and may lie anyhow.
    const LinearLayout x =
        neighbours_in_a_lane(function.type(op.operands[0]).shape, ir::scale_group, function.options.waves);
    return {x, request.codes.value_or(default_layout(codes, function.options.waves)),
            quantize_scales_layout(x)};
  }
  const LinearLayout x = choose_operand(function, op, request);
  QuantizeLayouts layouts{x, quantize_codes_layout(x, codes), quantize_scales_layout(x)};
  if (waves_may_share(function, x) && !request.is_wave_split)
    if (std::optional<LinearLayout> part = split_by_wave(x)) {
      layouts.operand = *part;
      layouts.is_shared = true;
    }
  return layouts;
}

} // namespace nereid::codegen
