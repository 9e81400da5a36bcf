#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/bound_kernel.h"
#include "kernels/config_limits.h"
#include "kernels/launch_example.h"
#include "kernels/problem_size.h"

namespace nereid::kernels {

/// A product's size where it is known, and a compiled kernel or why there is none.
using MaybeSize = std::optional<ProblemSize>;
using CompiledResult = Result<std::shared_ptr<const CompiledKernel>>;

/// Where launches go.
struct LaunchTarget {
  const Stream &stream;
  LaunchOptions options = {};
};

/// What a launch was: its config and what the device says of it.
struct LaunchRecord {
  std::vector<ConfigValue> config;
  LaunchInfo info;
};

/// Programs in one dimension as a term that other languages can compute: blocks of `key` (of the config) of
/// the dimension `argument`; without an argument what the config has at `key`; without a key the argument
/// itself, or a number that only the launch knows under this name; without both 1.
struct GridTerm {
  std::string_view argument;
  std::string_view key;
};

/// A kernel of the library with config C and operands O: all that compiling, launching and tuning it need.
template <class C, class O> struct LibraryKernel {
  std::string_view name;
  std::string_view summary;
  SizeRule rule; ///< of its size
  /// The config with the library's choice, by tile and shape alone, for what is not given: a config means the
  /// same kernel on every machine.
  C (*defaults)(const Partial<C> &given, const MaybeSize &size);
  /// Error (User), with the nearest config that is taken as its remedy.
  Status (*check)(std::string_view kernel, const C &config, const MaybeSize &size);
  /// Programs.
  Grid (*grid)(const C &config, const ProblemSize &size, const O &operands);
  /// The same by terms, in x, y and z.
  std::array<GridTerm, 3> grid_terms;
  /// The function that the config means, and its arguments.
  BoundKernel (*bind)(std::string_view kernel, const C &config, const MaybeSize &size, const O &operands);
  /// What a launch without a caller's operands needs in addition to the size.
  std::span<const LaunchNumber<C, O>> numbers = {};
  /// The indices of such a launch; sets what of the operands follows from config, size and numbers. Null: it
  /// has no indices.
  LaunchIndices (*indices)(const C &config, const ProblemSize &size, O &operands) = nullptr;

  /// The complete config. Error (User): no kernel is built for it.
  Result<C> complete(const Partial<C> &given, const MaybeSize &size) const {
    NEREID_CHECK(check_limits(config_values(given)));
    const C config = defaults(given, size);
    NEREID_CHECK(check(name, config, size));
    return config;
  }

  /// Builds the kernel for a complete config. A size sets what the code may assume of divisibility.
  CompiledResult compile(const C &config, const MaybeSize &size, const Device &device) const {
    return bind(name, config, size, O{}).compile(device, size.has_value());
  }

  /// One launch with a complete config. Error (User): an operand is null or too short.
  Result<LaunchRecord> launch(const LaunchTarget &target, const C &config, const ProblemSize &size,
                              const O &operands) const {
    const BoundKernel bound = bind(name, config, size, operands);
    NEREID_TRY(LaunchInfo info, bound.launch(target.options, target.stream, grid(config, size, operands)));
    return LaunchRecord{config_values(config), std::move(info)};
  }
};

} // namespace nereid::kernels
