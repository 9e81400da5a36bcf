// The words that a time of a few workgroups is to be read with.

#include "sim/launch/launch_time.h"

#include <fmt/format.h>

namespace nereid::sim {

std::string LaunchTime::note() const {
  if (executed_workgroups == workgroups)
    return "";
  const std::string sample = fmt::format("timed from {} of {} workgroups, as if the others were like them",
                                         executed_workgroups, workgroups);
  return looks_uneven ? sample + "; but the launch looks uneven: workgroups differ, and the time may be far "
                                 "off. Execute all (\"timing\": true, Timing::On)"
                      : sample;
}

} // namespace nereid::sim
