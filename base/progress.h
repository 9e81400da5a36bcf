#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace nereid {

/// "[######........................]" for `done` of `of` steps, `of` at least 1.
std::string progress_bar(uint64_t done, uint64_t of);

/// After how long a line appears: a second. Tests, which wait for no such thing, set another.
std::chrono::milliseconds progress_delay();
void set_progress_delay(std::chrono::milliseconds delay);

/// A line for people who wait: what goes on, how far it is, and for how long. It stands on stderr where that
/// is a terminal and NEREID_LOG is not "none", after `delay`, and is gone when this is. Elsewhere nothing is
/// written.
class ProgressLine {
public:
  /// `what` says what goes on ("simulating kernel 'add'"), `of` is the number of steps.
  ProgressLine(std::string what, uint64_t of, std::chrono::milliseconds delay = progress_delay());
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// A step is over; any thread may say so. The line is drawn four times a second at most.
  void advance();

private:
  const std::string what_;
  const uint64_t of_;
  const std::chrono::steady_clock::time_point start_;
  std::atomic<uint64_t> done_{0};
  std::atomic<std::chrono::steady_clock::time_point> next_; ///< when it is drawn; the largest: never
};

/// The same of what has no steps: a thread draws the line, with the seconds so far.
class ProgressClock {
public:
  explicit ProgressClock(std::string what, std::chrono::milliseconds delay = progress_delay());
  ~ProgressClock();
  ProgressClock(const ProgressClock &) = delete;
  ProgressClock &operator=(const ProgressClock &) = delete;

private:
  void run(std::chrono::milliseconds delay);

  const std::string what_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

/// From now on this process draws no lines: of one that was forked, whose parent speaks for it.
void silence_progress();

/// Removes the line that stands on stderr, if one does: before something else is written there.
void clear_progress();

} // namespace nereid
