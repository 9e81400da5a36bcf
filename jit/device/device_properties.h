#pragma once

#include <cstdint>
#include <string>

namespace nereid {

/// What a device has. Of the simulator: what a MI355X has.
struct DeviceProperties {
  std::string architecture;      ///< "gfx950:sramecc+:xnack-"
  unsigned compute_units = 0;    ///< of all XCDs
  unsigned wave_size = 0;        ///< lanes
  uint64_t lds_bytes = 0;        ///< that a workgroup can have
  uint64_t memory_bytes = 0;     ///< of the whole device
  unsigned clock_mhz = 0;        ///< of the compute units, at most
  unsigned memory_clock_mhz = 0; ///< 0: not known
};

/// The memory behind Stream::allocate.
struct PoolUse {
  uint64_t reserved = 0; ///< bytes that the pool holds of the device
  uint64_t used = 0;     ///< bytes of them that buffers have
};

} // namespace nereid
