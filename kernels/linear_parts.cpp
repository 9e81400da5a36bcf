// The kernels of one mxfp4_linear with their configs.
#include "kernels/linear_parts.h"

#include "kernels/mxfp4_gemm.h"

namespace nereid::kernels {

Result<LinearParts> LinearParts::of(const GemmPlan &plan, const ProblemSize &size) {
  LinearParts parts;
  if (plan.path == GemmPath::TwoPass) {
    NEREID_TRY(parts.quant, quant_kernel.complete({.shuffled = true}, size));
  }
  if (plan.gemm.reduce != Reduce::None)
    parts.slices = plan.gemm.reduce == Reduce::Atomic ? 1 : plan.gemm.split_k;
  if (!writes_bf16(plan.gemm.reduce)) {
    NEREID_TRY(parts.reduce, reduce_kernel.complete({.split_k = parts.slices}, size));
  }
  return parts;
}

Result<CompiledKernels> compile_linear(const GemmPlan &plan, const ProblemSize &size, const Device &device) {
  NEREID_TRY(const LinearParts parts, LinearParts::of(plan, size));
  CompiledKernels all;
  const auto add = [&](const auto &kernel, const auto &config) -> Status {
    NEREID_TRY(std::shared_ptr<const CompiledKernel> compiled, kernel.compile(config, size, device));
    all.push_back(std::move(compiled));
    return {};
  };
  if (parts.quant)
    NEREID_CHECK(add(quant_kernel, *parts.quant));
  NEREID_CHECK(plan.path == GemmPath::TwoPass ? add(gemm_kernel, plan.gemm)
                                              : add(gemm_fused_kernel, plan.gemm));
  if (parts.reduce)
    NEREID_CHECK(add(reduce_kernel, *parts.reduce));
  return all;
}

} // namespace nereid::kernels
