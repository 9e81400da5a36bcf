// Work shared by threads, also where there are none to be had.
#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include "base/threads.h"
#include "tests/support/no_threads.h"

using namespace nereid;

namespace {

/// Adds up 0 to 999 in tasks.
int sum_of_tasks(unsigned threads) {
  std::atomic<int> next = 0, sum = 0;
  run_on_threads(threads, [&] {
    for (int task = next++; task < 1000; task = next++)
      sum += task;
  });
  return sum;
}

TEST(Threads, DoAllTasksOnce) {
  for (unsigned threads : {0u, 1u, 2u, 7u})
    EXPECT_EQ(sum_of_tasks(threads), 499500) << threads;
}

TEST(Threads, TheCallerDoesAllWhereThereAreNone) {
  const test::NoThreads none;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  EXPECT_EQ(sum_of_tasks(4), 499500);
}

TEST(Threads, ThrowWhatAWorkerThrows) {
  std::atomic<int> calls = 0;
  const auto work = [&] {
    if (++calls == 3)
      throw std::runtime_error("third");
  };
  EXPECT_THROW(run_on_threads(3, work), std::runtime_error);
  EXPECT_EQ(calls, 3);
}

} // namespace
