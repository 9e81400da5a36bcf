#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "jit/device/device.h"
#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"

namespace nereid::tools {

/// What mxfp4_linear gave.
struct Product {
  std::vector<uint16_t> c; ///< bf16 [m, n]
  kernels::LinearReport report;
};

/// Uploads the operands, fills C with NaN, multiplies and waits. `linear` is of the device.
Result<Product> run_product(const Device &device, kernels::Mxfp4Linear &linear,
                            const kernels::host::Operands &operands,
                            kernels::GemmPath path = kernels::GemmPath::Auto,
                            const Partial<kernels::GemmConfig> &config = {});

} // namespace nereid::tools
