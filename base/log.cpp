// Lines on stderr, of the levels that NEREID_LOG asks for.
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "base/progress.h"

namespace nereid {
namespace {

bool stderr_has_colours() {
  const char *no_colour = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && !(no_colour && *no_colour);
}

/// In one piece, so that lines of several threads do not mix.
void write_line(LogLevel level, std::string_view text) {
  std::string line = "nereid: ";
  if (level == LogLevel::Warning)
    line += stderr_has_colours() ? "\x1b[33mwarning\x1b[0m: " : "warning: ";
  line.append(text).append("\n");
  clear_progress();
  std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace

LogLevel log_level() {
  const char *variable = std::getenv("NEREID_LOG");
  const std::string_view value = variable ? variable : "warnings";
  if (value == "none")
    return LogLevel::None;
  if (value == "info")
    return LogLevel::Info;
  static std::atomic<bool> said = false;
  if (value != "warnings" && !said.exchange(true))
    write_line(LogLevel::Warning,
               "NEREID_LOG is '" + std::string(value) + "': it is none, warnings (taken here) or info");
  return LogLevel::Warning;
}

void log(LogLevel level, std::string_view text) {
  if (level != LogLevel::None && log_level() >= level)
    write_line(level, text);
}

} // namespace nereid
