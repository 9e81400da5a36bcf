// mxfp4_rmsnorm_quant: residual added, RMSNorm and MXFP4 in one pass over memory; a program holds whole rows.
#include "kernels/mxfp4_rmsnorm_quant.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

/// Sums of the squares of each row, [rows, 1]. Halves of a group of 32, which one lane holds, are added
/// first: neighbours of a half stay neighbours in registers, and two of them are one instruction.
Tile<f32> sum_of_squares(const Tile<f32> &x) {
  const Tile<f32> halves = permute(reshape(x, {x.size(0), x.size(1) / 32, 2, 16}), {0, 1, 3, 2});
  const auto [low, high] = split(halves);
  return sum(reshape(fma(high, high, low * low), {x.size(0), x.size(1) / 2}), keep_axis(1));
}

void mxfp4_rmsnorm_quant(const Specialized<RmsNormQuantConfig> &specialized, Ptr<const bf16> x,
                         Ptr<const f32> slices, Ptr<const bf16> residual, Ptr<const bf16> weight,
                         Ptr<u8> codes, Ptr<u8> scales, Ptr<bf16> sum_out, Int m, Int k, Float epsilon) {
  const auto &[config, shape, scaling] = specialized;
  const Position2D at{program_id(0) * config.block_m, 0};
  const TileSize size{config.block_m, config.width};
  const ViewOptions even{.even_rows = shape.even_m, .even_columns = shape.even_k};

  const ProducerInput input{config.source, config.split_k, View2D(x, {m, k}, even),
                            View2D(slices, {m, k}, even)};
  Var r = load_input(input, at, size);
  if (config.residual) {
    r += View2D(residual, {m, k}, even).load(at, size).to<f32>();
    View2D(sum_out, {m, k}, even).store(at, r.to<bf16>());
  }
  const Tile<f32> total = sum_of_squares(r);
  const Tile<f32> mean = shape.even_k ? total / static_cast<float>(config.width) : total / k.to<f32>();
  const View2D weights(weight, {1, k}, even);
  const Tile<f32> w = weights.load({0, 0}, {1, config.width}).to<f32>();
  const Tile<f32> y = r * rsqrt(mean + epsilon) * w;

  const MxView2D to(codes, scales, {m, k},
                    {.scales = config.shuffled ? MxOrder::Shuffled : MxOrder::RowMajor,
                     .even_rows = shape.even_m,
                     .even_k = shape.even_k});
  to.store(at, quantize(y, e2m1, scale_rule(config.rule)));
}

RmsNormQuantConfig rmsnorm_quant_defaults(const Partial<RmsNormQuantConfig> &given, const MaybeSize &size) {
  RmsNormQuantConfig config = config_merge(RmsNormQuantConfig{}, given);
  if (size)
    config.width = given.width.value_or(static_cast<int>(std::bit_ceil(static_cast<uint64_t>(size->k))));
  // A lane quantises groups of 32 values.
  const auto waves = static_cast<int>(std::bit_floor(std::max(config.block_m * config.width / 2048U, 1U)));
  config.waves = given.waves.value_or(std::min(waves, 8));
  return config;
}

/// Columns of the longest row that a program holds.
int64_t max_width() {
  const std::span<const ConfigLimits> rows = key_limits();
  return std::find_if(rows.begin(), rows.end(), [](const auto &row) { return row.name == "width"; })->max;
}

Status check_rmsnorm_quant(std::string_view kernel, const RmsNormQuantConfig &config, const MaybeSize &size) {
  static constexpr Key<RmsNormQuantConfig> keys[] = {{"block_m", &RmsNormQuantConfig::block_m},
                                                     {"width", &RmsNormQuantConfig::width},
                                                     {"waves", &RmsNormQuantConfig::waves}};
  if (size && size->k > max_width())
    return user_error(fmt::format("{}: K={} is too long for a program, which holds {} columns", kernel,
                                  size->k, max_width()));
  NEREID_CHECK(check_source(kernel, config.source, config.split_k));
  return with_nearest<RmsNormQuantConfig>(config, keys, [&](const RmsNormQuantConfig &tried) -> Status {
    const KeyValue m{"block_m", tried.block_m}, width{"width", tried.width};
    const KeyValue values[] = {m, width, {"waves", tried.waves}};
    NEREID_CHECK(check_values(kernel, values));
    if (size && tried.width < size->k)
      return user_error(
          fmt::format("{}: width={} does not hold a row of K={}", kernel, tried.width, size->k));
    return check_elements(kernel, m, width, tried.waves, 128);
  });
}

Grid rmsnorm_quant_grid(const RmsNormQuantConfig &config, const ProblemSize &size,
                        const RmsNormQuantOperands &) {
  return {programs(size.m, config.block_m)};
}

BoundKernel bind_rmsnorm_quant(std::string_view name, const RmsNormQuantConfig &config, const MaybeSize &size,
                               const RmsNormQuantOperands &operands) {
  const ProblemArguments problem(size);
  const auto [m, n, k] = size.value_or(ProblemSize{});
  const Specialized<RmsNormQuantConfig> specialized{
      config,
      {.even_m = is_even(size, &ProblemSize::m, config.block_m), .even_k = size && k == config.width}};
  const bool from_slices = config.source == InputSource::Slices;
  const int64_t bytes = m * k * 2;
  return bind_kernel<mxfp4_rmsnorm_quant>(
      name, specialized, MemoryArgument<const bf16>{"x", operands.x, from_slices ? 0 : bytes, "bf16 [m, k]"},
      MemoryArgument<const f32>{"slices", operands.x, from_slices ? config.split_k * bytes * 2 : 0,
                                "f32 [split_k, m, k]"},
      MemoryArgument<const bf16>{"residual", operands.residual, config.residual ? bytes : 0, "bf16 [m, k]"},
      MemoryArgument<const bf16>{"weight", operands.weight, k * 2, "bf16 [k]"},
      problem.codes_a<u8>("codes", operands.codes),
      problem.a_scales<u8>("scales", operands.scales, config.shuffled),
      MemoryArgument<bf16>{"sum", operands.sum, config.residual ? bytes : 0, "bf16 [m, k]"}, problem.m(),
      problem.k(), NumberArgument{"epsilon", operands.epsilon});
}

} // namespace

constinit const LibraryKernel<RmsNormQuantConfig, RmsNormQuantOperands> rmsnorm_quant_kernel{
    .name = "mxfp4_rmsnorm_quant",
    .summary = "a residual added, RMSNorm, and its MXFP4 codes and scales",
    .has_n = false,
    .defaults = rmsnorm_quant_defaults,
    .check = check_rmsnorm_quant,
    .grid = rmsnorm_quant_grid,
    .grid_terms = {{{"m", "block_m"}, {}, {}}},
    .bind = bind_rmsnorm_quant,
};

} // namespace nereid::kernels
