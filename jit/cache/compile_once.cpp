// Concurrent first launches of a kernel, on any devices, compile it once.
#include "jit/cache/compile_once.h"

#include <future>
#include <map>
#include <mutex>

namespace nereid::jit {
namespace {

struct Flights {
  std::mutex mutex;
  std::map<std::string, std::shared_future<Result<Obtained>>> by_key;
};

Flights &flights() {
  static Flights instance;
  return instance;
}

} // namespace

Result<Obtained> obtain_once(const std::string &key, const std::function<Result<Obtained>()> &obtain) {
  std::promise<Result<Obtained>> promise;
  {
    std::unique_lock lock(flights().mutex);
    if (const auto found = flights().by_key.find(key); found != flights().by_key.end()) {
      const std::shared_future<Result<Obtained>> other = found->second;
      lock.unlock();
      NEREID_TRY(Obtained obtained, other.get());
      obtained.level = CacheLevel::Memory;
      return obtained;
    }
    flights().by_key.emplace(key, promise.get_future().share());
  }
  // Also when it throws, so that the next call does not wait for it.
  struct Finish {
    const std::string &key;
    ~Finish() {
      const std::lock_guard lock(flights().mutex);
      flights().by_key.erase(key);
    }
  } finish{key};
  Result<Obtained> obtained = obtain();
  promise.set_value(obtained);
  return obtained;
}

} // namespace nereid::jit
