// Code objects, their kernels, and what is known of a kernel.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "hip_sim/capture.h"
#include "hip_sim/code_image.h"
#include "hip_sim/entry.h"
#include "hip_sim/log.h"
#include "hip_sim/module.h"
#include "sim/state/isa_limits.h"

namespace nereid::hip_sim {
namespace {

hipError_t load(Runtime &hip, hipModule_t *module, std::span<const std::byte> image) {
  if (!module)
    return hipErrorInvalidValue;
  NEREID_HIP_CHECK(current_device(hip).lost);
  Result<sim::CodeObject> code = sim::CodeObject::load(image);
  if (!code) {
    log(hip.options.log, LogLevel::Errors, code.error().text());
    const bool other_gpu = code.error().message.find("another ISA") != std::string::npos;
    return other_gpu ? hipErrorNoBinaryForGpu : hipErrorInvalidImage;
  }
  auto made = std::make_shared<Module>(Module{*std::move(code), {}});
  for (const sim::KernelInfo &kernel : made->code.kernels()) {
    made->functions.push_back(
        std::make_shared<const Function>(Function{made->code, &kernel, &current_device(hip)}));
    hip.functions.add(made->functions.back());
  }
  *module = hip.modules.add(std::move(made));
  return hipSuccess;
}

hipError_t load_data(Entry entry, hipModule_t *module, const void *image) {
  return call(entry, [&](Runtime &hip, Lock &) {
    if (!image)
      return hipErrorInvalidValue;
    const Result<std::span<const std::byte>> bytes =
        code_of_image(static_cast<const std::byte *>(image), std::numeric_limits<size_t>::max());
    if (!bytes) {
      log(hip.options.log, LogLevel::Errors, bytes.error().text());
      return hipErrorInvalidImage;
    }
    return load(hip, module, *bytes);
  });
}

/// Appends what a regular file holds; others may have no end.
hipError_t read_file(const char *path, std::string &text) {
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0)
    return hipErrorFileNotFound;
  struct stat status{};
  hipError_t error = hipErrorFileNotFound;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    error = hipSuccess;
    char part[1 << 16];
    ssize_t count = 0;
    try {
      while ((count = read(file, part, sizeof(part))) > 0 || (count < 0 && errno == EINTR))
        text.append(part, static_cast<size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0)
        error = hipErrorFileNotFound;
    } catch (const std::exception &) {
      error = hipErrorOutOfMemory;
    }
  }
  close(file);
  return error;
}

/// Workgroups that share a compute unit, by waves, registers and LDS.
int blocks_of_unit(const sim::KernelInfo &kernel, unsigned block, size_t dynamic_lds) {
  constexpr unsigned waves_of_simd = 8; // ISA 3.6.4
  const auto granules = [](size_t amount, size_t granule) {
    return (amount + granule - 1) / granule * granule;
  };
  const size_t registers = std::max<size_t>(granules(kernel.vgpr_count, sim::vector_register_granule),
                                            sim::vector_register_granule);
  const size_t waves = std::min<size_t>(waves_of_simd, sim::vector_registers / registers) * sim::simd_count;
  size_t blocks = waves / ((block + sim::lane_count - 1) / sim::lane_count);
  if (const size_t lds = granules(kernel.lds_size + dynamic_lds, sim::lds_granule))
    blocks = std::min(blocks, sim::max_lds / lds);
  return static_cast<int>(blocks);
}

hipError_t occupancy(Entry entry, int *blocks, hipFunction_t function, int block, size_t dynamic_lds) {
  return call(entry, [&](Runtime &hip, Lock &) {
    const auto found = hip.functions.find(function);
    if (!blocks || block <= 0)
      return hipErrorInvalidValue;
    if (!found)
      return hipErrorInvalidDeviceFunction;
    const auto items = static_cast<unsigned>(block);
    *blocks =
        items > found->kernel->max_workgroup_size ? 0 : blocks_of_unit(*found->kernel, items, dynamic_lds);
    return hipSuccess;
  });
}

} // namespace

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  return load_data(Entry::hipModuleLoadData, module, image);
}
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, int *, void **) {
  return load_data(Entry::hipModuleLoadDataEx, module, image);
}

hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  std::string text;
  const hipError_t read = module && path ? read_file(path, text) : hipErrorInvalidValue;
  return call(Entry::hipModuleLoad, [&](Runtime &hip, Lock &) {
    NEREID_HIP_CHECK(read);
    const Result<std::span<const std::byte>> bytes =
        code_of_image(reinterpret_cast<const std::byte *>(text.data()), text.size());
    if (!bytes) {
      log(hip.options.log, LogLevel::Errors, bytes.error().text());
      return hipErrorInvalidImage;
    }
    return load(hip, module, *bytes);
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return call(Entry::hipModuleUnload, [&](Runtime &hip, Lock &) {
    // Launches that are queued keep their kernels.
    const std::shared_ptr<Module> found = hip.modules.find(module);
    if (!found)
      return hipErrorInvalidHandle;
    for (const auto &function : found->functions)
      hip.functions.remove(function.get());
    hip.modules.remove(module);
    return hipSuccess;
  });
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  return call(Entry::hipModuleGetFunction, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<Module> found = hip.modules.find(module);
    if (!function || !name)
      return hipErrorInvalidValue;
    if (!found)
      return hipErrorInvalidHandle;
    for (const auto &kernel : found->functions)
      if (kernel->kernel->name == name) {
        *function = kernel.get();
        return hipSuccess;
      }
    return hipErrorNotFound;
  });
}

hipError_t hipModuleGetGlobal(void **, size_t *, hipModule_t module, const char *name) {
  return call(Entry::hipModuleGetGlobal, [&](Runtime &hip, Lock &) {
    if (!hip.modules.find(module))
      return hipErrorInvalidHandle;
    log(hip.options.log, LogLevel::Faults,
        fmt::format("hipModuleGetGlobal: global variable '{}' is not supported: the simulator gives every "
                    "launch its own image of a code object, so the host cannot write to one; pass the data "
                    "as an argument",
                    name ? name : ""));
    return hipErrorNotSupported;
  });
}

hipError_t hipFuncGetAttribute(int *value, int attribute, hipFunction_t function) {
  return call(Entry::hipFuncGetAttribute, [&](Runtime &hip, Lock &) {
    const auto found = hip.functions.find(function);
    if (!value)
      return hipErrorInvalidValue;
    if (!found)
      return hipErrorInvalidDeviceFunction;
    const sim::KernelInfo &kernel = *found->kernel;
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(kernel.max_workgroup_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel.lds_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(kernel.scratch_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(kernel.vgpr_count);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(sim::max_lds - kernel.lds_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = 0;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 95; // what HIP says on gfx950: 10 * major + minor
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

hipError_t hipFuncSetAttribute(const void *function, int attribute, int) {
  return call(Entry::hipFuncSetAttribute, [&](Runtime &hip, Lock &) {
    if (!hip.functions.find(static_cast<const Function *>(function)))
      return hipErrorInvalidDeviceFunction;
    // All of LDS is there without asking for it.
    return attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
                   attribute == HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
               ? hipSuccess
               : hipErrorInvalidValue;
  });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function, int block,
                                                              size_t dynamic_lds) {
  return occupancy(Entry::hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, blocks, function, block,
                   dynamic_lds);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, hipFunction_t function,
                                                                       int block, size_t dynamic_lds,
                                                                       unsigned) {
  return occupancy(Entry::hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, function,
                   block, dynamic_lds);
}

} // namespace nereid::hip_sim
