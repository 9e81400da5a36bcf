#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "jit/device/device_interface.h"

namespace nereid::jit {

/// A device's states of streams that somebody else owns: one for each handle.
class ExternalStreams {
public:
  /// make() gives the state of a handle that has none: a Result of a shared pointer.
  template <class Make> Result<std::shared_ptr<StreamState>> find_or_make(void *handle, const Make &make) {
    const std::lock_guard lock(mutex_);
    if (std::shared_ptr<StreamState> found = states_[handle].lock())
      return found;
    std::erase_if(states_, [](const auto &entry) { return entry.second.expired(); });
    NEREID_TRY(std::shared_ptr<StreamState> made, make());
    states_[handle] = made;
    return made;
  }

private:
  std::mutex mutex_;
  std::map<void *, std::weak_ptr<StreamState>> states_;
};

} // namespace nereid::jit
