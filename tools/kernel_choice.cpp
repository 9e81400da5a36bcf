#include "tools/kernel_choice.h"

#include <fmt/format.h>

#include "tools/size_options.h"

namespace nereid::tools {

void add_kernel_choice(CLI::App &command, KernelChoice &choice) {
  std::string names;
  for (const kernels::LibraryKernel &kernel : kernels::library_kernels())
    names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  command.add_option("kernel", choice.kernel, names)->required();
  command.add_option("--config", choice.config, "key=value,...");
  command.add_option("--shape", choice.shape, "M,N,K");
}

Result<ChosenKernel> compile_choice(const KernelChoice &choice) {
  Result<const kernels::LibraryKernel *> kernel = kernels::kernel_named(choice.kernel);
  if (!kernel)
    return kernel.error();
  Result<std::optional<kernels::ProblemSize>> size = parse_optional_size(choice.shape);
  if (!size)
    return size.error();
  if (*size)
    if (Status status = kernels::check_size(**kernel, **size); !status)
      return status.error();
  Result<kernels::ConfigValues> given = kernels::ConfigValues::parse(choice.config);
  if (!given)
    return given.error();
  Result<kernels::ConfigValues> config = (*kernel)->complete(*given, *size);
  if (!config)
    return config.error();
  Result<std::shared_ptr<const CompiledKernel>> compiled =
      (*kernel)->compile(*config, *size, Device::simulator());
  if (!compiled)
    return compiled.error();
  return ChosenKernel{std::move(*config), std::move(*compiled)};
}

} // namespace nereid::tools
