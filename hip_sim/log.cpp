// What the library says on stderr.
#include "hip_sim/log.h"

#include <cstdio>

namespace nereid::hip_sim {

void log(LogLevel wanted, LogLevel level, const std::string &text) {
  if (wanted >= level)
    std::fprintf(stderr, "nereid_hip: %s\n", text.c_str());
}

} // namespace nereid::hip_sim
