#pragma once

#include <string_view>

#include "base/result.h"
#include "kernels/config.h"

/// Which tiles the kernels of the library take: a side is a power of two or a multiple of 16, and the
/// registers of the waves hold it; waves are a power of two. Each gives the config, or an error (User) whose
/// remedy names the nearest config that is taken, with one key changed or with two.
namespace nereid::kernels {

Result<ConfigValues> checked_quant(const ConfigValues &config);
/// `fused`: A is bf16 and quantised in the kernel.
Result<ConfigValues> checked_gemm(std::string_view kernel, bool fused, const ConfigValues &config);
Result<ConfigValues> checked_reduce(const ConfigValues &config);

} // namespace nereid::kernels
