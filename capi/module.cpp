// Code objects and their kernels in C.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "capi/handles.h"
#include "capi/last_error.h"

using namespace nereid;
using namespace nereid::capi;

namespace {

nereid_module *handle_of(Module module) {
  std::vector<std::string> names = module.kernel_names();
  return new nereid_module{std::move(module), std::move(names)};
}

ModuleLaunchShape shape_of(const nereid_launch_shape &shape) {
  return {.grid = {shape.grid[0], shape.grid[1], shape.grid[2]},
          .block = {shape.block[0], shape.block[1], shape.block[2]},
          .dynamic_lds = shape.dynamic_lds};
}

Result<jit::ModuleArgument> argument_of(const nereid_argument &argument) {
  if (!argument.value)
    return jit::ModuleArgument{.address = argument.address};
  if (argument.bytes > UINT32_MAX)
    return user_error("an argument of " + std::to_string(argument.bytes) + " bytes");
  return jit::ModuleArgument{argument.value, static_cast<uint32_t>(argument.bytes)};
}

nereid_kernel_info info_of(const KernelMetadata &kernel) {
  const Resources &resources = kernel.resources;
  return {.struct_size = sizeof(nereid_kernel_info),
          .vgprs = resources.vgpr,
          .agprs = resources.agpr,
          .sgprs = resources.sgpr,
          .lds = resources.lds,
          .scratch = resources.scratch,
          .spills = resources.spills,
          .occupancy = resources.occupancy,
          .kernarg_size = kernel.kernarg_size,
          .argument_count = static_cast<uint32_t>(kernel.explicit_arguments().size()),
          .max_workgroup_size = kernel.max_workgroup_size};
}

/// The end of what the first version of nereid_kernel_info had.
constexpr size_t first_info_size =
    offsetof(nereid_kernel_info, max_workgroup_size) + sizeof(nereid_kernel_info::max_workgroup_size);

} // namespace

extern "C" {

nereid_status nereid_module_load(const nereid_device *device, const void *code_object, uint64_t bytes,
                                 nereid_module **module) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    NEREID_CHECK(not_null(code_object, "code_object"));
    NEREID_CHECK(not_null(module, "module"));
    NEREID_TRY(Module loaded,
               Module::load(device->device, std::span(static_cast<const uint8_t *>(code_object),
                                                      static_cast<size_t>(bytes))));
    *module = handle_of(std::move(loaded));
    return {};
  });
}

nereid_status nereid_module_load_file(const nereid_device *device, const char *path, nereid_module **module) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    NEREID_CHECK(not_null(path, "path"));
    NEREID_CHECK(not_null(module, "module"));
    NEREID_TRY(Module loaded, Module::load(device->device, std::string(path)));
    *module = handle_of(std::move(loaded));
    return {};
  });
}

void nereid_module_unload(nereid_module *module) { delete module; }

uint32_t nereid_module_kernel_count(const nereid_module *module) {
  return module ? static_cast<uint32_t>(module->names.size()) : 0;
}

const char *nereid_module_kernel_name(const nereid_module *module, uint32_t index) {
  return index < nereid_module_kernel_count(module) ? module->names[index].c_str() : nullptr;
}

nereid_status nereid_module_kernel(const nereid_module *module, const char *name, nereid_kernel **kernel) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(module, "module"));
    NEREID_CHECK(not_null(kernel, "kernel"));
    NEREID_TRY(ModuleKernel found, module->module.kernel(name ? name : ""));
    *kernel = new ::nereid_kernel{module->module.device(), std::move(found)};
    return {};
  });
}

void nereid_kernel_destroy(nereid_kernel *kernel) { delete kernel; }

nereid_status nereid_kernel_get_info(const nereid_kernel *kernel, nereid_kernel_info *info) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(kernel, "kernel"));
    NEREID_CHECK(not_null(info, "info"));
    if (info->struct_size < first_info_size)
      return user_error("struct_size is " + std::to_string(info->struct_size),
                        "Set it to sizeof(nereid_kernel_info)");
    const nereid_kernel_info full = info_of(kernel->kernel.metadata());
    const uint64_t size = info->struct_size;
    std::memcpy(info, &full, std::min<size_t>(size, sizeof full));
    info->struct_size = size;
    return {};
  });
}

nereid_status nereid_kernel_launch(const nereid_kernel *kernel, const nereid_stream *stream,
                                   const nereid_launch_shape *shape, const nereid_argument *arguments,
                                   uint32_t count) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(kernel, "kernel"));
    NEREID_CHECK(not_null(shape, "shape"));
    if (count)
      NEREID_CHECK(not_null(arguments, "arguments"));
    std::vector<jit::ModuleArgument> values;
    for (const nereid_argument &argument : std::span(arguments, count)) {
      NEREID_TRY(const jit::ModuleArgument value, argument_of(argument));
      values.push_back(value);
    }
    NEREID_CHECK(kernel->kernel.launch(stream_or_default(stream, kernel->device), shape_of(*shape), values));
    return {};
  });
}

nereid_status nereid_kernel_launch_raw(const nereid_kernel *kernel, const nereid_stream *stream,
                                       const nereid_launch_shape *shape, const void *arguments,
                                       uint64_t bytes) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(kernel, "kernel"));
    NEREID_CHECK(not_null(shape, "shape"));
    if (bytes)
      NEREID_CHECK(not_null(arguments, "arguments"));
    NEREID_CHECK(
        kernel->kernel.launch_raw(stream_or_default(stream, kernel->device), shape_of(*shape),
                                  {static_cast<const std::byte *>(arguments), static_cast<size_t>(bytes)}));
    return {};
  });
}
}
