#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "kernels/catalog.h"

namespace nereid::tools {

/// KERNEL [--config k=v,...] [--shape M,N,K]
struct KernelChoice {
  std::string kernel;
  std::string config;
  std::string shape;
};

void add_kernel_choice(CLI::App &command, KernelChoice &choice);

struct ChosenKernel {
  kernels::ConfigValues config; ///< all keys
  std::shared_ptr<const CompiledKernel> compiled;
};

/// Compiles it; no GPU is needed.
Result<ChosenKernel> compile_choice(const KernelChoice &choice);

} // namespace nereid::tools
