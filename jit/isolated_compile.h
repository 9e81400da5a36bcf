#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "jit/compile/compiler.h"

namespace nereid::jit {

/// Seconds that a compile may take, of NEREID_COMPILE_TIMEOUT; nothing where that is not set, and compiles
/// run in this process. Error (User): it is no positive number.
Result<std::optional<double>> compile_timeout();

/// Calls `compile` in a process of its own and adds the milliseconds there to `times`. Errors: those of the
/// compile; it takes longer than `seconds` (User); it crashes or exits (Nereid); there is no process to be
/// had (Environment). Threads of this process may be in it at once, each with its process; other threads
/// should not compile in this process meanwhile, whose locks a copy of it would find taken.
Result<Binary> compile_isolated(const std::string &kernel, double seconds,
                                const std::function<Result<Binary>(JitTimes &)> &compile, JitTimes &times);

} // namespace nereid::jit
