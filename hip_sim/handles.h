#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace nereid::hip_sim {

/// The living objects of one kind, by the handles that programs hold: a handle that is none of them is found
/// out without following it.
template <class T> class Handles {
public:
  T *add(std::shared_ptr<T> object) {
    T *handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// Null when there is none.
  std::shared_ptr<T> find(const T *handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// False when there is none.
  bool remove(const T *handle) { return objects_.erase(handle) > 0; }
  template <class F> bool any(F matches) const {
    return std::any_of(objects_.begin(), objects_.end(),
                       [&](const auto &entry) { return matches(*entry.second); });
  }
  size_t size() const { return objects_.size(); }
  template <class F> void remove_if(F matches) {
    std::erase_if(objects_, [&](const auto &entry) { return matches(*entry.second); });
  }

private:
  std::unordered_map<const T *, std::shared_ptr<T>> objects_;
};

} // namespace nereid::hip_sim
