#pragma once

#include <memory>

#include "sim/state/checker.h"

namespace nereid::sim {

/// The checkers of one host thread: those that the launch asks for, and its observer. Null when there
/// are none.
std::unique_ptr<Checker> make_checkers(LaunchState &state);

} // namespace nereid::sim
