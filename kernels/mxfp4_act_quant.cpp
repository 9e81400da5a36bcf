// mxfp4_act_quant: the activation of a gated layer and MXFP4 of it.
#include "kernels/mxfp4_act_quant.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

void mxfp4_act_quant(const Specialized<ActQuantConfig> &specialized, Ptr<const bf16> x, Ptr<const f32> slices,
                     Ptr<u8> codes, Ptr<u8> scales, Int m, Int k) {
  const auto &[config, shape, scaling] = specialized;
  assume_rows(m);
  assume_columns(k);
  const Int first_row = program_id(1) * config.block_m;
  const Int first_k = program_id(0) * config.block_k;
  const Int row_length = k * 2;
  const Long first = first_row.to<i64>() * row_length.to<i64>();
  const ProducerInput input{config.source, config.split_k, x, slices, m.to<i64>() * row_length.to<i64>()};
  const Tile<i32> row = rows(config.block_m);
  const auto load_columns = [&](const Long &from, const Tile<i32> &column, const Int &end) {
    const bool even = shape.even_m && shape.even_k;
    const Mask in_bounds = even ? Mask() : Mask((first_row + row < m) & (column < end));
    return load_input(input, from, row * row_length + column, in_bounds);
  };
  const auto load_gates = [&]() -> std::pair<Tile<f32>, Tile<f32>> {
    if (config.gates != GateLayout::Separated)
      return split_gates(config.gates,
                         load_columns(first, first_k * 2 + cols(config.block_k * 2), row_length));
    const Tile<i32> column = first_k + cols(config.block_k);
    const Tile<f32> gate = load_columns(first, column, k);
    return {gate, load_columns(first + k.to<i64>(), column, k)};
  };
  const auto [gate, up] = load_gates();

  const TileOrigin origin{first_row, m, shape.even_m, first_k, k, shape.even_k};
  const Quantized result = quantize(activate(config.activation, gate, up), e2m1, scale_rule(config.rule));
  store_quantized(codes, scales, config.shuffled, origin, result);
}

ActQuantConfig act_quant_defaults(const Partial<ActQuantConfig> &given, const MaybeSize &size) {
  const bool tall = size && blocks(size->m, 32) > Grid::max_y_or_z;
  ActQuantConfig config = config_merge(ActQuantConfig{.block_m = size && size->m <= 16 ? 16
                                                                 : tall                ? 64
                                                                                       : 32},
                                       given);
  // A lane quantises groups of 32 values.
  const auto waves = static_cast<int>(std::bit_floor(std::max(config.block_m * config.block_k / 2048U, 1U)));
  config.waves = given.waves.value_or(std::min(waves, 4));
  return config;
}

Status check_act_quant(std::string_view kernel, const ActQuantConfig &config, const MaybeSize &size) {
  static constexpr Key<ActQuantConfig> keys[] = {{"block_m", &ActQuantConfig::block_m},
                                                 {"block_k", &ActQuantConfig::block_k},
                                                 {"waves", &ActQuantConfig::waves}};
  NEREID_CHECK(check_rows(kernel, config.block_m, size));
  NEREID_CHECK(check_source(kernel, config.source, config.split_k));
  return with_nearest<ActQuantConfig>(config, keys, [&](const ActQuantConfig &tried) -> Status {
    const KeyValue m{"block_m", tried.block_m}, k{"block_k", tried.block_k};
    const KeyValue values[] = {m, k, {"waves", tried.waves}};
    NEREID_CHECK(check_values(kernel, values));
    return check_elements(kernel, m, k, tried.waves, 128);
  });
}

Grid act_quant_grid(const ActQuantConfig &config, const ProblemSize &size, const ActQuantOperands &) {
  return {programs(size.k, config.block_k), programs(size.m, config.block_m)};
}

BoundKernel bind_act_quant(std::string_view name, const ActQuantConfig &config, const MaybeSize &size,
                           const ActQuantOperands &operands) {
  const ProblemArguments problem(size);
  const auto [m, n, k] = size.value_or(ProblemSize{});
  const Specialized<ActQuantConfig> specialized{config,
                                                {.even_m = is_even(size, &ProblemSize::m, config.block_m),
                                                 .even_k = is_even(size, &ProblemSize::k, config.block_k)}};
  const bool from_slices = config.source == InputSource::Slices;
  const int64_t bytes = m * k * 4;
  BoundKernel bound = bind_kernel<mxfp4_act_quant>(
      name, specialized, MemoryArgument<const bf16>{"x", operands.x, from_slices ? 0 : bytes, "bf16 [m, 2k]"},
      MemoryArgument<const f32>{"slices", operands.x, from_slices ? config.split_k * bytes * 2 : 0,
                                "f32 [split_k, m, 2k]"},
      problem.codes_a<u8>("codes", operands.codes),
      problem.a_scales<u8>("scales", operands.scales, config.shuffled), problem.m(), problem.k());
  if (operands.gates != config.gates)
    bound.refuse(wrong_gates(name, operands.gates, config.gates));
  return bound;
}

} // namespace

constinit const LibraryKernel<ActQuantConfig, ActQuantOperands> act_quant_kernel{
    .name = "mxfp4_act_quant",
    .summary = "activation of a gated layer, and its MXFP4 codes and scales",
    .has_n = false,
    .defaults = act_quant_defaults,
    .check = check_act_quant,
    .grid = act_quant_grid,
    .grid_terms = {{{"k", "block_k"}, {"m", "block_m"}, {}}},
    .bind = bind_act_quant,
};

} // namespace nereid::kernels
