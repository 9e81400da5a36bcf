#pragma once

#include "hip_sim/runtime.h"

namespace nereid::hip_sim {

/// Memory of a device; a null pointer for no bytes. Error: out of memory.
hipError_t allocate(Runtime &hip, Device &device, size_t bytes, unsigned flags, Pool *pool, void **pointer);
/// Waits for all devices and frees what starts at `pointer`, memory of a device (managed memory, too) or of
/// the host. Error: it is none.
hipError_t free_allocation(Runtime &hip, Lock &lock, void *pointer, bool of_device);

} // namespace nereid::hip_sim
