#pragma once

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "jit/argument.h"
#include "jit/kernel_core.h"

namespace nereid {

/// A kernel function ready to be launched: `Kernel kernel("add", add);` for
/// `void add(const AddConfig &, Ptr<const f32>, ..., Int)`.
///
/// A Ptr<T> takes a Buffer or DevicePointer of T (or of plain bytes of T's size where the host has no such
/// type), an Int an int32_t, a Long an int64_t, a Float a float; anything else does not compile.
template <class Config, class... P> class Kernel {
  static_assert(std::has_unique_object_representations_v<Config>, "a config is a plain struct of ints");

public:
  using Function = void (*)(const Config &, P...);

  Kernel(const std::string &name, Function function)
      : core_(jit::KernelCore::shared(
            name, reinterpret_cast<void (*)()>(function),
            [name, function](const void *config, const std::vector<ArgumentFacts> &facts) {
              return trace(name, function, *static_cast<const Config *>(config), facts);
            },
            [](const void *config) { return config_text(*static_cast<const Config *>(config)); })) {}

  const std::string &name() const { return core_->name(); }

  /// Builds the kernel if this config and specialisation is new to the device, and launches `grid` programs.
  template <class... A>
  Result<LaunchInfo> operator()(const Stream &stream, Grid grid, const Config &config,
                                const A &...arguments) const {
    return launch({}, stream, grid, config, arguments...);
  }

  template <class... A>
  Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream, Grid grid,
                            const Config &config, const A &...arguments) const {
    static_assert(sizeof...(A) == sizeof...(P), "a launch gives every parameter of the kernel one argument");
    const std::array<jit::ArgumentValue, sizeof...(P)> values{jit::to_argument<P>(arguments)...};
    return core_->launch(options, stream, grid, {&config, sizeof(config)}, values);
  }

  /// Builds the kernel, or finds it in the device's cache. facts: one for each parameter; {} where nothing is
  /// known of it.
  Result<std::shared_ptr<const CompiledKernel>>
  compile(const Config &config, const std::vector<ArgumentFacts> &facts, const Device &device) const {
    return core_->compile({&config, sizeof(config)}, facts, device);
  }

  /// What a launch with these arguments would specialise on.
  template <class... A> static std::vector<ArgumentFacts> facts(const A &...arguments) {
    static_assert(sizeof...(A) == sizeof...(P), "every parameter of the kernel has one argument");
    return {jit::facts_of(jit::to_argument<P>(arguments))...};
  }

private:
  std::shared_ptr<const jit::KernelCore> core_;
};

} // namespace nereid
