#pragma once

#include <cstddef>
#include <pthread.h>

namespace nereid::test {

/// While it lives, std::thread fails with EAGAIN, as with RLIMIT_NPROC (which does not bind root): the stacks
/// that new threads get by default fit into no address space.
class NoThreads {
public:
  NoThreads() {
    pthread_attr_init(&attributes_);
    pthread_getattr_default_np(&attributes_);
    pthread_attr_getstacksize(&attributes_, &before_);
    set(size_t{1} << 47);
  }
  ~NoThreads() {
    set(before_);
    pthread_attr_destroy(&attributes_);
  }
  NoThreads(const NoThreads &) = delete;
  NoThreads &operator=(const NoThreads &) = delete;

private:
  void set(size_t stack) {
    pthread_attr_setstacksize(&attributes_, stack);
    pthread_setattr_default_np(&attributes_);
  }
  pthread_attr_t attributes_;
  size_t before_ = 0;
};

} // namespace nereid::test
