#pragma once

#include "inspect/report.h"

namespace nereid::inspect {

/// How many waves of workgroups of `waves` waves a SIMD holds, and what each resource would allow by itself.
/// `lds`: bytes a workgroup, dynamic ones included.
Occupancy occupancy_of(const CodeResources &resources, unsigned lds, unsigned waves);

} // namespace nereid::inspect
