#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hip_sim/hip.h"

namespace nereid::hip_sim {

struct Runtime;

/// A launch of a kernel.
struct KernelWork {
  std::shared_ptr<const Function> function;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t dynamic_lds = 0;
  std::vector<std::byte> arguments; ///< the explicit ones as the metadata lays them out
};

/// A copy of rows of bytes; each end in device or host memory.
struct CopyWork {
  void *to = nullptr;
  const void *from = nullptr;
  size_t width = 0, height = 1;
  size_t to_pitch = 0, from_pitch = 0;
  /// What pageable host memory held when the copy was queued; then it comes from here.
  std::shared_ptr<const std::vector<std::byte>> staged;
};

/// Writes a value of 1, 2 or 4 bytes again and again.
struct FillWork {
  void *to = nullptr;
  uint32_t value = 0;
  uint32_t element = 1;         ///< bytes
  size_t width = 0;             ///< elements
  size_t height = 1, pitch = 0; ///< rows, bytes from one to the next
};

/// A call of a host function.
struct HostWork {
  hipHostFn_t function = nullptr;
  hipStreamCallback_t callback = nullptr; ///< instead of `function`
  hipStream_t stream = nullptr;           ///< the callback's argument
  void *data = nullptr;
};

/// The end of an allocation that a stream orders.
struct FreeWork {
  void *pointer = nullptr;
};

/// What a stream does: monostate is a marker that only orders.
using Work = std::variant<std::monostate, KernelWork, CopyWork, FillWork, HostWork, FreeWork>;

/// What came of it.
struct Outcome {
  hipError_t error = hipSuccess; ///< after which the device is lost
  std::string text;              ///< of the error
  double us = 0;                 ///< simulated time, when launches are timed
};

/// Does it. Not under the runtime's lock.
Outcome perform(Runtime &runtime, const Work &work);

} // namespace nereid::hip_sim
