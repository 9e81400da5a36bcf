// A progress bar for people, lines for logs.
#include "tools/progress.h"

#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "base/progress.h"

namespace nereid::tools {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}
Progress::~Progress() { clear(); }

void Progress::show(const std::string &step, size_t done, size_t of) {
  if (!terminal_ || of == 0)
    return;
  fmt::print(stderr, "\r\x1b[K{} {}/{} {}", progress_bar(done, of), done, of, step);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::finish(const std::string &step, const std::string &result) {
  clear();
  fmt::print(stderr, "{}: {}\n", step, result);
}

void Progress::clear() {
  if (drawn_)
    fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

} // namespace nereid::tools
