#pragma once

#include <optional>

#include "jit/tune/compile_function.h"
#include "kernels/gemm_plan.h"
#include "kernels/mxfp4_quant.h"
#include "kernels/splitk_reduce.h"

namespace nereid::kernels {

/// What mxfp4_linear launches around the GEMM of a plan.
struct LinearParts {
  std::optional<QuantConfig> quant;   ///< two passes: of A
  std::optional<ReduceConfig> reduce; ///< of the f32 sums, where the GEMM does not write bf16 itself
  int slices = 0;                     ///< of the sums, f32 [slices, m, n]; 0: there are none

  static Result<LinearParts> of(const GemmPlan &plan, const ProblemSize &size);
};

/// Compiles all kernels of a plan.
Result<CompiledKernels> compile_linear(const GemmPlan &plan, const ProblemSize &size, const Device &device);

} // namespace nereid::kernels
