#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "jit/cache/precompiled.h"
#include "jit/tune/compile_function.h"

namespace nereid::jit {

struct WorkerOptions {
  unsigned workers = 0; ///< processes at a time; 0: one a core
  double seconds = 60;  ///< that one job may take
};

/// Runs each job in a process of its own, forked from this thread, with a simulator as its device, so that no
/// GPU is touched there. What a job compiled comes back through a pipe. A job that crashes, exits, or takes
/// longer than its seconds costs only its own result, an error of the user. `finished` is called on this
/// thread after each.
///
/// A forked process has this thread alone: a lock that another thread of this process holds at that moment is
/// never released there, and a job that wants it ends at its seconds. So other threads should neither compile
/// nor launch meanwhile.
std::vector<Result<BinariesByKey>> compile_in_workers(std::span<const CompileFunction> jobs,
                                                      const WorkerOptions &options,
                                                      const std::function<void()> &finished = {});

} // namespace nereid::jit
