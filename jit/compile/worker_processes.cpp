// Processes that compile: forked, read through pipes, killed when their time is over.
//
// A compile is a function of the user's, which only a copy of this process can call: hence fork and not a
// program of its own. What the copy does is call that function and write to the pipe, then end without a word
// to anything that it shares with its parent (no exit handlers, no buffers of stdio).
#include "jit/compile/worker_processes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/progress.h"

namespace nereid::jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double max_seconds = 1e6; // a clock counts no more than some 300 years

struct Worker {
  size_t job;
  pid_t process;
  int pipe;
  Clock::time_point deadline;
  std::string received;
};

void write_all(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(pipe, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return;
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
}

/// A worker ends with its parent, leaves no core file, is the first to go when memory runs out, and does not
/// run handlers that the program has for its own crashes.
void settle_in(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    write_all(file, "1000");
    close(file);
  }
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGTERM, SIGINT, SIGALRM})
    std::signal(signal, SIG_DFL);
  sigset_t nothing;
  sigemptyset(&nothing);
  sigprocmask(SIG_SETMASK, &nothing, nullptr);
}

[[noreturn]] void run_worker(const WorkerJob &job, int pipe, pid_t parent) {
  settle_in(parent);
  write_all(pipe, job());
  _exit(0);
}

Error cannot_start(const char *what) {
  return environment_error(fmt::format("cannot start a process to compile in: {}: {}", what, strerror(errno)),
                           "Raise the limits on processes and open files (ulimit -u, ulimit -n)");
}

Result<Worker> start(size_t number, const WorkerJob &job, Clock::duration time) {
  // A worker that had another one's end of a pipe would keep that pipe open.
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return cannot_start("pipe");
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) {
    Error error = cannot_start("fork");
    close(ends[0]);
    close(ends[1]);
    return error;
  }
  if (process == 0) {
    lock.unlock();
    silence_progress();
    close(ends[0]);
    run_worker(job, ends[1], parent);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Worker{number, process, ends[0], Clock::now() + time, {}};
}

/// Takes what the pipe holds; true when its other end is closed.
bool read_some(Worker &worker) {
  char bytes[1 << 16];
  for (;;) {
    const ssize_t count = read(worker.pipe, bytes, sizeof(bytes));
    if (count > 0)
      worker.received.append(bytes, static_cast<size_t>(count));
    else if (count == 0)
      return true;
    else if (errno != EINTR)
      return errno != EAGAIN;
  }
}

/// Ends a worker for good; its status, 0 when someone else has taken it.
int end(const Worker &worker) {
  kill(worker.process, SIGKILL);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0) {
    if (errno != EINTR) {
      status = 0;
      break;
    }
  }
  close(worker.pipe);
  return status;
}

/// Waits until a pipe has something or the first worker's time is over.
void wait(const std::list<Worker> &running) {
  std::vector<pollfd> pipes;
  Clock::time_point first = Clock::time_point::max();
  for (const Worker &worker : running) {
    pipes.push_back({worker.pipe, POLLIN, 0});
    first = std::min(first, worker.deadline);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
  poll(pipes.data(), pipes.size(), static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
}

} // namespace

std::vector<WorkerOutcome> run_in_processes(std::span<const WorkerJob> jobs, const WorkerOptions &options,
                                            const std::function<void()> &finished) {
  const size_t workers =
      options.workers ? options.workers : std::max(1u, std::thread::hardware_concurrency());
  const auto time = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      std::isfinite(options.seconds) ? std::clamp(options.seconds, 0.0, max_seconds) : max_seconds));
  std::vector<WorkerOutcome> outcomes(jobs.size());
  std::list<Worker> running;
  const auto finish = [&](size_t job, WorkerOutcome outcome) {
    outcomes[job] = std::move(outcome);
    if (finished)
      finished();
  };
  for (size_t next = 0; next < jobs.size() || !running.empty();) {
    while (next < jobs.size() && running.size() < workers) {
      if (Result<Worker> worker = start(next, jobs[next], time))
        running.push_back(std::move(*worker));
      else
        finish(next, {.not_started = worker.error()});
      ++next;
    }
    if (!running.empty())
      wait(running);
    for (auto worker = running.begin(); worker != running.end();) {
      const bool closed = read_some(*worker);
      const bool late = !closed && Clock::now() >= worker->deadline;
      if (closed || late) {
        const int status = end(*worker);
        finish(worker->job, {std::nullopt, late, status, std::move(worker->received)});
        worker = running.erase(worker);
      } else {
        ++worker;
      }
    }
  }
  return outcomes;
}

std::string text_of_status(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

} // namespace nereid::jit
