#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsl/trace.h"
#include "jit/compiled_kernel.h"
#include "jit/device.h"
#include "jit/launch.h"

namespace nereid::jit {

/// One argument of a launch: its bits as they go into the kernarg segment.
struct ArgumentValue {
  enum class Kind : uint8_t { Pointer, I32, I64, F32 };
  Kind kind = Kind::Pointer;
  uint64_t bits = 0;
};

/// What specialisation keeps of an argument: alignment or divisibility by 16, an integer that is 1.
ArgumentFacts facts_of(const ArgumentValue &argument);

/// A config as bytes (what the fast path compares) and what a miss does with it.
struct ConfigView {
  const void *bytes = nullptr;
  size_t size = 0;
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
  /// same function share their caches.
  static std::shared_ptr<const KernelCore> shared(const std::string &name, void (*function)(), Trace trace,
                                                  ConfigText config_text);

private:
  std::string name_;
  Trace trace_;
  ConfigText config_text_;
};

} // namespace nereid::jit
