// mxfp4_gemm_fused and mxfp4_gemm: a tile of the product, the ways to store it, and which function a config
// means.
#include "kernels/mxfp4_gemm.h"

#include <type_traits>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/epilogues.h"
#include "kernels/problem_arguments.h"
#include "kernels/split_k_semaphore.h"
#include "kernels/tile_defaults.h"

namespace nereid::kernels {
namespace {

/// Where the program's tile of C begins.
Position2D tile_of(const TileConfig &tile) {
  return {program_id(2) * tile.block_m, program_id(0) * tile.block_n};
}

/// The program's part of K.
KSteps steps_of(const Specialized<GemmConfig> &specialized, const Int &k) {
  return k_steps(specialized.config.tile, specialized.shape, k, specialized.config.split_k, program_id(1));
}

/// Where programs of one tile count themselves.
Ptr<i32> arrivals_of_tile(const TileConfig &tile, const Ptr<i32> &arrivals, const Int &n) {
  return arrivals + (program_id(2) * cdiv(n, tile.block_n) + program_id(0));
}

template <class Out>
void store_sum(Reduce reduce, const View2D<Out> &out, const Position2D &at, const Tile<f32> &sum) {
  if constexpr (std::is_same_v<Out, bf16>)
    out.store(at, sum.to<bf16>());
  else if (reduce == Reduce::Atomic)
    out.atomic_add(at, sum, Order::Relaxed);
  else
    out.matrix(program_id(1)).store(at, sum);
}

} // namespace

template <class Out>
void mxfp4_gemm_fused(const Specialized<GemmConfig> &specialized, Ptr<const bf16> a_values,
                      Ptr<const u8> b_codes, Ptr<const u8> b_scales, Ptr<Out> out_pointer, Int m, Int n,
                      Int k_argument) {
  const auto &[config, shape, scaling] = specialized;
  const Int k = known_k(shape, k_argument);
  const View2D a = rows_view(a_values, m, k, shape);
  const MxView2D b = weights_view(b_codes, b_scales, n, k, shape);
  const View2D out(out_pointer, {m, n}, {.even_rows = shape.even_m, .even_columns = shape.even_n});
  const Position2D at = tile_of(config.tile);
  store_sum(config.reduce, out, at, multiply(config.tile, a, b, at, steps_of(specialized, k)));
}

template void mxfp4_gemm_fused(const Specialized<GemmConfig> &, Ptr<const bf16>, Ptr<const u8>, Ptr<const u8>,
                               Ptr<bf16>, Int, Int, Int);
template void mxfp4_gemm_fused(const Specialized<GemmConfig> &, Ptr<const bf16>, Ptr<const u8>, Ptr<const u8>,
                               Ptr<f32>, Int, Int, Int);

namespace {

/// alpha and beta do not apply where splits remain to be reduced.
template <class Out>
void mxfp4_gemm(const Specialized<GemmConfig> &specialized, Ptr<const u8> a_codes, Ptr<const u8> a_scales,
                Ptr<const u8> b_codes, Ptr<const u8> b_scales, Ptr<const bf16> c_pointer,
                Ptr<Out> out_pointer, Int m, Int n, Int k_argument, Float alpha, Float beta) {
  const auto &[config, shape, scaling] = specialized;
  const Int k = known_k(shape, k_argument);
  const MxView2D a = codes_view(a_codes, a_scales, m, k, shape);
  const MxView2D b = weights_view(b_codes, b_scales, n, k, shape);
  const View2D c(c_pointer, {m, n});
  const View2D out(out_pointer, {m, n}, {.even_rows = shape.even_m, .even_columns = shape.even_n});
  const Position2D at = tile_of(config.tile);
  const Tile<f32> sum = multiply(config.tile, a, b, at, steps_of(specialized, k));
  store_sum(config.reduce, out, at, scale_output(scaling, sum, c, at, alpha, beta));
}

/// With reduce = last_arrival: bf16 out from the program that arrives last at a tile.
void mxfp4_gemm_fused_last(const Specialized<GemmConfig> &specialized, Ptr<const bf16> a_values,
                           Ptr<const u8> b_codes, Ptr<const u8> b_scales, Ptr<f32> slices_pointer,
                           Ptr<i32> arrivals, Ptr<bf16> out_pointer, Int m, Int n, Int k_argument) {
  const auto &[config, shape, scaling] = specialized;
  const Int k = known_k(shape, k_argument);
  const View2D a = rows_view(a_values, m, k, shape);
  const MxView2D b = weights_view(b_codes, b_scales, n, k, shape);
  const View2D slices(slices_pointer, {m, n});
  const View2D out(out_pointer, {m, n}, {.even_rows = shape.even_m, .even_columns = shape.even_n});
  const Position2D at = tile_of(config.tile);
  const Tile<f32> part = multiply(config.tile, a, b, at, steps_of(specialized, k));
  const Ptr<i32> arrived = arrivals_of_tile(config.tile, arrivals, n);
  with_sum_of_splits(slices, arrived, program_id(1), config.split_k, at, part,
                     [&](const Tile<f32> &sum) { out.store(at, sum.to<bf16>()); });
}

void mxfp4_gemm_last(const Specialized<GemmConfig> &specialized, Ptr<const u8> a_codes,
                     Ptr<const u8> a_scales, Ptr<const u8> b_codes, Ptr<const u8> b_scales,
                     Ptr<const bf16> c_pointer, Ptr<f32> slices_pointer, Ptr<i32> arrivals,
                     Ptr<bf16> out_pointer, Int m, Int n, Int k_argument, Float alpha, Float beta) {
  const auto &[config, shape, scaling] = specialized;
  const Int k = known_k(shape, k_argument);
  const MxView2D a = codes_view(a_codes, a_scales, m, k, shape);
  const MxView2D b = weights_view(b_codes, b_scales, n, k, shape);
  const View2D c(c_pointer, {m, n});
  const View2D slices(slices_pointer, {m, n});
  const View2D out(out_pointer, {m, n}, {.even_rows = shape.even_m, .even_columns = shape.even_n});
  const Position2D at = tile_of(config.tile);
  const Tile<f32> part = multiply(config.tile, a, b, at, steps_of(specialized, k));
  const Ptr<i32> arrived = arrivals_of_tile(config.tile, arrivals, n);
  with_sum_of_splits(slices, arrived, program_id(1), config.split_k, at, part, [&](const Tile<f32> &sum) {
    const Tile<f32> scaled = scale_output(specialized.scaling, sum, c, at, alpha, beta);
    out.store(at, scaled.to<bf16>());
  });
}

GemmConfig gemm_defaults(const Partial<GemmConfig> &given, const MaybeSize &size, bool fused) {
  const int split_k = given.split_k.value_or(1);
  const bool is_split = split_k > 1;
  return {.tile = tile_defaults(given.tile, size, fused, is_split),
          .split_k = split_k,
          .reduce = given.reduce.value_or(is_split ? Reduce::Workspace : Reduce::None)};
}

Status check_gemm(std::string_view kernel, const GemmConfig &config, const MaybeSize &size, bool fused) {
  if (config.split_k > 1 && config.reduce == Reduce::None)
    return user_error(fmt::format("{}: split_k={} needs a way to reduce", kernel, config.split_k),
                      "use reduce=atomic, workspace or last_arrival");
  return check_tile(kernel, config.tile, size, fused);
}

Grid gemm_grid(const GemmConfig &config, const ProblemSize &size) {
  return {programs(size.n, config.tile.block_n), config.split_k, programs(size.m, config.tile.block_m)};
}

constexpr std::array<GridTerm, 3> gemm_grid_terms = {{{"n", "block_n"}, {"", "split_k"}, {"m", "block_m"}}};

/// The sums of a launch that leaves them to be reduced.
MemoryArgument<f32> f32_out(const DeviceMemory &memory, const GemmConfig &config, const MaybeSize &size) {
  const auto [m, n, k] = size.value_or(ProblemSize{});
  const int64_t slices = config.reduce == Reduce::Workspace ? config.split_k : 1;
  return {"out", memory, slices * m * n * 4, "f32, [split_k, m, n] for workspace"};
}

MemoryArgument<i32> arrivals_of(const DeviceMemory &memory, const GemmConfig &config, const MaybeSize &size) {
  return {"arrivals", memory, gemm_tiles(config.tile, size.value_or(ProblemSize{})) * 4,
          "i32, one for each tile of the output"};
}

BoundKernel bind_fused(std::string_view name, const GemmConfig &config, const MaybeSize &size,
                       const FusedOperands &operands) {
  const ProblemArguments problem(size);
  const auto a = problem.bf16_a("a", operands.a);
  const auto b = problem.b(operands.b), b_scales = problem.b_scales(operands.b_scales);
  const auto m = problem.m(), n = problem.n(), k = problem.k();
  const Specialized<GemmConfig> specialized{config, shape_facts(config.tile, size)};
  if (!writes_bf16(config.reduce))
    return bind_kernel<mxfp4_gemm_fused<f32>>(name, specialized, a, b, b_scales,
                                              f32_out(operands.out, config, size), m, n, k);
  const auto out = problem.bf16_out(operands.out);
  if (config.reduce == Reduce::None)
    return bind_kernel<mxfp4_gemm_fused<bf16>>(name, specialized, a, b, b_scales, out, m, n, k);
  const auto slices = problem.slices<f32>(operands.workspace.slices, config.split_k);
  const auto arrivals = arrivals_of(operands.workspace.arrivals, config, size);
  return bind_kernel<mxfp4_gemm_fused_last>(name, specialized, a, b, b_scales, slices, arrivals, out, m, n,
                                            k);
}

BoundKernel bind_gemm(std::string_view name, const GemmConfig &config, const MaybeSize &size,
                      const GemmOperands &operands) {
  const ProblemArguments problem(size);
  const auto a = problem.codes_a<const u8>("a", operands.a);
  const auto a_scales = problem.shuffled_a_scales<const u8>("a_scales", operands.a_scales);
  const auto b = problem.b(operands.b), b_scales = problem.b_scales(operands.b_scales);
  const auto m = problem.m(), n = problem.n(), k = problem.k();
  const NumberArgument alpha{"alpha", operands.epilogue.alpha}, beta{"beta", operands.epilogue.beta};
  const Scaling scaling = writes_bf16(config.reduce) ? operands.epilogue.scaling() : Scaling::None;
  const auto c = problem.c(operands.epilogue, scaling);
  const Specialized<GemmConfig> specialized{config, shape_facts(config.tile, size), scaling};
  if (!writes_bf16(config.reduce))
    return bind_kernel<mxfp4_gemm<f32>>(name, specialized, a, a_scales, b, b_scales, c,
                                        f32_out(operands.out, config, size), m, n, k, alpha, beta);
  const auto out = problem.bf16_out(operands.out);
  if (config.reduce == Reduce::None)
    return bind_kernel<mxfp4_gemm<bf16>>(name, specialized, a, a_scales, b, b_scales, c, out, m, n, k, alpha,
                                         beta);
  const auto slices = problem.slices<f32>(operands.workspace.slices, config.split_k);
  const auto arrivals = arrivals_of(operands.workspace.arrivals, config, size);
  return bind_kernel<mxfp4_gemm_last>(name, specialized, a, a_scales, b, b_scales, c, slices, arrivals, out,
                                      m, n, k, alpha, beta);
}

} // namespace

int64_t gemm_tiles(const TileConfig &config, const ProblemSize &size) {
  return blocks(size.m, config.block_m) * blocks(size.n, config.block_n);
}

constinit const LibraryKernel<GemmConfig, FusedOperands> gemm_fused_kernel{
    .name = "mxfp4_gemm_fused",
    .summary = "bf16 A, quantised on the way, times shuffled MXFP4 B",
    .rule = product_rule,
    .defaults = [](const auto &given,
                   const auto &size) { return gemm_defaults(given, size, /*fused=*/true); },
    .check = [](std::string_view kernel, const auto &config,
                const auto &size) { return check_gemm(kernel, config, size, /*fused=*/true); },
    .grid = [](const auto &config, const auto &size, const auto &) { return gemm_grid(config, size); },
    .grid_terms = gemm_grid_terms,
    .bind = bind_fused,
};

constinit const LibraryKernel<GemmConfig, GemmOperands> gemm_kernel{
    .name = "mxfp4_gemm",
    .summary = "D = alpha A B + beta C of quantised A and shuffled MXFP4 B",
    .rule = product_rule,
    .defaults = [](const auto &given,
                   const auto &size) { return gemm_defaults(given, size, /*fused=*/false); },
    .check = [](std::string_view kernel, const auto &config,
                const auto &size) { return check_gemm(kernel, config, size, /*fused=*/false); },
    .grid = [](const auto &config, const auto &size, const auto &) { return gemm_grid(config, size); },
    .grid_terms = gemm_grid_terms,
    .bind = bind_gemm,
};

} // namespace nereid::kernels
