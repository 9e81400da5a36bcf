#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::jit {

struct WorkerOptions {
  unsigned workers = 0; ///< processes at a time; 0: one a core
  double seconds = 60;  ///< that one job may take
};

/// What came of a job.
struct WorkerOutcome {
  std::optional<Error> not_started; ///< Environment: there is no process to be had
  bool late = false;                ///< its seconds were over, and it was killed
  int status = 0;                   ///< of the process, as waitpid has it
  std::string bytes;                ///< what the job gave, as far as it was sent
};

/// The bytes that a job gives.
using WorkerJob = std::function<std::string()>;

/// Runs each job in a process of its own, forked from this thread. What a job gives comes back through a
/// pipe. A job that crashes, exits, or takes longer than its seconds costs only its own outcome. `finished`
/// is called on this thread after each.
///
/// A forked process has this thread alone: a lock that another thread of this process holds at that moment is
/// never released there, and a job that wants it ends at its seconds.
std::vector<WorkerOutcome> run_in_processes(std::span<const WorkerJob> jobs, const WorkerOptions &options,
                                            const std::function<void()> &finished = {});

/// "signal 11 (Segmentation fault)" or "exit code 1".
std::string text_of_status(int status);

} // namespace nereid::jit
