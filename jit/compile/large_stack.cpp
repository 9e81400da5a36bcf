// A thread with a large stack for one piece of work, by pthreads: std::thread takes no size, and LLVM's own
// thread ends the process when it cannot be created.
#include "jit/compile/large_stack.h"

#include <csignal>
#include <exception>
#include <pthread.h>
#include <system_error>

#include "base/float_environment.h"
#include "jit/compile/fork_guard.h"

namespace nereid::jit {
namespace {

thread_local bool has_large_stack = false;

struct Job {
  llvm::function_ref<void()> work;
  std::exception_ptr thrown;
};

void *run_job(void *argument) {
  auto &job = *static_cast<Job *>(argument);
  has_large_stack = true;
  const FloatEnvironment environment;
  try {
    job.work();
  } catch (...) {
    job.thrown = std::current_exception();
  }
  return nullptr;
}

/// While it lives, threads that are created here take no signals of the process, which its own threads go on
/// to handle. Those by which a thread learns of its own faults stay open.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
      sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before_;
};

/// 0, or the code of the system's error.
int start(pthread_t &thread, size_t stack_bytes, Job &job) {
  pthread_attr_t attributes;
  if (const int failed = pthread_attr_init(&attributes))
    return failed;
  int failed = pthread_attr_setstacksize(&attributes, stack_bytes);
  if (!failed) {
    const BlockedSignals blocked;
    failed = pthread_create(&thread, &attributes, run_job, &job);
  }
  pthread_attr_destroy(&attributes);
  return failed;
}

} // namespace

Status run_on_large_stack(llvm::function_ref<void()> work, size_t bytes) {
  if (has_large_stack) {
    work();
    return {};
  }
  NEREID_CHECK(check_not_forked_while_building());
  const Building building;
  Job job{work, nullptr};
  pthread_t thread;
  if (const int failed = start(thread, bytes, job))
    return environment_error("cannot create a thread with a stack of " + std::to_string(bytes) +
                                 " bytes to compile on: " + std::generic_category().message(failed),
                             "Raise the limits on threads and memory (ulimit -u, ulimit -v)");
  pthread_join(thread, nullptr);
  if (job.thrown)
    std::rethrow_exception(job.thrown);
  return {};
}

} // namespace nereid::jit
