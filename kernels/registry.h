#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "jit/aot/export.h"
#include "kernels/library_kernel.h"

/// The kernels of the library by name, their configs as text: what the command works with.
namespace nereid::kernels {

/// A launch that is known from the problem's size alone: its programs and what it needs of each operand.
struct SizedLaunch {
  Grid grid;
  ProblemSize size;
  std::vector<NeededMemory> operands; ///< without addresses
};

/// A kernel with its complete config.
struct ConfiguredKernel {
  std::vector<ConfigValue> config;
  std::function<CompiledResult(const Device &)> compile;
  /// Compiles it, with all that a launcher in another language needs to know.
  std::function<Result<aot::Export>(const Device &)> export_for_aot;
  /// Nothing without a size, or where programs depend on more than it.
  std::optional<SizedLaunch> sized_launch;
};

/// A kernel of the library for callers that know its name alone.
struct NamedKernel {
  std::string_view name;
  std::string_view summary;
  bool has_n;
  std::vector<ConfigValue> keys; ///< of its config
  /// `config` is "key=value,..." of some keys.
  std::function<Result<ConfiguredKernel>(std::string_view config, const MaybeSize &size)> configure;
};

/// Every kernel of the library.
const std::vector<NamedKernel> &library_kernels();

/// Error (User) listing the kernels there are.
Result<const NamedKernel *> kernel_named(std::string_view name);

/// Checks a size for the kernel: its dimensions and their multiples.
Status check_size(const NamedKernel &kernel, const ProblemSize &size);

/// Error (User) naming a key of "key=value,..." that other kernels of the library have and this one has not.
Status check_keys(std::string_view kernel, std::span<const ConfigValue> keys, std::string_view config);

/// The keys of "key=value,..." that are given.
template <ListedConfig C> Result<Partial<C>> parse_keys(std::string_view kernel, std::string_view config) {
  NEREID_CHECK(check_keys(kernel, config_fields<C>(), config));
  return parse_partial<C>(config, key_limits());
}

} // namespace nereid::kernels
