// Binaries that came from another process.
#include "jit/cache/precompiled.h"

#include <mutex>
#include <set>

namespace nereid::jit {
namespace {

struct Sets {
  std::mutex mutex;
  std::set<const BinariesByKey *> alive;
};
Sets &sets() {
  static Sets instance;
  return instance;
}

} // namespace

PrecompiledKernels::PrecompiledKernels(BinariesByKey binaries) : binaries_(std::move(binaries)) {
  const std::lock_guard lock(sets().mutex);
  sets().alive.insert(&binaries_);
}

PrecompiledKernels::~PrecompiledKernels() {
  const std::lock_guard lock(sets().mutex);
  sets().alive.erase(&binaries_);
}

std::optional<Binary> PrecompiledKernels::find(std::string_view key) {
  const std::lock_guard lock(sets().mutex);
  for (const BinariesByKey *binaries : sets().alive)
    if (const auto found = binaries->find(key); found != binaries->end())
      return found->second;
  return std::nullopt;
}

} // namespace nereid::jit
