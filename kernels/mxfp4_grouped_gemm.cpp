// mxfp4_batched_gemm and mxfp4_grouped_gemm: which product a program belongs to, then a tile of that.
#include "kernels/mxfp4_grouped_gemm.h"

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/epilogues.h"
#include "kernels/problem_arguments.h"
#include "kernels/tile_defaults.h"

namespace nereid::kernels {
namespace {

/// A program's block of rows: whose rows they are, the first, and the end of that expert's.
struct RowBlock {
  Tile<i1> in_bounds; ///< a scalar: there is such a block
  Int expert;
  Int first_row;
  Int end_row;
};

/// Experts' blocks one after another; each program finds its own by counting the experts that end before it.
RowBlock row_block(const GroupedConfig &config, const Ptr<const i32> &ends, const Int &experts) {
  const Int number = program_id(1);
  const Tile<i32> e = arange(0, config.experts);
  const Tile<i1> is_expert = e < experts;
  const Tile<i32> end = load(ends + e, is_expert);
  const Tile<i32> begin = load(ends + (e - 1), is_expert & (e > 0));
  const Tile<i32> block_count = (end - begin + (config.tile.block_m - 1)) / config.tile.block_m;
  const Tile<i32> block_end = cumsum(block_count, 0);
  const Tile<i1> earlier = block_end <= number;
  const Int expert = sum(earlier.to<i32>(), 0);
  const Int first_block = sum(where(earlier, block_count, 0), 0);
  const Tile<i1> mine = e == expert;
  const Int first_row = sum(where(mine, begin, 0), 0) + (number - first_block) * config.tile.block_m;
  return {expert < config.experts, expert, first_row, sum(where(mine, end, 0), 0)};
}

void mxfp4_batched_gemm(const Specialized<TileConfig> &specialized, Ptr<const bf16> a_values,
                        Ptr<const u8> b_codes, Ptr<const u8> b_scales, Ptr<bf16> out_pointer, Int m, Int n,
                        Int k_argument) {
  const auto &[config, shape, scaling] = specialized;
  const Int k = known_k(shape, k_argument);
  const View2D a = rows_view(a_values, m, k, shape);
  const MxView2D b = weights_view(b_codes, b_scales, n, k, shape);
  const View2D out(out_pointer, {m, n});
  const Int number = program_id(2);
  const Position2D at{program_id(1) * config.block_m, program_id(0) * config.block_n};
  const Tile<f32> sum = multiply(config, a.matrix(number), b.matrix(number), at, k_steps(config, shape, k));
  out.matrix(number).store(at, sum.to<bf16>());
}

void mxfp4_grouped_gemm(const Specialized<GroupedConfig> &specialized, Ptr<const bf16> a_values,
                        Ptr<const i32> ends, Ptr<const u8> b_codes, Ptr<const u8> b_scales,
                        Ptr<bf16> out_pointer, Int experts, Int n, Int k_argument) {
  const auto &[config, shape, scaling] = specialized;
  const Int k = known_k(shape, k_argument);
  assume((experts > 0) & (experts <= config.experts));
  const MxView2D b = weights_view(b_codes, b_scales, n, k, shape);
  const RowBlock block = row_block(config, ends, experts);
  when(block.in_bounds, [&] {
    const View2D a = rows_view(a_values, block.end_row, k, shape);
    const View2D out(out_pointer, {block.end_row, n});
    const Position2D at{block.first_row, program_id(0) * config.tile.block_n};
    const Tile<f32> sum =
        multiply(config.tile, a, b.matrix(block.expert), at, k_steps(config.tile, shape, k));
    out.store(at, sum.to<bf16>());
  });
}

/// The size of an expert's product where the experts share the rows alike.
MaybeSize size_of_expert(const MaybeSize &size, int experts) {
  return size ? ProblemSize{blocks(size->m, experts), size->n, size->k} : MaybeSize();
}

TileConfig batched_defaults(const Partial<TileConfig> &given, const MaybeSize &size) {
  return tile_defaults(given, size, /*fused=*/true, /*is_split=*/false);
}

GroupedConfig grouped_defaults(const Partial<GroupedConfig> &given, const MaybeSize &size) {
  const int experts = given.experts.value_or(GroupedConfig{}.experts);
  return {.tile = batched_defaults(given.tile, size_of_expert(size, experts)), .experts = experts};
}

Status check_batched(std::string_view kernel, const TileConfig &config, const MaybeSize &size) {
  return check_tile(kernel, config, size, /*fused=*/true);
}

Status check_grouped(std::string_view kernel, const GroupedConfig &config, const MaybeSize &size) {
  return check_tile(kernel, config.tile, size_of_expert(size, config.experts), /*fused=*/true);
}

Grid batched_grid(const TileConfig &config, const ProblemSize &size, const BatchedOperands &operands) {
  return {programs(size.n, config.block_n), programs(size.m, config.block_m), operands.batch};
}

Grid grouped_grid(const GroupedConfig &config, const ProblemSize &size, const GroupedOperands &operands) {
  const int64_t row_blocks = grouped_row_blocks(size.m, operands.experts, config.tile.block_m);
  return {programs(size.n, config.tile.block_n), row_blocks};
}

BoundKernel bind_batched(std::string_view name, const TileConfig &config, const MaybeSize &size,
                         const BatchedOperands &operands) {
  const auto &[a, b, b_scales, out, batch] = operands;
  const ProblemArguments problem(size);
  const Specialized<TileConfig> specialized{config, shape_facts(config, size)};
  return bind_kernel<mxfp4_batched_gemm>(name, specialized, problem.bf16_a("a", a, batch),
                                         problem.b(b, batch), problem.b_scales(b_scales, batch),
                                         problem.bf16_out(out, batch), problem.m(), problem.n(), problem.k());
}

BoundKernel bind_grouped(std::string_view name, const GroupedConfig &config, const MaybeSize &size,
                         const GroupedOperands &operands) {
  const auto &[a, ends, b, b_scales, out, experts] = operands;
  const ProblemArguments problem(size);
  Specialized<GroupedConfig> specialized{config, shape_facts(config.tile, size)};
  // Where an expert's rows end is known to the launch alone.
  specialized.shape.even_m = false;
  BoundKernel bound = bind_kernel<mxfp4_grouped_gemm>(
      name, specialized, problem.bf16_a("a", a),
      MemoryArgument<const i32>{"ends", ends, int64_t{experts} * 4, "i32 [experts]"}, problem.b(b, experts),
      problem.b_scales(b_scales, experts), problem.bf16_out(out), NumberArgument{"experts", int32_t{experts}},
      problem.n(), problem.k());
  if (experts < 1 || experts > config.experts)
    bound.refuse(
        user_error(fmt::format("{}: {} experts, its config has experts={}", name, experts, config.experts),
                   "Give 1 to experts of them, or a config with more"));
  return bound;
}

constexpr LaunchNumber<TileConfig, BatchedOperands> batched_numbers[] = {
    {"batch", [](auto &operands, int64_t value) { operands.batch = static_cast<int>(value); },
     [](const auto &) { return int64_t{8}; }},
};

constexpr LaunchNumber<GroupedConfig, GroupedOperands> grouped_numbers[] = {
    {"experts", [](auto &operands, int64_t value) { operands.experts = static_cast<int>(value); },
     [](const auto &config) { return int64_t{config.experts}; }},
};

/// Where each expert's rows end, as many for each.
LaunchIndices grouped_indices(const GroupedConfig &, const ProblemSize &size, GroupedOperands &operands) {
  std::vector<int32_t> ends;
  for (int64_t expert = 1; expert <= operands.experts; ++expert)
    ends.push_back(static_cast<int32_t>(size.m * expert / operands.experts));
  return {"rows in equal shares to the experts", {contents_of<int32_t>("ends", ends)}};
}

} // namespace

constinit const LibraryKernel<TileConfig, BatchedOperands> batched_kernel{
    .name = "mxfp4_batched_gemm",
    .summary = "several products of bf16 A, quantised on the way, with shuffled MXFP4 B",
    .rule = product_rule,
    .defaults = batched_defaults,
    .check = check_batched,
    .grid = batched_grid,
    .grid_terms = {{{"n", "block_n"}, {"m", "block_m"}, {"batch", ""}}},
    .bind = bind_batched,
    .numbers = batched_numbers,
};

constinit const LibraryKernel<GroupedConfig, GroupedOperands> grouped_kernel{
    .name = "mxfp4_grouped_gemm",
    .summary = "rows of bf16 A, sorted by expert, times the shuffled MXFP4 B of each expert",
    .rule = product_rule,
    .defaults = grouped_defaults,
    .check = check_grouped,
    .grid = grouped_grid,
    .grid_terms = {{{"n", "block_n"}, {"row_blocks", ""}, {}}},
    .bind = bind_grouped,
    .numbers = grouped_numbers,
    .indices = grouped_indices,
};

} // namespace nereid::kernels
