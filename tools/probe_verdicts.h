#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/host/gemm.h"

namespace nereid::tools {

/// What a probe of the chip found.
struct ProbeResult {
  std::string name;
  bool passed = false;
  std::string detail;
};

/// Of 2^26 + 1 - 2^26 in f32: 1 where the small term is kept, 0 where it is rounded away, nothing else.
ProbeResult judge_sum_order(float sum);

/// Of a product computed many times: all results are the same, and right.
ProbeResult judge_waits(const std::vector<std::vector<uint16_t>> &results, const std::vector<double> &exact);

} // namespace nereid::tools
