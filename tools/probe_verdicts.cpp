// What the results of probes say.
#include "tools/probe_verdicts.h"

#include <algorithm>

#include <fmt/format.h>

namespace nereid::tools {

ProbeResult judge_sum_order(float sum) {
  const char *meaning = sum == 1.0F   ? "the small term is kept"
                        : sum == 0.0F ? "the small term is rounded away"
                                      : "no order of f32 sums gives that";
  return {.name = "sum order",
          .passed = sum == 0.0F || sum == 1.0F,
          .detail = fmt::format("2^26 + 1 - 2^26 over three groups gives {}: {}", sum, meaning)};
}

ProbeResult judge_waits(const std::vector<std::vector<uint16_t>> &results, const std::vector<double> &exact) {
  size_t different = 0, wrong = 0;
  for (const std::vector<uint16_t> &result : results) {
    different += result != results.front() ? 1 : 0;
    wrong += kernels::host::compare(result, exact).passed() ? 0 : 1;
  }
  return {.name = "waits",
          .passed = different == 0 && wrong == 0,
          .detail = fmt::format("{} of {} repeats differ from the first, {} are wrong", different,
                                results.size(), wrong)};
}

} // namespace nereid::tools
