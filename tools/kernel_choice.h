#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "tools/options.h"

namespace nereid::tools {

/// KERNEL [--config k=v,...] [--shape M,N,K]
struct KernelChoice {
  std::string kernel;
  std::string config;
  std::string shape;
};

void add_kernel_choice(Subcommand command, KernelChoice &choice);

/// --path of mxfp4_linear.
void add_path_option(Subcommand command, std::string &path);

/// Checks the size, then configures the kernel.
Result<kernels::ConfiguredKernel> configure_choice(const KernelChoice &choice);

struct ChosenKernel {
  std::vector<ConfigValue> config; ///< all keys
  std::shared_ptr<const CompiledKernel> compiled;
};

/// Compiles it; no GPU is needed.
Result<ChosenKernel> compile_choice(const KernelChoice &choice);

} // namespace nereid::tools
