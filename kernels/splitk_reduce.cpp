// splitk_reduce, which makes bf16 of the f32 sums of a K split, and the memset of the path that adds to them.
#include "kernels/splitk_reduce.h"

#include "kernels/config_checks.h"
#include "kernels/epilogues.h"
#include "kernels/problem_arguments.h"
#include "kernels/split_k_semaphore.h"

namespace nereid::kernels {
namespace {

void splitk_reduce(const Specialized<ReduceConfig> &specialized, Ptr<const f32> slices_pointer,
                   Ptr<const bf16> c_pointer, Ptr<bf16> out_pointer, Int m, Int n, Float alpha, Float beta) {
  const auto &[config, shape, scaling] = specialized;
  const View2D slices(slices_pointer, {m, n});
  const View2D c(c_pointer, {m, n});
  const View2D out(out_pointer, {m, n});
  const Position2D at{program_id(1) * config.block_m, program_id(0) * config.block_n};
  const Tile<f32> sum = sum_of_slices(slices, config.split_k, at, {config.block_m, config.block_n});
  out.store(at, scale_output(scaling, sum, c, at, alpha, beta).to<bf16>());
}

ReduceConfig reduce_defaults(const Partial<ReduceConfig> &given, const MaybeSize &size) {
  const bool tall = size && blocks(size->m, 16) > Grid::max_y_or_z;
  return config_merge(ReduceConfig{.block_m = size && size->m < 16 ? 4 : tall ? 32 : 16}, given);
}

Status check_reduce(std::string_view kernel, const ReduceConfig &config, const MaybeSize &size) {
  static constexpr Key<ReduceConfig> keys[] = {{"block_m", &ReduceConfig::block_m},
                                               {"block_n", &ReduceConfig::block_n},
                                               {"waves", &ReduceConfig::waves}};
  NEREID_CHECK(check_rows(kernel, config.block_m, size));
  return with_nearest<ReduceConfig>(config, keys, [&](const ReduceConfig &tried) -> Status {
    const KeyValue m{"block_m", tried.block_m}, n{"block_n", tried.block_n};
    const KeyValue values[] = {m, n, {"waves", tried.waves}};
    NEREID_CHECK(check_values(kernel, values));
    return check_elements(kernel, m, n, tried.waves, 256);
  });
}

Grid reduce_grid(const ReduceConfig &config, const ProblemSize &size, const ReduceOperands &) {
  return {programs(size.n, config.block_n), programs(size.m, config.block_m)};
}

BoundKernel bind_reduce(std::string_view name, const ReduceConfig &config, const MaybeSize &size,
                        const ReduceOperands &operands) {
  const ProblemArguments problem(size);
  const Epilogue &epilogue = operands.epilogue;
  const Specialized<ReduceConfig> specialized{config, {}, epilogue.scaling()};
  return bind_kernel<splitk_reduce>(
      name, specialized, problem.slices<const f32>(operands.slices, config.split_k),
      problem.c(epilogue, specialized.scaling), problem.bf16_out(operands.out), problem.m(), problem.n(),
      NumberArgument{"alpha", epilogue.alpha}, NumberArgument{"beta", epilogue.beta});
}

struct ZeroConfig {
  int block = 4096;
  int waves = 4;

  NEREID_CONFIG(ZeroConfig, block, waves)
};

/// Sets `count` elements to 0. Programs: count in blocks.
void zero_f32(const ZeroConfig &config, Ptr<f32> out, Long count) {
  const Long first = Long(program_id(0)) * config.block;
  const Tile<i32> offset = arange(0, config.block);
  store(out + first + offset, zeros<f32>({config.block}), offset < count - first);
}

} // namespace

constinit const LibraryKernel<ReduceConfig, ReduceOperands> reduce_kernel{
    .name = "splitk_reduce",
    .summary = "the sum of a K split's f32 slices as bf16",
    .rule = {product_rule.m, product_rule.n, DimensionRule::ignored()},
    .defaults = reduce_defaults,
    .check = check_reduce,
    .grid = reduce_grid,
    .grid_terms = {{{"n", "block_n"}, {"m", "block_m"}, {}}},
    .bind = bind_reduce,
};

Result<LaunchRecord> launch_zero(const LaunchTarget &target, DeviceMemory out, int64_t count) {
  const ZeroConfig config;
  const BoundKernel zero =
      bind_kernel<zero_f32>("memset_f32", config, MemoryArgument<f32>{"out", out, count * 4, "f32"},
                            NumberArgument{"count", count});
  const Grid grid{programs(count, config.block)};
  NEREID_TRY(LaunchInfo info, zero.launch(target.options, target.stream, grid));
  return LaunchRecord{{}, std::move(info)};
}

} // namespace nereid::kernels
