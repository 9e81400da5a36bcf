#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/compile/compiled_kernel.h"
#include "jit/device/device.h"
#include "kernels/config.h"

namespace nereid::kernels {

/// A kernel of the library, by name.
struct LibraryKernel {
  std::string_view name;
  std::string_view summary;
  std::vector<std::string_view> keys; ///< of its config
  /// The given keys checked, the library's choice for the rest.
  std::function<Result<ConfigValues>(const ConfigValues &given, const std::optional<ProblemSize> &size)>
      complete;
  /// Builds the kernel for a whole config. A size sets what the code may assume of alignment and
  /// divisibility.
  std::function<Result<std::shared_ptr<const CompiledKernel>>(
      const ConfigValues &config, const std::optional<ProblemSize> &size, const Device &device)>
      compile;
  bool has_n = true; ///< false: a size is M,0,K
};

const std::vector<LibraryKernel> &library_kernels();

/// Error (User) listing the kernels there are.
Result<const LibraryKernel *> kernel_named(std::string_view name);

/// Checks a size for the kernel: its dimensions and their multiples.
Status check_size(const LibraryKernel &kernel, const ProblemSize &size);

} // namespace nereid::kernels
