#pragma once

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "dsl/config.h"
#include "dsl/trace.h"
#include "jit/argument.h"
#include "jit/kernel_core.h"

namespace nereid {

/// A kernel function ready to be launched: `Kernel kernel("add", add);` for
/// `void add(const AddConfig &, Ptr<const f32>, ..., Int)`.
///
/// A Ptr<T> takes a Buffer or DevicePointer of T or of std::byte, an Int an int32_t, a Long an int64_t, a
/// Float a float, a Tile<T> of another element its C++ number, a struct of parameters (NEREID_PARAMETERS) a
/// struct or std::tuple of what its fields take; anything else does not compile. Safe to use from several
/// threads.
template <class Config, class... P> class Kernel {
  static_assert(ListedConfig<Config>, "a config lists its fields with NEREID_CONFIG");

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

  /// Launches `grid` programs, after building the kernel if this config and specialisation is new to the
  /// device. Errors: of tracing (user), of the compiler (nereid, environment), of the run (device; out of
  /// bounds: user).
  template <class... A>
  Result<LaunchInfo> operator()(const Stream &stream, Grid grid, const Config &config,
                                const A &...arguments) const {
    return launch({}, stream, grid, config, arguments...);
  }

  template <class... A>
  Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream, Grid grid,
                            const Config &config, const A &...arguments) const {
    static_assert(sizeof...(A) == sizeof...(P), "a launch gives every parameter of the kernel one argument");
    if constexpr (sizeof...(A) == sizeof...(P)) {
      const auto values = jit::to_arguments<P...>(arguments...);
      const auto key = config_key(config);
      return core_->launch(options, stream, grid, view(config, key), values);
    }
  }

  /// Builds the kernel, or finds it in the device's cache. facts: in the order of the parameters, perhaps
  /// fewer.
  Result<std::shared_ptr<const CompiledKernel>>
  compile(const Config &config, const std::vector<ArgumentFacts> &facts, const Device &device) const {
    const auto key = config_key(config);
    return core_->compile(view(config, key), facts, device);
  }

  /// What a launch with these arguments specialises on.
  template <class... A> static std::vector<ArgumentFacts> facts(const A &...arguments) {
    static_assert(sizeof...(A) == sizeof...(P), "every parameter of the kernel has one argument");
    std::vector<ArgumentFacts> facts;
    for (const jit::ArgumentValue &value : jit::to_arguments<P...>(arguments...))
      facts.push_back(jit::facts_of(value));
    return facts;
  }

private:
  template <class Key> static jit::ConfigView view(const Config &config, const Key &key) {
    return {&config, {reinterpret_cast<const char *>(key.data()), key.size() * sizeof(key[0])}};
  }

  std::shared_ptr<const jit::KernelCore> core_;
};

} // namespace nereid
