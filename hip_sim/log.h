#pragma once

#include <string>

#include "hip_sim/options.h"

namespace nereid::hip_sim {

/// A line on stderr when the environment asks for lines of this level.
void log(LogLevel wanted, LogLevel level, const std::string &text);

} // namespace nereid::hip_sim
