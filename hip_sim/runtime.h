#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hip_sim/device.h"
#include "hip_sim/executor.h"
#include "hip_sim/graph.h"
#include "hip_sim/handles.h"
#include "hip_sim/options.h"
#include "hip_sim/stream.h"
#include "sim/memory.h"

namespace nereid::hip_sim {

struct Capture;

/// Addresses of devices. The runtime reserves them on the host, so that every pointer says whose it is, and a
/// host that follows one of a device faults. Between what Linux gives programs and what sanitizers take, and
/// below 2^47: buffer instructions extend the sign of a base of 48 bits.
inline constexpr sim::AddressRange device_addresses = {uint64_t{1} << 45, uint64_t{1} << 46};
inline bool is_device_address(const void *pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  return address >= device_addresses.first && address < device_addresses.end;
}

/// What a pointer of the library leads to.
struct Allocation {
  uint64_t address = 0;
  size_t size = 0;
  hipMemoryType type = hipMemoryTypeDevice;
  int device = 0;
  unsigned flags = 0;
  bool registered = false; ///< host memory that is the program's own
  Pool *pool = nullptr;    ///< that it came from
};

/// Everything the library knows. One a process, made by the first call and never destroyed, so that calls
/// while the process ends find it.
struct Runtime {
  explicit Runtime(Options options);

  std::mutex mutex; ///< of all below, and of what the handles lead to; not of `memory`, which has its own
  const Options options;
  bool launches; ///< false: launches do nothing
  sim::Memory memory;
  std::vector<std::unique_ptr<Device>> devices;
  Executor executor;
  std::string fault_text; ///< of the last fault
  std::map<uint64_t, Allocation> allocations;
  Handles<Stream> streams; ///< that programs made
  Handles<Event> events;
  Handles<Module> modules;
  Handles<const Function> functions;
  Handles<Graph> graphs;
  Handles<GraphExec> execs;
  Handles<Pool> pools;
  std::vector<std::shared_ptr<Capture>> captures; ///< that are going on
  uint64_t next_capture = 1;

  /// The allocation that holds an address, or null.
  Allocation *allocation_of(const void *pointer);
  /// Takes an allocation out of the books and releases what it holds.
  void release(uint64_t address);
};

/// The runtime, or why the environment does not let it begin.
Result<Runtime *> &runtime();

/// The device of this thread.
Device &current_device(Runtime &runtime);
/// Null when there is no device of that number.
Device *device_at(Runtime &runtime, int index);

} // namespace nereid::hip_sim
