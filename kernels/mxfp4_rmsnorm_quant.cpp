// mxfp4_rmsnorm_quant: residual added, RMSNorm and MXFP4 in one pass over memory; a program holds whole rows.
#include "kernels/mxfp4_rmsnorm_quant.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

/// Sums of the squares of each row, [rows, 1]. Halves of 8 neighbours, which one lane holds, are added first:
/// neighbours of a half stay neighbours in registers, and two of them are one instruction.
Tile<f32> sum_of_squares(const Tile<f32> &x) {
  const Tile<f32> halves = permute(reshape(x, {x.size(0), x.size(1) / 8, 2, 4}), {0, 1, 3, 2});
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
  // Before the first store, behind which it would stay.
  const Tile<bf16> w = View2D(weight, {1, k}, even).load({0, 0}, {1, config.width});
  Var r = load_input(input, at, size);
  if (config.residual) {
    r += View2D(residual, {m, k}, even).load(at, size).to<f32>();
    View2D(sum_out, {m, k}, even).store(at, r.to<bf16>());
  }
  const Tile<f32> total = sum_of_squares(r);
  const Tile<f32> mean = shape.even_k ? total / static_cast<float>(config.width) : total / k.to<f32>();
  const Tile<f32> y = r * rsqrt(mean + epsilon) * w.to<f32>();

  const MxView2D to(codes, scales, {m, k},
                    {.scales = config.shuffled ? MxOrder::Shuffled : MxOrder::RowMajor,
                     .even_rows = shape.even_m,
                     .even_k = shape.even_k});
  to.store(at, quantize(y, e2m1, scale_rule(config.rule)));
}

/// The least width that holds k columns and in which all lanes have a part of each row, 8 columns at least;
/// an odd factor is registers.
int64_t width_of(int64_t k, int block_m, int waves) {
  const int64_t rows = std::bit_floor(static_cast<unsigned>(std::max(block_m, 1)));
  const int64_t unit = std::max<int64_t>(64 * 8 * waves / rows, 32);
  return k < unit ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)))
                  : (k + unit - 1) / unit * unit;
}

/// About 32 columns a lane, and up to 64 where fewer waves save padding.
RmsNormQuantConfig rmsnorm_quant_defaults(const Partial<RmsNormQuantConfig> &given, const MaybeSize &size) {
  RmsNormQuantConfig config = config_merge(RmsNormQuantConfig{}, given);
  const int64_t k = std::max<int64_t>(size && !given.width ? size->k : config.width, 1);
  const auto width = [&](int waves) { return width_of(k, config.block_m, waves); };
  const auto rounded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
  const int64_t shares = std::clamp<int64_t>(config.block_m * rounded / 2048, 1, 8);
  auto waves = static_cast<int>(std::bit_floor(static_cast<uint64_t>(shares)));
  if (size && !given.width)
    while (waves > 1 && width(waves / 2) < width(waves) &&
           config.block_m * width(waves / 2) <= 64 * 64 * (waves / 2))
      waves /= 2;
  config.waves = given.waves.value_or(waves);
  if (size && !given.width)
    config.width = static_cast<int>(width(config.waves));
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
    .rule = quantized_rule,
    .defaults = rmsnorm_quant_defaults,
    .check = check_rmsnorm_quant,
    .grid = rmsnorm_quant_grid,
    .grid_terms = {{{"m", "block_m"}, {}, {}}},
    .bind = bind_rmsnorm_quant,
};

} // namespace nereid::kernels
