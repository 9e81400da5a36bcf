// What a forked process may still do. Handlers of pthread_atfork that take all locks would make every fork
// wait for compiles, and LLVM's locks are out of reach: the child is told instead.
#include "jit/compile/fork_guard.h"

#include <atomic>
#include <pthread.h>

namespace nereid::jit {
namespace {

std::atomic<int> building = 0; ///< of all threads
thread_local int own = 0;      ///< of this one
std::atomic<bool> forked_while_building = false;

/// The forking thread is the only one that lives on.
void in_child() {
  if (building.exchange(own) > own)
    forked_while_building = true;
}

} // namespace

Building::Building() {
  static const int registered = pthread_atfork(nullptr, nullptr, in_child);
  (void)registered;
  ++own;
  ++building;
}

Building::~Building() {
  --building;
  --own;
}

Status check_not_forked_while_building() {
  if (!forked_while_building.load(std::memory_order_relaxed)) [[likely]]
    return {};
  return environment_error("this process was forked while another thread compiled a kernel: the locks of the "
                           "compiler are held in it for ever",
                           "Fork before kernels are launched or when no thread compiles, or call exec");
}

} // namespace nereid::jit
