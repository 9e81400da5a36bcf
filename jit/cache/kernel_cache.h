#pragma once

#include <functional>
#include <future>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace nereid {
class CompiledKernel;
}

namespace nereid::jit {

class LoadedKernel;
struct PrintPlan;

/// A kernel that a device can launch. `loaded` is null for one that is only interpreted.
struct ReadyKernel {
  std::shared_ptr<const CompiledKernel> compiled;
  std::shared_ptr<const LoadedKernel> loaded;
  std::shared_ptr<const PrintPlan> prints; ///< of compiled code; null: it prints nothing
  double load_ms = 0;
};

/// The kernels of one device by (kernel identity, config bytes, specialisation). A hit takes a shared lock
/// and allocates nothing; of concurrent first calls one builds and the others wait. What failed is tried
/// again.
class KernelCache {
public:
  using Build = std::function<Result<ReadyKernel>()>;

  /// The kernel when it is there and complete, else null. Valid as long as the cache lives.
  const ReadyKernel *find(std::string_view key) const;
  Result<const ReadyKernel *> find_or_build(std::string_view key, const Build &build);

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  using Outcome = Result<const ReadyKernel *>;

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<const ReadyKernel>, Hash, std::equal_to<>> kernels_;
  std::unordered_map<std::string, std::shared_future<Outcome>, Hash, std::equal_to<>> building_;
};

} // namespace nereid::jit
