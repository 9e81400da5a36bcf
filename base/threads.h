#pragma once

#include <functional>

namespace nereid {

/// Runs `work` on `count` threads, the caller's among them, and returns when all of them are done. Where the
/// system has no more threads to give there are fewer, at the least the caller's alone: each call of `work`
/// takes tasks until none is left. Threads compute in the default FloatEnvironment. The first exception of
/// `work` is thrown here.
void run_on_threads(unsigned count, const std::function<void()> &work);

} // namespace nereid
