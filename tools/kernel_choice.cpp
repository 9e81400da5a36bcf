// The kernel, config and shape that compile and inspect are given.
#include "tools/kernel_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/gemm_plan.h"
#include "tools/size_options.h"

namespace nereid::tools {

void add_kernel_choice(Subcommand command, KernelChoice &choice) {
  std::string names;
  for (const kernels::NamedKernel &kernel : kernels::library_kernels())
    names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  command.option("kernel", choice.kernel, names).required();
  command.option("--config", choice.config, "key=value,...");
  command.option("--shape", choice.shape, "M,N,K");
}

void add_path_option(Subcommand command, std::string &path) {
  const std::vector<std::string> names(kernels::path_names.begin(), kernels::path_names.end());
  command.option("--path", path, fmt::format("{}", fmt::join(names, ", "))).one_of(names).shows_default();
}

Result<kernels::ConfiguredKernel> configure_choice(const KernelChoice &choice) {
  NEREID_TRY(const kernels::NamedKernel *kernel, kernels::kernel_named(choice.kernel));
  NEREID_TRY(const std::optional<kernels::ProblemSize> size, parse_optional_size(choice.shape));
  if (size)
    NEREID_CHECK(kernels::check_size(*kernel, *size));
  return kernel->configure(choice.config, size);
}

Result<ChosenKernel> compile_choice(const KernelChoice &choice) {
  NEREID_TRY(kernels::ConfiguredKernel configured, configure_choice(choice));
  NEREID_TRY(std::shared_ptr<const CompiledKernel> compiled, configured.compile(Device::simulator()));
  return ChosenKernel{std::move(configured.config), std::move(compiled)};
}

} // namespace nereid::tools
