#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "jit/tune/compile_function.h"

namespace nereid {

/// How much compile_all does at a time, and how long.
struct CompileAllOptions {
  unsigned workers = 0; ///< processes at a time; 0: one a core
  double seconds = 60;  ///< that one compile may take
};

/// Compiles several kernels at once, each in a process of its own, forked from this thread, with a simulator
/// as its device, so that no GPU is touched there; then loads what they gave into `device`. What a compile
/// does wrong costs only its own result. `finished` is called on this thread after each.
///
///     const auto compiled = compile_all(functions, device, {.seconds = 10});
///
/// Errors: those of the compile; it throws, crashes, exits, or takes longer than its seconds, or gives no or
/// a null kernel, or the seconds are NaN (User); there is no process to be had (Environment).
///
/// A forked process has this thread alone: a lock that another thread holds at that moment is never released
/// there, and a compile that wants it ends at its seconds. So other threads should neither compile nor launch
/// meanwhile.
std::vector<Result<CompiledKernels>> compile_all(std::span<const CompileFunction> functions,
                                                 const Device &device, const CompileAllOptions &options = {},
                                                 const std::function<void()> &finished = {});

} // namespace nereid
