// What a device says of itself: an MI355X (AMD's data sheet; LLVM for the limits of a launch).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "hip_sim/entry.h"
#include "sim/state/isa_limits.h"

namespace nereid::hip_sim {
namespace {

constexpr char device_name[] = "AMD Instinct MI355X (Nereid's simulator)";
constexpr char architecture[] = "gfx950:sramecc+:xnack-";
constexpr int clock_khz = 2400000;
constexpr int memory_clock_khz = 2000000; // 8 TB/s over 8192 bits, four transfers a clock
constexpr int memory_bus_bits = 8192;
constexpr int compute_units = 256;
constexpr int wall_clock_khz = 100000;
constexpr int l2_bytes = 4 << 20;
constexpr int registers = 65536;
constexpr int unit_items = 2048;
constexpr int grid_x = std::numeric_limits<int>::max();
constexpr int grid_yz = 65536;
constexpr int block_items = static_cast<int>(sim::max_work_items);
constexpr int lds_bytes = static_cast<int>(sim::max_lds);
constexpr int pitch_bytes = std::numeric_limits<int>::max();

int pci_bus(int device) { return 16 * (device + 1); }

hipDeviceProp_tR0600 properties_of(const Runtime &hip, int device) {
  hipDeviceProp_tR0600 p{};
  std::memcpy(p.name, device_name, sizeof device_name);
  std::snprintf(p.uuid, sizeof p.uuid, "GPU-sim-%02d", device);
  p.totalGlobalMem = hip.options.memory;
  p.sharedMemPerBlock = p.sharedMemPerMultiprocessor = p.maxSharedMemoryPerMultiProcessor = sim::max_lds;
  p.regsPerBlock = p.regsPerMultiprocessor = registers;
  p.warpSize = static_cast<int>(sim::lane_count);
  p.memPitch = pitch_bytes;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = p.maxThreadsDim[2] = block_items;
  p.maxGridSize[0] = grid_x;
  p.maxGridSize[1] = p.maxGridSize[2] = grid_yz;
  p.clockRate = clock_khz;
  p.totalConstMem = static_cast<size_t>(std::numeric_limits<int>::max());
  p.major = 9;
  p.minor = 5;
  p.textureAlignment = p.texturePitchAlignment = 256;
  p.multiProcessorCount = compute_units;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.ECCEnabled = 1;
  p.pciBusID = pci_bus(device);
  p.asyncEngineCount = 8;
  p.unifiedAddressing = 1;
  p.memoryClockRate = memory_clock_khz;
  p.memoryBusWidth = memory_bus_bits;
  p.l2CacheSize = l2_bytes;
  p.maxThreadsPerMultiProcessor = unit_items;
  p.streamPrioritiesSupported = 1;
  p.managedMemory = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.maxBlocksPerMultiProcessor = 2;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  std::memcpy(p.gcnArchName, architecture, sizeof architecture);
  p.clockInstructionRate = wall_clock_khz;
  p.arch = 0x1FFFF & ~(1u << 14 | 1u << 16); // all features but surfaces and dynamic parallelism
  return p;
}

/// hipDeviceAttribute_t to its value.
struct AttributeValue {
  int attribute;
  int (*value)(const hipDeviceProp_tR0600 &);
};
#define NEREID_ATTRIBUTE(number, expression)                                                                 \
  {number, [](const hipDeviceProp_tR0600 &p) { return static_cast<int>(p.expression); }}
constexpr AttributeValue attribute_values[] = {
    NEREID_ATTRIBUTE(0, ECCEnabled),
    NEREID_ATTRIBUTE(2, asyncEngineCount),
    NEREID_ATTRIBUTE(3, canMapHostMemory),
    NEREID_ATTRIBUTE(4, canUseHostPointerForRegisteredMem),
    NEREID_ATTRIBUTE(5, clockRate),
    NEREID_ATTRIBUTE(6, computeMode),
    NEREID_ATTRIBUTE(8, concurrentKernels),
    NEREID_ATTRIBUTE(9, concurrentManagedAccess),
    NEREID_ATTRIBUTE(10, cooperativeLaunch),
    NEREID_ATTRIBUTE(11, cooperativeMultiDeviceLaunch),
    NEREID_ATTRIBUTE(12, deviceOverlap),
    NEREID_ATTRIBUTE(13, directManagedMemAccessFromHost),
    NEREID_ATTRIBUTE(16, integrated),
    NEREID_ATTRIBUTE(18, kernelExecTimeoutEnabled),
    NEREID_ATTRIBUTE(19, l2CacheSize),
    NEREID_ATTRIBUTE(23, major),
    NEREID_ATTRIBUTE(24, managedMemory),
    NEREID_ATTRIBUTE(25, maxBlocksPerMultiProcessor),
    NEREID_ATTRIBUTE(26, maxThreadsDim[0]),
    NEREID_ATTRIBUTE(27, maxThreadsDim[1]),
    NEREID_ATTRIBUTE(28, maxThreadsDim[2]),
    NEREID_ATTRIBUTE(29, maxGridSize[0]),
    NEREID_ATTRIBUTE(30, maxGridSize[1]),
    NEREID_ATTRIBUTE(31, maxGridSize[2]),
    NEREID_ATTRIBUTE(56, maxThreadsPerBlock),
    NEREID_ATTRIBUTE(57, maxThreadsPerMultiProcessor),
    NEREID_ATTRIBUTE(58, memPitch),
    NEREID_ATTRIBUTE(59, memoryBusWidth),
    NEREID_ATTRIBUTE(60, memoryClockRate),
    NEREID_ATTRIBUTE(61, minor),
    NEREID_ATTRIBUTE(63, multiProcessorCount),
    NEREID_ATTRIBUTE(65, pageableMemoryAccess),
    NEREID_ATTRIBUTE(67, pciBusID),
    NEREID_ATTRIBUTE(68, pciDeviceID),
    NEREID_ATTRIBUTE(69, pciDomainID),
    NEREID_ATTRIBUTE(71, regsPerBlock),
    NEREID_ATTRIBUTE(72, regsPerMultiprocessor),
    NEREID_ATTRIBUTE(73, reservedSharedMemPerBlock),
    NEREID_ATTRIBUTE(74, sharedMemPerBlock),
    NEREID_ATTRIBUTE(75, sharedMemPerBlock),
    NEREID_ATTRIBUTE(76, sharedMemPerMultiprocessor),
    NEREID_ATTRIBUTE(78, streamPrioritiesSupported),
    NEREID_ATTRIBUTE(81, textureAlignment),
    NEREID_ATTRIBUTE(83, totalConstMem),
    NEREID_ATTRIBUTE(85, unifiedAddressing),
    NEREID_ATTRIBUTE(87, warpSize),
    NEREID_ATTRIBUTE(88, memoryPoolsSupported),
    NEREID_ATTRIBUTE(90, hostRegisterSupported),
    NEREID_ATTRIBUTE(10000, clockInstructionRate),
    NEREID_ATTRIBUTE(10002, maxSharedMemoryPerMultiProcessor),
    NEREID_ATTRIBUTE(10011, isLargeBar),
    NEREID_ATTRIBUTE(10012, asicRevision),
    NEREID_ATTRIBUTE(10015, multiProcessorCount),
    NEREID_ATTRIBUTE(10017, clockInstructionRate),
    // HIP says this in an int: what is more becomes its largest value.
    {84,
     [](const hipDeviceProp_tR0600 &p) {
       return static_cast<int>(std::min<size_t>(p.totalGlobalMem, std::numeric_limits<int>::max()));
     }},
};
#undef NEREID_ATTRIBUTE

/// The body of an entry point on a device by number: `body(runtime, properties)`.
template <class Body> hipError_t call_on_device(Entry entry, int device, Body body) {
  return call(entry, [&](Runtime &hip, Lock &) {
    return device_at(hip, device) ? body(hip, properties_of(hip, device)) : hipErrorInvalidDevice;
  });
}

hipError_t old_properties(Entry entry, hipDeviceProp_tR0000 *properties, int device) {
  return call_on_device(entry, device, [&](Runtime &, const hipDeviceProp_tR0600 &p) {
    if (!properties)
      return hipErrorInvalidValue;
    hipDeviceProp_tR0000 old{};
    std::memcpy(old.name, p.name, sizeof old.name);
    std::memcpy(old.gcnArchName, p.gcnArchName, sizeof old.gcnArchName);
    std::memcpy(old.maxThreadsDim, p.maxThreadsDim, sizeof old.maxThreadsDim);
    std::memcpy(old.maxGridSize, p.maxGridSize, sizeof old.maxGridSize);
#define NEREID_SAME(member) old.member = p.member
    NEREID_SAME(totalGlobalMem);
    NEREID_SAME(sharedMemPerBlock);
    NEREID_SAME(regsPerBlock);
    NEREID_SAME(warpSize);
    NEREID_SAME(maxThreadsPerBlock);
    NEREID_SAME(clockRate);
    NEREID_SAME(memoryClockRate);
    NEREID_SAME(memoryBusWidth);
    NEREID_SAME(totalConstMem);
    NEREID_SAME(major);
    NEREID_SAME(minor);
    NEREID_SAME(multiProcessorCount);
    NEREID_SAME(l2CacheSize);
    NEREID_SAME(maxThreadsPerMultiProcessor);
    NEREID_SAME(clockInstructionRate);
    NEREID_SAME(arch);
    NEREID_SAME(concurrentKernels);
    NEREID_SAME(pciBusID);
    NEREID_SAME(maxSharedMemoryPerMultiProcessor);
    NEREID_SAME(canMapHostMemory);
    NEREID_SAME(memPitch);
    NEREID_SAME(textureAlignment);
    NEREID_SAME(texturePitchAlignment);
    NEREID_SAME(ECCEnabled);
    NEREID_SAME(managedMemory);
#undef NEREID_SAME
    *properties = old;
    return hipSuccess;
  });
}

hipError_t text_into(char *to, int size, const char *text) {
  if (!to || size <= 0)
    return hipErrorInvalidValue;
  std::snprintf(to, static_cast<size_t>(size), "%s", text);
  return hipSuccess;
}

} // namespace

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device) {
  return call_on_device(Entry::hipGetDevicePropertiesR0600, device,
                        [&](Runtime &, const hipDeviceProp_tR0600 &p) {
                          if (!properties)
                            return hipErrorInvalidValue;
                          *properties = p;
                          return hipSuccess;
                        });
}

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *properties, int device) {
  return old_properties(Entry::hipGetDevicePropertiesR0000, properties, device);
}
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *properties, int device) {
  return old_properties(Entry::hipGetDeviceProperties, properties, device);
}

hipError_t hipDeviceGetAttribute(int *value, int attribute, int device) {
  return call_on_device(Entry::hipDeviceGetAttribute, device, [&](Runtime &, const hipDeviceProp_tR0600 &p) {
    if (!value)
      return hipErrorInvalidValue;
    for (const AttributeValue &known : attribute_values)
      if (known.attribute == attribute) {
        *value = known.value(p);
        return hipSuccess;
      }
    *value = 0;
    return hipErrorInvalidValue;
  });
}

hipError_t hipDeviceGetName(char *name, int size, int device) {
  return call_on_device(Entry::hipDeviceGetName, device, [&](Runtime &, const hipDeviceProp_tR0600 &p) {
    return text_into(name, size, p.name);
  });
}

hipError_t hipDeviceGetUuid(char *uuid, int device) {
  return call_on_device(Entry::hipDeviceGetUuid, device, [&](Runtime &, const hipDeviceProp_tR0600 &p) {
    if (!uuid)
      return hipErrorInvalidValue;
    std::memcpy(uuid, p.uuid, sizeof p.uuid);
    return hipSuccess;
  });
}

hipError_t hipDeviceGetPCIBusId(char *id, int size, int device) {
  return call_on_device(Entry::hipDeviceGetPCIBusId, device, [&](Runtime &, const hipDeviceProp_tR0600 &p) {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", static_cast<unsigned>(p.pciDomainID),
                  static_cast<unsigned>(p.pciBusID), static_cast<unsigned>(p.pciDeviceID));
    return text_into(id, size, text);
  });
}

hipError_t hipDeviceTotalMem(size_t *bytes, int device) {
  return call_on_device(Entry::hipDeviceTotalMem, device, [&](Runtime &, const hipDeviceProp_tR0600 &p) {
    if (!bytes)
      return hipErrorInvalidValue;
    *bytes = p.totalGlobalMem;
    return hipSuccess;
  });
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, int device) {
  return call_on_device(Entry::hipDeviceComputeCapability, device,
                        [&](Runtime &, const hipDeviceProp_tR0600 &p) {
                          if (!major || !minor)
                            return hipErrorInvalidValue;
                          *major = p.major;
                          *minor = p.minor;
                          return hipSuccess;
                        });
}

hipError_t hipDeviceGetLimit(size_t *value, int limit) {
  return call(Entry::hipDeviceGetLimit, [&](Runtime &, Lock &) {
    constexpr int stack_size = 0, malloc_heap_size = 2;
    if (!value)
      return hipErrorInvalidValue;
    if (limit != stack_size && limit != malloc_heap_size)
      return hipErrorUnsupportedLimit;
    *value = limit == stack_size ? 1024 : 0;
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
