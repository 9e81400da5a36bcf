// Several compiles at once: in processes, whose code objects this process then loads.
#include "jit/tune/compile_all.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "jit/cache/precompiled.h"
#include "jit/compile/worker_processes.h"
#include "jit/tune/guarded_call.h"
#include "jit/worker_message.h"

namespace nereid {
namespace {

constexpr const char *compile_name = "its compile";
constexpr const char *every_kernel = "Return every kernel that it compiles";

/// In the process of a worker.
Result<jit::BinariesByKey> compile_binaries(const CompileFunction &function) {
  const Device device = Device::simulator();
  NEREID_TRY(const CompiledKernels kernels, jit::guarded_call(compile_name, function, device));
  jit::BinariesByKey binaries;
  for (const auto &kernel : kernels)
    if (kernel && kernel->has_code())
      binaries.emplace(kernel->key(), *kernel->binary());
  return binaries;
}

Result<jit::BinariesByKey> binaries_of(const jit::WorkerOutcome &outcome, double seconds) {
  if (outcome.not_started)
    return *outcome.not_started;
  if (outcome.late)
    return user_error(fmt::format("it takes longer than {} s", seconds),
                      "Leave it out, or raise the seconds that a compile may take");
  if (auto received = jit::read_worker_message(outcome.bytes))
    return std::move(*received);
  return user_error("its process ended with " + jit::text_of_status(outcome.status),
                    "Compile it alone to find out where");
}

Result<CompiledKernels> load(const CompileFunction &function, const Device &device,
                             Result<jit::BinariesByKey> compiled) {
  NEREID_TRY(jit::BinariesByKey binaries, std::move(compiled));
  const jit::PrecompiledKernels handed(std::move(binaries));
  NEREID_TRY(CompiledKernels kernels, jit::guarded_call(compile_name, function, device));
  if (kernels.empty())
    return user_error("its compile gives no kernels", every_kernel);
  if (std::find(kernels.begin(), kernels.end(), nullptr) != kernels.end())
    return user_error("its compile gives a null kernel", every_kernel);
  return kernels;
}

} // namespace

std::vector<Result<CompiledKernels>> compile_all(std::span<const CompileFunction> functions,
                                                 const Device &device, const CompileAllOptions &options,
                                                 const std::function<void()> &finished) {
  if (std::isnan(options.seconds))
    return std::vector<Result<CompiledKernels>>(
        functions.size(), user_error("the seconds that a compile may take are no number"));
  std::vector<jit::WorkerJob> jobs;
  for (const CompileFunction &function : functions)
    jobs.emplace_back([&function] { return jit::worker_message(compile_binaries(function)); });
  const std::vector<jit::WorkerOutcome> outcomes =
      jit::run_in_processes(jobs, {options.workers, options.seconds}, finished);
  std::vector<Result<CompiledKernels>> compiled;
  for (size_t i = 0; i < functions.size(); ++i)
    compiled.push_back(load(functions[i], device, binaries_of(outcomes[i], options.seconds)));
  return compiled;
}

} // namespace nereid
