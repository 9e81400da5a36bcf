// moe_down, the second product of a mixture, and the sum of what it scatters.
#include "kernels/moe_down.h"

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/moe_example.h"
#include "kernels/moe_tiles.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

void moe_down(const Specialized<MoeDownConfig> &specialized, Ptr<const u8> a, Ptr<const u8> a_scales,
              Ptr<const i32> sorted, Ptr<const i32> block_experts, Ptr<const f32> weights, Ptr<const u8> b,
              Ptr<const u8> b_scales, Ptr<const bf16> bias, Ptr<f32> out, Int top_k, Int n, Int k_argument) {
  const auto &[config, shape, scaling] = specialized;
  const int64_t block_m = config.tile.block_m, block_n = config.tile.block_n;
  const Int k = known_k(shape, k_argument);
  const Int first_column = program_id(0) * block_n, first_row = program_id(1) * block_m;
  const MxView2D all_weights = weights_view(b, b_scales, n, k, shape);
  const MoeBlock block = load_moe_block(sorted, block_experts, program_id(1), block_m);
  when(block.expert >= 0, [&] {
    const MxView2D expert_weights = all_weights.matrix(block.expert);
    const MxView2D x_rows = numbered_rows(a, a_scales, k, shape);
    Var product = zeros<f32>({block_m, block_n});
    const KSteps steps = k_steps(config.tile, shape, k);
    for (Int k0 : steps) {
      const MxTile x = x_rows.load({first_row, k0}, {block_m, steps.size()});
      product += dot_scaled(x, expert_weights.load({first_column, k0}, {block_n, steps.size()}).transposed());
    }
    if (config.bias)
      product += load_bias(bias + Long(block.expert) * Long(n), n, first_column, block_n);
    product *= load(weights + block.index, block.is_row);

    const View2D to(out, {max_view_rows, n}, {.even_rows = true});
    if (config.scatter == Scatter::Store)
      to.scatter(block.index, first_column, product);
    else
      to.scatter_add(block.row(top_k), first_column, product, Order::Relaxed);
  });
}

MoeDownConfig moe_down_defaults(const Partial<MoeDownConfig> &given, const MaybeSize &) {
  const MoeDownConfig config{.tile = {.block_m = 16, .block_n = 64, .block_k = 256, .waves = 4, .stages = 2}};
  return config_merge(config, given);
}

Status check_moe_down(std::string_view kernel, const MoeDownConfig &config, const MaybeSize &) {
  return check_tile(kernel, config.tile, std::nullopt, /*fused=*/false);
}

Grid moe_down_grid(const MoeDownConfig &config, const ProblemSize &size, const MoeDownOperands &operands) {
  return {programs(size.n, config.tile.block_n), operands.rows.blocks};
}

BoundKernel bind_moe_down(std::string_view name, const MoeDownConfig &config, const MaybeSize &size,
                          const MoeDownOperands &operands) {
  const ProblemArguments problem(size);
  const auto [m, n, k] = size.value_or(ProblemSize{});
  const MoeRows &rows = operands.rows;
  const MoeArguments moe(rows, config.tile.block_m, n, k);
  const int64_t sorted_rows = moe.sorted_rows();
  const int64_t out_rows = config.scatter == Scatter::Store ? m * rows.top_k : m;
  Specialized<MoeDownConfig> specialized{config, shape_facts(config.tile, size)};
  BoundKernel bound = bind_kernel<moe_down>(
      name, specialized,
      MemoryArgument<const u8>{"a", operands.a, sorted_rows * (k / 2), "e2m1 [sorted rows, k/2]"},
      MemoryArgument<const u8>{"a_scales", operands.a_scales, sorted_rows * (k / 32),
                               "e8m0 [sorted rows, k/32]"},
      moe.sorted(), moe.block_experts(),
      MemoryArgument<const f32>{"weights", operands.weights, m * rows.top_k * 4, "f32 [m, top_k]"},
      moe.b(operands.b), moe.b_scales(operands.b_scales),
      moe.bias(operands.bias, config.bias, "bf16 [experts, n]"),
      MemoryArgument<f32>{"out", operands.out, out_rows * n * 4,
                          config.scatter == Scatter::Store ? "f32 [m, top_k, n]" : "f32 [m, n]"},
      moe.top_k(), problem.n(), problem.k());
  if (const Status rows_fit = check_moe_rows(name, rows, config.tile.block_m, sorted_rows, k); !rows_fit)
    bound.refuse(rows_fit.error());
  return bound;
}

LaunchIndices moe_down_indices(const MoeDownConfig &config, const ProblemSize &size,
                               MoeDownOperands &operands) {
  return equal_moe_shares(config.tile, size.m, operands.rows);
}

struct CombineConfig {
  int block_n = 1024;
  int waves = 4;
  int top_k = 1;
  Scatter scatter = Scatter::Store;

  NEREID_CONFIG(CombineConfig, block_n, waves, top_k, scatter)
};

/// Programs: (m, n in blocks).
void moe_combine(const CombineConfig &config, Ptr<const f32> parts, Ptr<const i32> ids, Ptr<bf16> out,
                 Int experts, Int n) {
  const Int row = program_id(0);
  const Tile<i32> column = program_id(1) * config.block_n + arange(0, config.block_n);
  const Tile<i1> in_bounds = column < n;
  const Long first = Long(row) * n;
  Var sum = zeros<f32>({config.block_n});
  if (config.scatter == Scatter::Add)
    sum = load(parts + first + column, in_bounds);
  else
    for (int part = 0; part < config.top_k; ++part) {
      const Int id = load(ids + (row * config.top_k + part));
      const Long at = Long(row * config.top_k + part) * n;
      sum += load(parts + at + column, in_bounds & (id >= 0) & (id < experts));
    }
  store(out + first + column, sum.to<bf16>(), in_bounds);
}

} // namespace

constinit const LibraryKernel<MoeDownConfig, MoeDownOperands> moe_down_kernel{
    .name = "moe_down",
    .summary = "sorted rows times the B of their experts, weighted and scattered",
    .rule = product_rule,
    .defaults = moe_down_defaults,
    .check = check_moe_down,
    .grid = moe_down_grid,
    .grid_terms = {{{"n", "block_n"}, {"blocks", ""}, {}}},
    .bind = bind_moe_down,
    .numbers = moe_numbers<MoeDownConfig, MoeDownOperands>,
    .indices = moe_down_indices,
};

Result<LaunchRecord> launch_moe_combine(const LaunchTarget &target, Scatter scatter, int64_t m, int64_t n,
                                        const MoeCombineOperands &operands) {
  const auto &[parts, ids, out, experts, top_k] = operands;
  const CombineConfig config{.top_k = top_k, .scatter = scatter};
  const bool stored = scatter == Scatter::Store;
  const BoundKernel combine = bind_kernel<moe_combine>(
      "moe_combine", config,
      MemoryArgument<const f32>{"parts", parts, (stored ? m * top_k : m) * n * 4,
                                stored ? "f32 [m, top_k, n]" : "f32 [m, n]"},
      MemoryArgument<const i32>{"ids", ids, stored ? m * top_k * 4 : 0, "i32 [m, top_k]"},
      MemoryArgument<bf16>{"out", out, m * n * 2, "bf16 [m, n]"}, NumberArgument{"experts", int32_t{experts}},
      DimensionArgument{"n", n});
  const Grid grid{m, programs(n, config.block_n)};
  NEREID_TRY(LaunchInfo info, combine.launch(target.options, target.stream, grid));
  return LaunchRecord{config_values(config), std::move(info)};
}

} // namespace nereid::kernels
