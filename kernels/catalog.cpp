#include "kernels/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jit/kernel.h"
#include "kernels/choices.h"
#include "kernels/mxfp4_gemm.h"
#include "kernels/specialize.h"

namespace nereid::kernels {
namespace {

using Size = std::optional<ProblemSize>;
using Compiled = Result<std::shared_ptr<const CompiledKernel>>;

/// An address that is aligned as those of device allocations are.
constexpr uint64_t aligned_address = 4096;

template <class T> DevicePointer<T> some_pointer() { return {aligned_address}; }
int32_t narrow(int64_t value) { return static_cast<int32_t>(value); }

bool stores_bf16(const ConfigValues &config) {
  return config.get_or("reduce", 0) == static_cast<int>(Reduce::None);
}
bool is_last_arrival(const ConfigValues &config) {
  return config.get_or("reduce", 0) == static_cast<int>(Reduce::LastArrival);
}

template <class Config, class... P, class... A>
Compiled compile(const Kernel<Config, P...> &kernel, const Config &config, const Size &size,
                 const Device &device, std::vector<std::string_view> names, const A &...arguments) {
  std::vector<ArgumentFacts> facts(sizeof...(P));
  if (size)
    facts = Kernel<Config, P...>::facts(arguments...);
  for (size_t i = 0; i < facts.size(); ++i)
    facts[i].name = names[i];
  return kernel.compile(config, facts, device);
}

Compiled compile_quant(const ConfigValues &values, const Size &size, const Device &device) {
  static const Kernel kernel("mxfp4_quant", mxfp4_quant);
  const ProblemSize known = size.value_or(ProblemSize{});
  return compile(kernel, quant_config(values, size), size, device, {"x", "codes", "scales", "m", "k"},
                 some_pointer<bf16>(), some_pointer<u8>(), some_pointer<u8>(), narrow(known.m),
                 narrow(known.k));
}

Compiled compile_fused(const ConfigValues &values, const Size &size, const Device &device) {
  static const Kernel to_bf16("mxfp4_gemm_fused", mxfp4_gemm_fused<bf16>);
  static const Kernel to_f32("mxfp4_gemm_fused", mxfp4_gemm_fused<f32>);
  static const Kernel last("mxfp4_gemm_fused", mxfp4_gemm_fused_last);
  const ProblemSize known = size.value_or(ProblemSize{});
  if (is_last_arrival(values))
    return compile(last, gemm_config(values, size), size, device,
                   {"a", "b", "b_scales", "slices", "arrivals", "c", "m", "n", "k"}, some_pointer<bf16>(),
                   some_pointer<u8>(), some_pointer<u8>(), some_pointer<f32>(), some_pointer<i32>(),
                   some_pointer<bf16>(), narrow(known.m), narrow(known.n), narrow(known.k));
  const auto with = [&]<class Out>(const auto &kernel, DevicePointer<Out> out) {
    return compile(kernel, gemm_config(values, size), size, device,
                   {"a", "b", "b_scales", "c", "m", "n", "k"}, some_pointer<bf16>(), some_pointer<u8>(),
                   some_pointer<u8>(), out, narrow(known.m), narrow(known.n), narrow(known.k));
  };
  return stores_bf16(values) ? with(to_bf16, some_pointer<bf16>()) : with(to_f32, some_pointer<f32>());
}

Compiled compile_gemm(const ConfigValues &values, const Size &size, const Device &device) {
  static const Kernel to_bf16("mxfp4_gemm", mxfp4_gemm<bf16>);
  static const Kernel to_f32("mxfp4_gemm", mxfp4_gemm<f32>);
  static const Kernel last("mxfp4_gemm", mxfp4_gemm_last);
  const ProblemSize known = size.value_or(ProblemSize{});
  if (is_last_arrival(values))
    return compile(
        last, gemm_config(values, size), size, device,
        {"a", "a_scales", "b", "b_scales", "c", "slices", "arrivals", "d", "m", "n", "k", "alpha", "beta"},
        some_pointer<u8>(), some_pointer<u8>(), some_pointer<u8>(), some_pointer<u8>(), some_pointer<bf16>(),
        some_pointer<f32>(), some_pointer<i32>(), some_pointer<bf16>(), narrow(known.m), narrow(known.n),
        narrow(known.k), 1.0F, 0.0F);
  const auto with = [&]<class Out>(const auto &kernel, DevicePointer<Out> out) {
    return compile(kernel, gemm_config(values, size), size, device,
                   {"a", "a_scales", "b", "b_scales", "c", "d", "m", "n", "k", "alpha", "beta"},
                   some_pointer<u8>(), some_pointer<u8>(), some_pointer<u8>(), some_pointer<u8>(),
                   some_pointer<bf16>(), out, narrow(known.m), narrow(known.n), narrow(known.k), 1.0F, 0.0F);
  };
  return stores_bf16(values) ? with(to_bf16, some_pointer<bf16>()) : with(to_f32, some_pointer<f32>());
}

Compiled compile_batched(const ConfigValues &values, const Size &size, const Device &device) {
  static const Kernel kernel("mxfp4_batched_gemm", mxfp4_batched_gemm);
  const ProblemSize known = size.value_or(ProblemSize{});
  return compile(kernel, batched_config(values, size), size, device,
                 {"a", "b", "b_scales", "out", "m", "n", "k"}, some_pointer<bf16>(), some_pointer<u8>(),
                 some_pointer<u8>(), some_pointer<bf16>(), narrow(known.m), narrow(known.n), narrow(known.k));
}

Compiled compile_grouped(const ConfigValues &values, const Size &size, const Device &device) {
  static const Kernel kernel("mxfp4_grouped_gemm", mxfp4_grouped_gemm);
  const ProblemSize known = size.value_or(ProblemSize{});
  constexpr int32_t any_number = 3; // of experts: nothing is known of it
  return compile(kernel, grouped_config(values, size), size, device,
                 {"a", "ends", "b", "b_scales", "out", "experts", "n", "k"}, some_pointer<bf16>(),
                 some_pointer<i32>(), some_pointer<u8>(), some_pointer<u8>(), some_pointer<bf16>(),
                 any_number, narrow(known.n), narrow(known.k));
}

Compiled compile_reduce(const ConfigValues &values, const Size &size, const Device &device) {
  static const Kernel kernel("splitk_reduce", splitk_reduce);
  const ProblemSize known = size.value_or(ProblemSize{});
  return compile(kernel, reduce_config(values), size, device, {"slices", "c", "d", "m", "n", "alpha", "beta"},
                 some_pointer<f32>(), some_pointer<bf16>(), some_pointer<bf16>(), narrow(known.m),
                 narrow(known.n), 1.0F, 0.0F);
}

} // namespace

const std::vector<LibraryKernel> &library_kernels() {
  static const std::vector<LibraryKernel> kernels = {
      {"mxfp4_quant", "bf16 to packed e2m1 and e8m0 scales, plain or shuffled", quant_keys(), complete_quant,
       compile_quant, false},
      {"mxfp4_gemm_fused", "bf16 A, quantised on the way, times shuffled MXFP4 B", gemm_keys(),
       [](const ConfigValues &given, const Size &size) { return complete_gemm(true, given, size); },
       compile_fused, true},
      {"mxfp4_gemm", "D = alpha A B + beta C of quantised A and shuffled MXFP4 B", gemm_keys(),
       [](const ConfigValues &given, const Size &size) { return complete_gemm(false, given, size); },
       compile_gemm, true},
      {"mxfp4_batched_gemm", "several products of bf16 A, quantised on the way, with shuffled MXFP4 B",
       batched_keys(), complete_batched, compile_batched, true},
      {"mxfp4_grouped_gemm", "rows of bf16 A, sorted by expert, times the shuffled MXFP4 B of each expert",
       grouped_keys(), complete_grouped, compile_grouped, true},
      {"splitk_reduce", "the sum of a K split's f32 slices as bf16", reduce_keys(), complete_reduce,
       compile_reduce, true},
  };
  return kernels;
}

Result<const LibraryKernel *> kernel_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LibraryKernel &kernel : library_kernels()) {
    if (kernel.name == name)
      return &kernel;
    names.push_back(kernel.name);
  }
  return user_error(fmt::format("there is no kernel '{}'", name),
                    fmt::format("kernels: {}", fmt::join(names, ", ")));
}

Status check_size(const LibraryKernel &kernel, const ProblemSize &size) {
  if (kernel.has_n)
    return check_shape(size);
  if (size.n != 0)
    return user_error(fmt::format("{} has no N: its size is M,0,K", kernel.name));
  return check_shape(size, /*has_n=*/false);
}

} // namespace nereid::kernels
