// The kernels that a device has loaded; concurrent first calls build once.
#include "jit/cache/kernel_cache.h"

#include <mutex>

namespace nereid::jit {

const ReadyKernel *KernelCache::find(std::string_view key) const {
  std::shared_lock lock(mutex_);
  auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : found->second.get();
}

Result<const ReadyKernel *> KernelCache::find_or_build(std::string_view key, const Build &build) {
  std::promise<Outcome> promise;
  {
    std::unique_lock lock(mutex_);
    if (auto found = kernels_.find(key); found != kernels_.end())
      return found->second.get();
    if (auto found = building_.find(key); found != building_.end()) {
      std::shared_future<Outcome> other = found->second;
      lock.unlock();
      return other.get();
    }
    building_.emplace(key, promise.get_future().share());
  }
  // A kernel function may throw what is its own: the next call must not wait for a build that is over.
  struct Finish {
    KernelCache &cache;
    std::string_view key;
    ~Finish() {
      std::unique_lock lock(cache.mutex_);
      cache.building_.erase(cache.building_.find(key));
    }
  } finish{*this, key};
  Result<ReadyKernel> built = build();
  Outcome outcome = built ? Outcome(nullptr) : Outcome(built.error());
  if (built) {
    auto kernel = std::make_unique<const ReadyKernel>(std::move(*built));
    outcome = kernel.get();
    std::unique_lock lock(mutex_);
    kernels_.emplace(key, std::move(kernel));
  }
  promise.set_value(outcome);
  return outcome;
}

} // namespace nereid::jit
