#pragma once

#include "sim/state/memory_access.h"

namespace nereid::sim::timing {

/// Clocks for which an access occupies the banks of the LDS: a phase of lanes takes as many as one bank has
/// different rows to give. Banks and phases as measured on MI350X and MI355X (HazyResearch, HipKittens; AMD,
/// shark-ai, optimization guide).
unsigned lds_clocks(const MemoryAccess &access);

/// Banks of a word over which such an access is served: the LDS has 64, of which some accesses see 32.
unsigned lds_banks(const MemoryAccess &access);

} // namespace nereid::sim::timing
