#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dsl/trace.h"
#include "jit/compile/compiled_kernel.h"
#include "jit/device/argument_value.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"

namespace nereid::jit {

struct ReadyKernel;

/// What specialisation keeps of an argument: an address or integer divisible by 16, an integer that is 1, a
/// buffer of less than 2^31 bytes. Nothing of an argument that is not specialised.
ArgumentFacts facts_of(const ArgumentValue &argument);

/// A config, and its bytes as the fast path compares them.
struct ConfigView {
  const void *config = nullptr;
  std::string_view bytes;
};

/// The type-erased kernel: cache look-up, tracing, compilation, launch.
class KernelCore {
public:
  using Trace = std::function<Result<ir::Function>(const void *config, const std::vector<ArgumentFacts> &)>;
  using ConfigText = std::string (*)(const void *config);

  KernelCore(std::string name, Trace trace, ConfigText config_text);

  const std::string &name() const { return name_; }

  Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream, Grid grid, ConfigView config,
                            std::span<const ArgumentValue> arguments) const;
  Result<std::shared_ptr<const CompiledKernel>>
  compile(ConfigView config, const std::vector<ArgumentFacts> &facts, const Device &device) const;

  /// The core of a kernel function: one for each (function, name) in the process, so that kernels made of the
  /// same function share what is compiled.
  static std::shared_ptr<const KernelCore> shared(const std::string &name, void (*function)(), Trace trace,
                                                  ConfigText config_text);

private:
  Result<ReadyKernel> build(ConfigView config, const std::vector<ArgumentFacts> &facts,
                            DeviceInterface &device, bool interpret) const;

  std::string name_;
  Trace trace_;
  ConfigText config_text_;
};

} // namespace nereid::jit
