#pragma once

#include <dlfcn.h>
#include <initializer_list>
#include <string>

namespace nereid::jit {

/// A library opened at run time; it stays open until the process ends.
class SharedLibrary {
public:
  /// The first of the names that opens. Its symbols stay private to it.
  explicit SharedLibrary(std::initializer_list<const char *> names) {
    for (const char *name : names) {
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_) {
        name_ = name;
        return;
      }
      if (const char *reason = dlerror())
        reasons_ += (reasons_.empty() ? "" : "; ") + std::string(reason);
    }
  }

  bool open() const { return handle_ != nullptr; }
  const std::string &name() const { return name_; }
  const std::string &reasons() const { return reasons_; } ///< why none of the names opened

  /// False when the library has no such symbol.
  template <class Function> bool resolve(const char *symbol, Function &function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
    return function != nullptr;
  }

private:
  void *handle_ = nullptr;
  std::string name_;
  std::string reasons_;
};

} // namespace nereid::jit
