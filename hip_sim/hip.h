#pragma once

// HIP's C interface as a program sees it: types, values and functions of HIP 7 on x86-64, as far as
// libnereid_hip.so serves them. Names are HIP's.

#include <cstddef>
#include <cstdint>

namespace nereid::hip_sim {

enum hipError_t : int {
// NOLINTNEXTLINE(bugprone-macro-parentheses): an enumerator takes none
#define NEREID_HIP_ERROR(name, value, text) name = value,
#include "hip_sim/errors.def"
};

// Handles. A program sees pointers that only the library follows.
struct Stream;
struct Event;
struct Module;
struct Function;
struct Graph;
struct Node;
struct GraphExec;
struct Pool;
struct Device;
using hipStream_t = Stream *;
using hipEvent_t = Event *;
using hipModule_t = Module *;
using hipFunction_t = const Function *;
using hipGraph_t = Graph *;
using hipGraphNode_t = Node *;
using hipGraphExec_t = GraphExec *;
using hipMemPool_t = Pool *;
using hipCtx_t = Device *;

/// Values of a hipStream_t that name the null stream and the calling thread's own stream.
inline constexpr uintptr_t hipStreamLegacy = 1;
inline constexpr uintptr_t hipStreamPerThread = 2;

inline constexpr unsigned hipStreamNonBlocking = 1;
inline constexpr unsigned hipEventBlockingSync = 1;
inline constexpr unsigned hipEventDisableTiming = 2;
inline constexpr unsigned hipEventInterprocess = 4;

/// Keys in the array `extra` of a launch.
inline constexpr uintptr_t HIP_LAUNCH_PARAM_BUFFER_POINTER = 1;
inline constexpr uintptr_t HIP_LAUNCH_PARAM_BUFFER_SIZE = 2;
inline constexpr uintptr_t HIP_LAUNCH_PARAM_END = 3;

enum hipMemcpyKind : int {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
};

enum hipMemoryType : int {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
};

enum hipStreamCaptureMode : int {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2,
};

enum hipStreamCaptureStatus : int {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
  hipStreamCaptureStatusInvalidated = 2,
};

enum hipGraphNodeType : int {
  hipGraphNodeTypeKernel = 0,
  hipGraphNodeTypeMemcpy = 1,
  hipGraphNodeTypeMemset = 2,
  hipGraphNodeTypeHost = 3,
  hipGraphNodeTypeEmpty = 5,
};

enum hipGraphExecUpdateResult : int {
  hipGraphExecUpdateSuccess = 0,
  hipGraphExecUpdateError = 1,
  hipGraphExecUpdateErrorTopologyChanged = 2,
  hipGraphExecUpdateErrorNodeTypeChanged = 3,
};

/// Attributes of a memory pool; the values are int for the first three, else uint64_t.
enum hipMemPoolAttr : int {
  hipMemPoolReuseFollowEventDependencies = 1,
  hipMemPoolReuseAllowOpportunistic = 2,
  hipMemPoolReuseAllowInternalDependencies = 3,
  hipMemPoolAttrReleaseThreshold = 4,
  hipMemPoolAttrReservedMemCurrent = 5,
  hipMemPoolAttrReservedMemHigh = 6,
  hipMemPoolAttrUsedMemCurrent = 7,
  hipMemPoolAttrUsedMemHigh = 8,
};

enum hipFunction_attribute : int {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
  HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

struct dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void *devicePointer;
  void *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

struct hipMemPoolProps {
  int allocType;
  int handleTypes;
  struct {
    int type;
    int id;
  } location; ///< type 1: the device `id`
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};

struct hipMemAccessDesc {
  struct {
    int type;
    int id;
  } location; ///< type 1: the device `id`
  int flags;  ///< 0: none, 1: read, 3: read and write
};

struct hipKernelNodeParams {
  dim3 blockDim;
  void **extra;
  void *func; ///< a hipFunction_t
  dim3 gridDim;
  void **kernelParams;
  unsigned sharedMemBytes;
};

struct hipMemsetParams {
  void *dst;
  unsigned elementSize; ///< 1, 2 or 4 bytes
  size_t height;
  size_t pitch; ///< bytes
  unsigned value;
  size_t width; ///< elements
};

using hipHostFn_t = void (*)(void *);
using hipStreamCallback_t = void (*)(hipStream_t, hipError_t, void *);

struct hipHostNodeParams {
  hipHostFn_t fn;
  void *userData;
};

/// hipDeviceProp_tR0600 (hipDeviceProp_t since HIP 6). `unused` members stand for what the simulator leaves
/// 0.
struct hipDeviceProp_tR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; ///< kHz
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int unused_textures[40]; ///< maxTexture1D to maxSurfaceCubemapLayered
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate; ///< kHz
  int memoryBusWidth;  ///< bits
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseHipArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingHipArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
  int hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate; ///< kHz
  unsigned arch;            ///< a bit for each feature of hipDeviceArch_t
  unsigned *hdpMemFlushCntl;
  unsigned *hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatched[4]; ///< Func, GridDim, BlockDim, SharedMem
  int isLargeBar;
  int asicRevision;
};
static_assert(sizeof(hipDeviceProp_tR0600) == 1472);
static_assert(offsetof(hipDeviceProp_tR0600, multiProcessorCount) == 388);
static_assert(offsetof(hipDeviceProp_tR0600, gcnArchName) == 1160);

/// hipDeviceProp_tR0000, which hipGetDeviceProperties without a suffix fills: the struct of HIP 5.
struct hipDeviceProp_tR0000 {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int computeMode;
  int clockInstructionRate;
  unsigned arch;
  int concurrentKernels;
  int pciDomainID;
  int pciBusID;
  int pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard;
  int canMapHostMemory;
  int gcnArch;
  char gcnArchName[256];
  int integrated;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  int unused_textures[7]; ///< maxTexture1DLinear to maxTexture3D
  unsigned *hdpMemFlushCntl;
  unsigned *hdpRegFlushCntl;
  size_t memPitch;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int kernelExecTimeoutEnabled;
  int ECCEnabled;
  int tccDriver;
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
  int managedMemory;
  int directManagedMemAccessFromHost;
  int concurrentManagedAccess;
  int pageableMemoryAccess;
  int pageableMemoryAccessUsesHostPageTables;
};
static_assert(offsetof(hipDeviceProp_tR0000, gcnArchName) == 396);

#define NEREID_HIP(name, ...) extern "C" __attribute__((visibility("default"))) hipError_t name(__VA_ARGS__);
#define NEREID_HIP_TEXT(name, ...)                                                                           \
  extern "C" __attribute__((visibility("default"))) const char *name(__VA_ARGS__);
#include "hip_sim/entry_points.def"

} // namespace nereid::hip_sim
