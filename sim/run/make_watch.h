#pragma once

#include <memory>

#include "sim/state/watch.h"

namespace nereid::sim {

/// What watches the workgroups of one host thread: the checks and the observer of the launch. Null when there
/// are none.
std::unique_ptr<Watch> make_watch(LaunchState &state);

} // namespace nereid::sim
