#include "kernels/launches.h"

#include <fmt/format.h>

#include "jit/kernel.h"
#include "kernels/choices.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_gemm.h"

namespace nereid::kernels {
namespace {

template <class T> DevicePointer<T> pointer(const DeviceMemory &memory) { return {memory.address}; }

uint32_t programs(int64_t size, int64_t block) { return static_cast<uint32_t>(blocks(size, block)); }

template <class T> int64_t output_bytes(const ConfigValues &config, const ProblemSize &size) {
  const bool slices = config.get_or("reduce", 0) == static_cast<int>(Reduce::Workspace);
  return size.m * size.n * (slices ? config.get_or("split_k", 1) : 1) * static_cast<int64_t>(sizeof(T));
}

Result<LaunchRecord> record(const ConfigValues &config, Result<LaunchInfo> info) {
  if (!info)
    return info.error();
  return LaunchRecord{config, std::move(*info)};
}

bool is_last_arrival(const ConfigValues &config) {
  return config.get_or("reduce", 0) == static_cast<int>(Reduce::LastArrival);
}

bool stores_bf16(const ConfigValues &config) {
  return config.get_or("reduce", 0) == static_cast<int>(Reduce::None) || is_last_arrival(config);
}

/// What last_arrival needs beside the operands.
Status check_workspace(std::string_view operation, const ConfigValues &config, const ProblemSize &size,
                       const SplitWorkspace &workspace) {
  if (!is_last_arrival(config))
    return {};
  return check_memory(operation, {{"slices", workspace.slices,
                                   size.m * size.n * config.get_or("split_k", 1) * 4, "f32 [split_k, m, n]"},
                                  {"arrivals", workspace.arrivals, gemm_tiles(config, size) * 4,
                                   "i32, one for each tile of the output"}});
}

Grid gemm_grid(const GemmConfig &config, const ProblemSize &size) {
  return {programs(size.n, config.block_n), static_cast<uint32_t>(config.split_k),
          programs(size.m, config.block_m)};
}

} // namespace

int64_t gemm_tiles(const ConfigValues &config, const ProblemSize &size) {
  return blocks(size.m, config.get_or("block_m", 16)) * blocks(size.n, config.get_or("block_n", 32));
}

Result<LaunchRecord> launch_quant(const LaunchTarget &target, const ConfigValues &values,
                                  const ProblemSize &size, DeviceMemory x, DeviceMemory codes,
                                  DeviceMemory scales) {
  static const Kernel kernel("mxfp4_quant", mxfp4_quant);
  const QuantConfig config = quant_config(values, size);
  const int64_t scale_bytes =
      config.shuffled != 0 ? host::shuffled_scale_bytes(size.m, size.k) : size.m * (size.k / 32);
  if (Status status =
          check_memory(kernel.name(), {{"x", x, size.m * size.k * 2, "bf16 [m, k]"},
                                       {"codes", codes, size.m * size.k / 2, "e2m1 [m, k/2]"},
                                       {"scales", scales, scale_bytes,
                                        config.shuffled != 0 ? shuffled_scales_layout : "e8m0 [m, k/32]"}});
      !status)
    return status.error();
  const Grid grid{programs(size.k, config.block_k), programs(size.m, config.block_m), 1};
  return record(values, kernel.launch(target.options, target.stream, grid, config, pointer<const bf16>(x),
                                      pointer<u8>(codes), pointer<u8>(scales), static_cast<int32_t>(size.m),
                                      static_cast<int32_t>(size.k)));
}

Result<LaunchRecord> launch_gemm_fused(const LaunchTarget &target, const ConfigValues &values,
                                       const ProblemSize &size, DeviceMemory a, DeviceMemory b,
                                       DeviceMemory b_scales, DeviceMemory out,
                                       const SplitWorkspace &workspace) {
  static const Kernel to_bf16("mxfp4_gemm_fused", mxfp4_gemm_fused<bf16>);
  static const Kernel last("mxfp4_gemm_fused", mxfp4_gemm_fused_last);
  static const Kernel to_f32("mxfp4_gemm_fused", mxfp4_gemm_fused<f32>);
  const bool narrow = stores_bf16(values);
  const int64_t out_bytes = narrow ? output_bytes<bf16>(values, size) : output_bytes<f32>(values, size);
  if (Status status = check_memory(
          to_bf16.name(),
          {{"a", a, size.m * size.k * 2, "bf16 [m, k]"},
           {"b", b, host::shuffled_b_bytes(size.n, size.k), shuffled_b_layout},
           {"b_scales", b_scales, host::shuffled_scale_bytes(size.n, size.k), shuffled_scales_layout},
           {"out", out, out_bytes, narrow ? "bf16 [m, n]" : "f32, [split_k, m, n] for workspace"}});
      !status)
    return status.error();
  if (Status status = check_workspace(last.name(), values, size, workspace); !status)
    return status.error();
  const GemmConfig config = gemm_config(values, size);
  if (is_last_arrival(values))
    return record(values,
                  last.launch(target.options, target.stream, gemm_grid(config, size), config,
                              pointer<const bf16>(a), pointer<const u8>(b), pointer<const u8>(b_scales),
                              pointer<f32>(workspace.slices), pointer<i32>(workspace.arrivals),
                              pointer<bf16>(out), static_cast<int32_t>(size.m), static_cast<int32_t>(size.n),
                              static_cast<int32_t>(size.k)));
  const auto launch = [&]<class Out>(const auto &kernel, DevicePointer<Out> to) {
    return record(values, kernel.launch(target.options, target.stream, gemm_grid(config, size), config,
                                        pointer<const bf16>(a), pointer<const u8>(b),
                                        pointer<const u8>(b_scales), to, static_cast<int32_t>(size.m),
                                        static_cast<int32_t>(size.n), static_cast<int32_t>(size.k)));
  };
  return narrow ? launch(to_bf16, pointer<bf16>(out)) : launch(to_f32, pointer<f32>(out));
}

Result<LaunchRecord> launch_gemm(const LaunchTarget &target, const ConfigValues &values,
                                 const ProblemSize &size, DeviceMemory a, DeviceMemory a_scales,
                                 DeviceMemory b, DeviceMemory b_scales, DeviceMemory out,
                                 const Epilogue &epilogue, const SplitWorkspace &workspace) {
  static const Kernel to_bf16("mxfp4_gemm", mxfp4_gemm<bf16>);
  static const Kernel last("mxfp4_gemm", mxfp4_gemm_last);
  static const Kernel to_f32("mxfp4_gemm", mxfp4_gemm<f32>);
  const bool narrow = stores_bf16(values);
  const Scaling scaling = narrow ? epilogue.scaling() : Scaling::None;
  const int64_t out_bytes = narrow ? output_bytes<bf16>(values, size) : output_bytes<f32>(values, size);
  if (Status status = check_memory(
          to_bf16.name(),
          {{"a", a, size.m * size.k / 2, "e2m1 [m, k/2]"},
           {"a_scales", a_scales, host::shuffled_scale_bytes(size.m, size.k), shuffled_scales_layout},
           {"b", b, host::shuffled_b_bytes(size.n, size.k), shuffled_b_layout},
           {"b_scales", b_scales, host::shuffled_scale_bytes(size.n, size.k), shuffled_scales_layout},
           {"out", out, out_bytes, narrow ? "bf16 [m, n]" : "f32, [split_k, m, n] for workspace"},
           {"c", epilogue.c, scaling == Scaling::AlphaBeta ? size.m * size.n * 2 : 0, "bf16 [m, n]"}});
      !status)
    return status.error();
  if (Status status = check_workspace(last.name(), values, size, workspace); !status)
    return status.error();
  const GemmConfig config = gemm_config(values, size, scaling);
  if (is_last_arrival(values))
    return record(values,
                  last.launch(target.options, target.stream, gemm_grid(config, size), config,
                              pointer<const u8>(a), pointer<const u8>(a_scales), pointer<const u8>(b),
                              pointer<const u8>(b_scales), pointer<const bf16>(epilogue.c),
                              pointer<f32>(workspace.slices), pointer<i32>(workspace.arrivals),
                              pointer<bf16>(out), static_cast<int32_t>(size.m), static_cast<int32_t>(size.n),
                              static_cast<int32_t>(size.k), epilogue.alpha, epilogue.beta));
  const auto launch = [&]<class Out>(const auto &kernel, DevicePointer<Out> to) {
    return record(values,
                  kernel.launch(target.options, target.stream, gemm_grid(config, size), config,
                                pointer<const u8>(a), pointer<const u8>(a_scales), pointer<const u8>(b),
                                pointer<const u8>(b_scales), pointer<const bf16>(epilogue.c), to,
                                static_cast<int32_t>(size.m), static_cast<int32_t>(size.n),
                                static_cast<int32_t>(size.k), epilogue.alpha, epilogue.beta));
  };
  return narrow ? launch(to_bf16, pointer<bf16>(out)) : launch(to_f32, pointer<f32>(out));
}

Result<LaunchRecord> launch_reduce(const LaunchTarget &target, const ConfigValues &values,
                                   const ProblemSize &size, DeviceMemory slices, DeviceMemory out,
                                   const Epilogue &epilogue) {
  static const Kernel kernel("splitk_reduce", splitk_reduce);
  const Scaling scaling = epilogue.scaling();
  const ReduceConfig config = reduce_config(values, scaling);
  if (Status status = check_memory(
          kernel.name(),
          {{"slices", slices, size.m * size.n * config.split_k * 4, "f32 [split_k, m, n]"},
           {"out", out, size.m * size.n * 2, "bf16 [m, n]"},
           {"c", epilogue.c, scaling == Scaling::AlphaBeta ? size.m * size.n * 2 : 0, "bf16 [m, n]"}});
      !status)
    return status.error();
  const Grid grid{programs(size.n, config.block_n), programs(size.m, config.block_m), 1};
  return record(values, kernel.launch(target.options, target.stream, grid, config, pointer<const f32>(slices),
                                      pointer<const bf16>(epilogue.c), pointer<bf16>(out),
                                      static_cast<int32_t>(size.m), static_cast<int32_t>(size.n),
                                      epilogue.alpha, epilogue.beta));
}

Result<LaunchRecord> launch_zero(const LaunchTarget &target, DeviceMemory out, int64_t count) {
  static const Kernel kernel("memset_f32", zero_f32);
  if (Status status = check_memory(kernel.name(), {{"out", out, count * 4, "f32"}}); !status)
    return status.error();
  const ZeroConfig config;
  return record({}, kernel.launch(target.options, target.stream, {programs(count, config.block), 1, 1},
                                  config, pointer<f32>(out), count));
}

} // namespace nereid::kernels
