#pragma once

#include <string_view>

namespace nereid {

/// What Nereid says on stderr: what goes wrong without ending a call, and what explains how long one takes.
enum class LogLevel { None, Warning, Info };

/// Of NEREID_LOG: "none", "warnings" (when not set), "info". Another value counts as "warnings", which a
/// warning says once a process.
LogLevel log_level();

/// A line on stderr, "nereid: warning: TEXT" or "nereid: TEXT", where NEREID_LOG asks for lines of this
/// level. The word "warning" has a colour on a terminal unless NO_COLOR is set and not empty.
void log(LogLevel level, std::string_view text);

} // namespace nereid
