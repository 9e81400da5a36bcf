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
  const Int first_row = program_id(1) * config.block_m, first_k = program_id(0) * config.block_k;
  const ViewOptions even{.even_rows = shape.even_m, .even_columns = shape.even_k};
  const ProducerInput both{config.source, config.split_k, View2D(x, {m, k * 2}, even),
                           View2D(slices, {m, k * 2}, even)};
  const auto columns = [&](const Int &first) {
    return ProducerInput{config.source, config.split_k, both.values.columns(first, k),
                         both.slices.columns(first, k)};
  };
  const auto load_gates = [&]() -> std::pair<Tile<f32>, Tile<f32>> {
    const TileSize size{config.block_m, config.block_k};
    if (config.gates != GateLayout::Separated)
      return split_gates(config.gates,
                         load_input(both, {first_row, first_k * 2}, {size.rows, size.columns * 2}));
    const Tile<f32> gate = load_input(columns(0), {first_row, first_k}, size);
    return {gate, load_input(columns(k), {first_row, first_k}, size)};
  };
  const auto [gate, up] = load_gates();

  const MxView2D to(codes, scales, {m, k},
                    {.scales = config.shuffled ? MxOrder::Shuffled : MxOrder::RowMajor,
                     .even_rows = shape.even_m,
                     .even_k = shape.even_k});
  to.store({first_row, first_k},
           quantize(activate(config.activation, gate, up), e2m1, scale_rule(config.rule)));
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
    .rule = quantized_rule,
    .defaults = act_quant_defaults,
    .check = check_act_quant,
    .grid = act_quant_grid,
    .grid_terms = {{{"k", "block_k"}, {"m", "block_m"}, {}}},
    .bind = bind_act_quant,
};

} // namespace nereid::kernels
