// Lines on a terminal that say how far something is.
#include "base/progress.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/log.h"

namespace nereid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds interval{250}; ///< between two drawings
constexpr std::string_view clear_line = "\r\x1b[K";

std::atomic<bool> silent = false;
std::atomic<std::chrono::milliseconds> usual_delay{std::chrono::milliseconds(1000)};
std::mutex drawing;    // of what follows, and of the terminal
bool is_drawn = false; ///< a line stands there

bool is_wanted() { return !silent && isatty(STDERR_FILENO) != 0 && log_level() != LogLevel::None; }

/// Without stdio, whose locks another process may have been forked with.
void write_text(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void draw(const std::string &line, Clock::time_point start) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
  const std::lock_guard lock(drawing);
  write_text(std::string(clear_line) + line + ", " + std::to_string(seconds) + " s");
  is_drawn = true;
}

} // namespace

std::string progress_bar(uint64_t done, uint64_t of) {
  constexpr uint64_t width = 30;
  const auto filled =
      static_cast<size_t>(static_cast<double>(std::min(done, of)) / static_cast<double>(of) * width);
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

std::chrono::milliseconds progress_delay() { return usual_delay; }
void set_progress_delay(std::chrono::milliseconds delay) { usual_delay = delay; }

void silence_progress() { silent = true; }

void clear_progress() {
  if (silent) // and its lock may be held by a thread that is not here
    return;
  const std::lock_guard lock(drawing);
  if (is_drawn)
    write_text(clear_line);
  is_drawn = false;
}

ProgressLine::ProgressLine(std::string what, uint64_t of, std::chrono::milliseconds delay)
    : what_(std::move(what)), of_(std::max<uint64_t>(of, 1)), start_(Clock::now()),
      next_(is_wanted() ? start_ + delay : Clock::time_point::max()) {}

ProgressLine::~ProgressLine() {
  if (next_.load() != Clock::time_point::max())
    clear_progress();
}

void ProgressLine::advance() {
  const uint64_t done = ++done_;
  Clock::time_point next = next_.load();
  if (next == Clock::time_point::max() || Clock::now() < next ||
      !next_.compare_exchange_strong(next, Clock::now() + interval))
    return;
  draw(progress_bar(done, of_) + " " + std::to_string(done) + "/" + std::to_string(of_) + " " + what_,
       start_);
}

ProgressClock::ProgressClock(std::string what, std::chrono::milliseconds delay)
    : what_(std::move(what)), start_(Clock::now()) {
  if (!is_wanted())
    return;
  try {
    thread_ = std::thread([this, delay] { run(delay); });
  } catch (const std::system_error &) {
    // Where the system has no more threads there is no line.
  }
}

ProgressClock::~ProgressClock() {
  if (!thread_.joinable())
    return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
  clear_progress();
}

void ProgressClock::run(std::chrono::milliseconds delay) {
  std::unique_lock lock(mutex_);
  for (auto wait = delay; !ended_.wait_for(lock, wait, [this] { return over_; }); wait = interval)
    draw(what_, start_);
}

} // namespace nereid
