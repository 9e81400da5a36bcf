#pragma once

#include <cstddef>
#include <functional>
#include <pthread.h>

#include <gtest/gtest.h>

namespace nereid::test {

/// Runs `work` on a thread of its own with a stack of 256 KiB, as threads of a user's program may have. Work
/// that overflows it ends the process.
inline void on_small_stack(std::function<void()> work, size_t bytes = size_t{256} * 1024) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
#ifdef __SANITIZE_ADDRESS__
  bytes *= 8; // red zones around every local
#endif
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto start = [](void *argument) -> void * {
    (*static_cast<std::function<void()> *>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &work), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

} // namespace nereid::test
