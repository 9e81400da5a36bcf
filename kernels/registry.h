#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/aot/export.h"
#include "kernels/library_kernel.h"

/// The kernels of the library by name, their configs as text: what the command works with.
namespace nereid::kernels {

/// A number of a launch by name: "heads" and 32.
using GivenNumber = std::pair<std::string, int64_t>;

/// A launch without a caller's operands: its memory holds zeros, indices apart.
struct ExampleLaunch {
  struct Argument {
    BoundArgument argument;
    std::vector<std::byte> contents; ///< of memory: its first bytes, the rest is zero
  };
  Grid grid;
  std::vector<Argument> arguments;
  std::string words; ///< its numbers and what the memory holds, for reports
};

/// A kernel with its complete config.
struct ConfiguredKernel {
  std::vector<ConfigValue> config;
  std::function<CompiledResult(const Device &)> compile;
  /// Compiles it, with all that a launcher in another language needs to know.
  std::function<Result<aot::Export>(const Device &)> export_for_aot;
  /// A launch of the size with some numbers of the kernel's `launch_numbers`, usual ones for the rest. Error
  /// (User): there is no size or no such number, the kernel does not take them.
  std::function<Result<ExampleLaunch>(std::span<const GivenNumber> given)> example_launch;
};

/// A kernel of the library for callers that know its name alone.
struct NamedKernel {
  std::string_view name;
  std::string_view summary;
  SizeRule rule;                                ///< of its size
  std::vector<ConfigValue> keys;                ///< of its config
  std::vector<std::string_view> launch_numbers; ///< that a launch has in addition to its size
  /// `config` is "key=value,..." of some keys.
  std::function<Result<ConfiguredKernel>(std::string_view config, const MaybeSize &size)> configure;
};

/// Every kernel of the library.
const std::vector<NamedKernel> &library_kernels();

/// Error (User) listing the kernels there are.
Result<const NamedKernel *> kernel_named(std::string_view name);

/// Error (User) unless the kernel takes the size.
Status check_size(const NamedKernel &kernel, const ProblemSize &size);

/// Error (User) naming a key of "key=value,..." that other kernels of the library have and this one has not.
Status check_keys(std::string_view kernel, std::span<const ConfigValue> keys, std::string_view config);

/// The keys of "key=value,..." that are given.
template <ListedConfig C> Result<Partial<C>> parse_keys(std::string_view kernel, std::string_view config) {
  NEREID_CHECK(check_keys(kernel, config_fields<C>(), config));
  return parse_partial<C>(config, key_limits());
}

} // namespace nereid::kernels
