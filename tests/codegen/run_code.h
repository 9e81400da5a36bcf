#pragma once

#include <span>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {

/// Runs the kernel of a code object on the simulator, with workgroups of so many waves. A fault is an error.
Result<Outcome> run_code(std::span<const uint8_t> code_object, int waves, Grid grid,
                         const std::vector<Argument> &arguments, const sim::Checks &checks);

} // namespace nereid::codegen::testing
