#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "jit/compile/jit_times.h"
#include "jit/compile/resources.h"

namespace nereid {

class CompiledKernel;

/// Programs of a launch in x, y and z: at most 2^31 - 1 in x and 2^16 - 1 in y and z, as HIP has it.
struct Grid {
  static constexpr uint32_t max_x = (uint32_t{1} << 31) - 1;
  static constexpr uint32_t max_y_or_z = (uint32_t{1} << 16) - 1;

  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  uint64_t count() const { return uint64_t{x} * y * z; }
  /// Error (User) when no launch can have this grid.
  Status check() const;
  bool operator==(const Grid &) const = default;
};

/// Instructions of waves that a device counted, summed over all waves; a load to LDS counts as vmem_load.
struct InstructionCounts {
  uint64_t total = 0;
  uint64_t mfma = 0;
  uint64_t valu = 0;
  uint64_t salu = 0;
  uint64_t smem = 0;
  uint64_t lds = 0;
  uint64_t vmem_load = 0;
  uint64_t vmem_store = 0;
  uint64_t vmem_atomic = 0;
  uint64_t barrier = 0;
  uint64_t waitcnt = 0;
  uint64_t branch = 0;
  uint64_t other = 0;
  uint64_t longest_wave = 0; ///< the most instructions that one wave executed; no part of the sums
};

struct LaunchOptions {
  /// Run the kernel's IR on the host in place of its code; unset: as NEREID_INTERPRET says.
  std::optional<bool> interpret;
};

/// What one launch was and did. On the simulator and in the interpreter the launch is over when this exists;
/// on a GPU it is queued in its stream.
struct LaunchInfo {
  std::shared_ptr<const CompiledKernel> compiled;
  Grid grid;
  JitTimes jit;
  CacheLevel cache = CacheLevel::None;
  std::optional<InstructionCounts> instructions; ///< when the device counts them
  double wall_ms = 0;                            ///< of the launch alone, on the host's clock
  bool interpreted = false;

  std::string_view kernel() const;
  std::string_view config() const;       ///< "block=1024,waves=4"
  std::array<uint32_t, 3> block() const; ///< work-items of a workgroup: 64 times the waves, 1, 1
  const Resources &resources() const;    ///< all zero when interpreted
};

} // namespace nereid
