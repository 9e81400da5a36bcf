#pragma once

#include <optional>

#include "kernels/gemm_config.h"
#include "kernels/mxfp4_grouped_gemm.h"
#include "kernels/mxfp4_quant.h"
#include "kernels/splitk_reduce.h"

/// From a library config (choices.h: all keys given) and what is known of the problem to what a kernel is
/// traced with.
namespace nereid::kernels {

/// What of alpha (sum) + beta C an output needs.
enum class Scaling : int { None, Alpha, AlphaBeta };

QuantConfig quant_config(const ConfigValues &values, const std::optional<ProblemSize> &size);
GemmConfig gemm_config(const ConfigValues &values, const std::optional<ProblemSize> &size,
                       Scaling scaling = Scaling::None);
/// The size is that of each product.
GroupedConfig batched_config(const ConfigValues &values, const std::optional<ProblemSize> &size);
/// Where an expert's rows end is known to the launch alone.
GroupedConfig grouped_config(const ConfigValues &values, const std::optional<ProblemSize> &size);
ReduceConfig reduce_config(const ConfigValues &values, Scaling scaling = Scaling::None);

} // namespace nereid::kernels
