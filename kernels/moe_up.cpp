// moe_up: gates and ups of a mixture's experts, activated and quantised.
#include "kernels/moe_up.h"

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/moe_example.h"
#include "kernels/moe_tiles.h"
#include "kernels/problem_arguments.h"
#include "kernels/tile_defaults.h"

namespace nereid::kernels {
namespace {

void moe_up(const Specialized<MoeUpConfig> &specialized, Ptr<const u8> a, Ptr<const u8> a_scales,
            Ptr<const i32> sorted, Ptr<const i32> block_experts, Ptr<const u8> b, Ptr<const u8> b_scales,
            Ptr<const bf16> bias, Ptr<u8> codes, Ptr<u8> scales, Int top_k, Int n, Int k_argument) {
  const auto &[config, shape, scaling] = specialized;
  const int64_t block_m = config.tile.block_m, block_n = config.tile.block_n;
  const Int k = known_k(shape, k_argument);
  const Int first_column = program_id(0) * block_n;
  const MxView2D all_weights = weights_view(b, b_scales, n * 2, k, shape);
  const MoeBlock block = load_moe_block(sorted, block_experts, program_id(1), block_m);
  when(block.expert >= 0, [&] {
    const bool separated = config.gates == GateLayout::Separated;
    // Gates; with layouts that mix them, gates and ups of block_n columns.
    const int64_t first_width = separated ? block_n : block_n * 2;
    const Int first_gate = separated ? first_column : first_column * 2, first_up = n + first_column;
    const MxView2D weights = all_weights.matrix(block.expert);
    const MxView2D x_rows = numbered_rows(a, a_scales, k, shape);
    const Tile<i32> row = block.row(top_k);

    Var first = zeros<f32>({block_m, first_width});
    Var second = zeros<f32>({block_m, block_n});
    TileConfig tile = config.tile;
    tile.block_n = static_cast<int>(first_width);
    const KSteps steps = k_steps(tile, shape, k);
    for (Int k0 : steps) {
      const MxTile x = x_rows.gather(row, k0, steps.size());
      first += dot_scaled(x, weights.load({first_gate, k0}, {first_width, steps.size()}).transposed());
      if (separated)
        second += dot_scaled(x, weights.load({first_up, k0}, {block_n, steps.size()}).transposed());
    }
    if (config.bias) {
      const Ptr<const bf16> expert_bias = bias + Long(block.expert) * Long(n * 2);
      first += load_bias(expert_bias, n * 2, first_gate, first_width);
      if (separated)
        second += load_bias(expert_bias, n * 2, first_up, block_n);
    }
    const auto [gate, up] =
        separated ? std::pair(first.get(), second.get()) : split_gates(config.gates, first);

    const MxTile result = quantize(activate(config.activation, gate, up), e2m1, scale_rule(config.rule));
    const Tile<i32> place = where(block.is_row, block.place, -1);
    const ViewOptions any_row{.even_rows = true, .even_columns = shape.even_n, .is_small = true};
    View2D(codes, {max_view_rows, n >> 1}, any_row).scatter(place, first_column >> 1, result.codes);
    View2D(scales, {max_view_rows, n >> 5}, any_row).scatter(place, first_column >> 5, result.scales);
  });
}

MoeUpConfig moe_up_defaults(const Partial<MoeUpConfig> &given, const MaybeSize &) {
  const MoeUpConfig config{.tile = {.block_m = 16, .block_n = 64, .block_k = 256, .waves = 4, .stages = 2}};
  return config_merge(config, given);
}

Status check_moe_up(std::string_view kernel, const MoeUpConfig &config, const MaybeSize &size) {
  if (config.gates == GateLayout::Pairs)
    return user_error(fmt::format("{}: gates=pairs", kernel), "use separated or interleaved weights");
  if (config.tile.block_n % 32 != 0 || 128 % config.tile.block_n != 0)
    return user_error(fmt::format("{}: block_n={} is not 32, 64 or 128", kernel, config.tile.block_n));
  // Gates and ups are a tile of twice the columns.
  TileConfig both = config.tile;
  both.block_n *= 2;
  NEREID_CHECK(check_tile(kernel, both, std::nullopt, /*fused=*/false));
  return size && size->n % 32 != 0
             ? Status(user_error(fmt::format("{}: N={} is not a multiple of 32", kernel, size->n)))
             : Status();
}

Grid moe_up_grid(const MoeUpConfig &config, const ProblemSize &size, const MoeUpOperands &operands) {
  return {programs(size.n, config.tile.block_n), operands.rows.blocks};
}

BoundKernel bind_moe_up(std::string_view name, const MoeUpConfig &config, const MaybeSize &size,
                        const MoeUpOperands &operands) {
  const ProblemArguments problem(size);
  const auto [m, n, k] = size.value_or(ProblemSize{});
  const MoeRows &rows = operands.rows;
  const MoeArguments moe(rows, config.tile.block_m, n * 2, k);
  const int64_t sorted_rows = moe.sorted_rows();
  Specialized<MoeUpConfig> specialized{config, shape_facts(config.tile, size)};
  BoundKernel bound = bind_kernel<moe_up>(
      name, specialized, problem.codes_a<const u8>("a", operands.a),
      problem.plain_a_scales<const u8>("a_scales", operands.a_scales), moe.sorted(), moe.block_experts(),
      moe.b(operands.b), moe.b_scales(operands.b_scales),
      moe.bias(operands.bias, config.bias, "bf16 [experts, 2n]"),
      MemoryArgument<u8>{"codes", operands.codes, sorted_rows * (n / 2), "e2m1 [sorted rows, n/2]"},
      MemoryArgument<u8>{"scales", operands.scales, sorted_rows * (n / 32), "e8m0 [sorted rows, n/32]"},
      moe.top_k(), problem.n(), problem.k());
  if (const Status rows_fit =
          check_moe_rows(name, rows, config.tile.block_m, std::max(m, sorted_rows), std::max(n, k));
      !rows_fit)
    bound.refuse(rows_fit.error());
  else if (operands.gates != config.gates)
    bound.refuse(wrong_gates(name, operands.gates, config.gates));
  return bound;
}

LaunchIndices moe_up_indices(const MoeUpConfig &config, const ProblemSize &size, MoeUpOperands &operands) {
  operands.gates = config.gates;
  return equal_moe_shares(config.tile, size.m, operands.rows);
}

} // namespace

constinit const LibraryKernel<MoeUpConfig, MoeUpOperands> moe_up_kernel{
    .name = "moe_up",
    .summary = "gates and ups of the experts of sorted rows, activated and quantised",
    .rule = {product_rule.m, {1, max_n_or_k, k_granule}, product_rule.k},
    .defaults = moe_up_defaults,
    .check = check_moe_up,
    .grid = moe_up_grid,
    .grid_terms = {{{"n", "block_n"}, {"blocks", ""}, {}}},
    .bind = bind_moe_up,
    .numbers = moe_numbers<MoeUpConfig, MoeUpOperands>,
    .indices = moe_up_indices,
};

} // namespace nereid::kernels
