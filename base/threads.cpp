// Threads that share one piece of work.
#include "base/threads.h"

#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/float_environment.h"

namespace nereid {
namespace {

/// The first exception of several threads.
class FirstException {
public:
  void run(const std::function<void()> &work) {
    try {
      const FloatEnvironment environment;
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_)
        first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_)
      std::rethrow_exception(first_);
  }

private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

} // namespace

void run_on_threads(unsigned count, const std::function<void()> &work) {
  FirstException exception;
  std::vector<std::thread> others;
  try {
    others.reserve(count);
    for (unsigned i = 1; i < count; ++i)
      others.emplace_back([&] { exception.run(work); });
  } catch (const std::system_error &) { // those that there are do all of it
  } catch (const std::bad_alloc &) {
  }
  exception.run(work);
  for (std::thread &thread : others)
    thread.join();
  exception.rethrow();
}

} // namespace nereid
