// Arguments of a launch of a library kernel from its problem's size.
#include "tools/sized_run.h"

#include <algorithm>

namespace nereid::tools {
namespace {

using inspect::RunArgument;

/// Memory that a kernel does not read still has an address.
constexpr int64_t least_bytes = 256;

std::optional<RunArgument> argument_named(const std::string &name, const kernels::SizedLaunch &launch) {
  const auto operand = std::find_if(launch.operands.begin(), launch.operands.end(),
                                    [&](const auto &needed) { return needed.name == name; });
  if (operand != launch.operands.end())
    return RunArgument::buffer(static_cast<uint64_t>(std::max(operand->bytes, least_bytes)));
  const auto [m, n, k] = launch.size;
  for (const auto &[dimension, value] : {std::pair("m", m), {"n", n}, {"k", k}})
    if (name == dimension)
      return RunArgument::number(static_cast<int32_t>(value));
  // C = alpha A B + beta C; epsilon below a square root
  for (const auto &[number, value] : {std::pair("alpha", 1.0F), {"beta", 0.0F}, {"epsilon", 1e-6F}})
    if (name == number)
      return RunArgument::number(value);
  return std::nullopt;
}

} // namespace

std::optional<inspect::RunRequest> sized_run(const kernels::ConfiguredKernel &configured,
                                             const CompiledKernel &kernel, const std::string &caches) {
  if (!configured.sized_launch)
    return std::nullopt;
  const kernels::SizedLaunch &launch = *configured.sized_launch;
  inspect::RunRequest run;
  run.grid = launch.grid.sizes();
  run.operands = "zeros";
  if (!caches.empty())
    run.caches = caches;
  for (const std::string &name : kernel.function().argument_names) {
    std::optional<RunArgument> argument = argument_named(name, launch);
    if (!argument)
      return std::nullopt;
    run.arguments.push_back(std::move(*argument));
  }
  return run;
}

} // namespace nereid::tools
