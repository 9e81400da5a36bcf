// Launches of kernels of modules: what the metadata says of arguments and limits is checked before the device
// sees them.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "codegen/target/gfx950.h"
#include "jit/device/device_interface.h"
#include "jit/module.h"
#include "jit/module_state.h"

namespace nereid {
namespace {

namespace gfx950 = codegen::gfx950;

Error wrong(const KernelMetadata &kernel, const std::string &what, const std::string &remedy = {}) {
  return user_error(fmt::format("kernel '{}': {}", kernel.name, what), remedy);
}

/// "'x'", or its number where it has no name.
std::string named(const KernelArgument &argument, size_t index) {
  return argument.name.empty() ? std::to_string(index) : fmt::format("{} '{}'", index, argument.name);
}

bool takes_memory(const KernelArgument &argument) { return argument.value_kind == "global_buffer"; }
bool takes_value(const KernelArgument &argument) {
  // Of memory in LDS an argument is its offset there.
  return argument.value_kind == "by_value" || argument.value_kind == "dynamic_shared_pointer";
}

/// "global_buffer x, by_value n of 4 bytes"
std::string signature(const std::vector<KernelArgument> &arguments) {
  std::string text;
  for (const KernelArgument &argument : arguments) {
    text += (text.empty() ? "" : ", ") + argument.value_kind;
    if (!argument.name.empty())
      text += " " + argument.name;
    if (!takes_memory(argument))
      text += fmt::format(" of {} bytes", argument.size);
  }
  return text.empty() ? "none" : text;
}

Status check_argument(const KernelMetadata &kernel, const KernelArgument &wanted, size_t index,
                      const jit::ModuleArgument &given, const jit::DeviceInterface &device) {
  const std::string name = named(wanted, index);
  if (takes_memory(wanted) && given.value)
    return wrong(kernel, fmt::format("argument {} is a global_buffer, the launch gives a value", name),
                 "Give a Buffer or a DevicePointer");
  if (takes_value(wanted) && !given.value)
    return wrong(kernel, fmt::format("argument {} is {} of {} bytes, the launch gives device memory", name,
                                     wanted.value_kind, wanted.size));
  if (!takes_memory(wanted) && !takes_value(wanted))
    return wrong(kernel, fmt::format("argument {} is of kind {}", name, wanted.value_kind),
                 "Launch it with the bytes of its argument block");
  if (given.size != wanted.size)
    return wrong(kernel,
                 fmt::format("argument {} has {} bytes, the launch gives {}", name, wanted.size, given.size));
  if (given.device && given.device != &device && !device.has_access(*given.device))
    return wrong(kernel, fmt::format("the buffer of argument {} lives on another device", name),
                 "Allocate it on the device of the stream");
  if (!given.value && given.address == jit::no_address)
    return wrong(kernel, fmt::format("argument {} was moved beyond the address space of 2^64 bytes", name),
                 "Check the offset of the DevicePointer");
  return {};
}

Status check_grid(const KernelMetadata &kernel, const Grid &grid, const Block &block) {
  if (const Status valid = grid.check(); !valid)
    return wrong(kernel, valid.error().message, valid.error().remedy);
  const int64_t items[] = {grid.x * block.x, grid.y * block.y, grid.z * block.z};
  for (size_t axis = 0; axis < 3; ++axis)
    if (items[axis] > int64_t{UINT32_MAX})
      return wrong(kernel, fmt::format("{} work-items in {} are more than 2^32 - 1", items[axis],
                                       std::string_view("xyz").substr(axis, 1)));
  return {};
}

Status check_block(const KernelMetadata &kernel, const Block &block) {
  constexpr int64_t max_items = 1024;
  const std::string text = fmt::format("a block of {} x {} x {}", block.x, block.y, block.z);
  for (const int64_t size : {block.x, block.y, block.z})
    if (size < 1 || size > max_items)
      return wrong(kernel, fmt::format("{}: each size is 1 to {}", text, max_items));
  if (block.x * block.y * block.z > kernel.max_workgroup_size)
    return wrong(kernel,
                 fmt::format("{} has {} work-items; it was compiled for at most {}", text,
                             block.x * block.y * block.z, kernel.max_workgroup_size),
                 "Use a smaller block, or compile it for more (__launch_bounds__)");
  if (const auto &required = kernel.required_block;
      required && *required != std::array{static_cast<uint32_t>(block.x), static_cast<uint32_t>(block.y),
                                          static_cast<uint32_t>(block.z)})
    return wrong(kernel, fmt::format("{}; it was compiled for {} x {} x {} alone", text, (*required)[0],
                                     (*required)[1], (*required)[2]));
  return {};
}

Status check_lds(const KernelMetadata &kernel, uint32_t dynamic) {
  if (uint64_t{kernel.resources.lds} + dynamic <= gfx950::lds_bytes)
    return {};
  return wrong(kernel, fmt::format("{} bytes of dynamic LDS and its own {} are more than the {} of a "
                                   "compute unit",
                                   dynamic, kernel.resources.lds, gfx950::lds_bytes));
}

} // namespace

Result<ModuleLaunchInfo> ModuleKernel::launch(const Stream &stream, const ModuleLaunchShape &shape,
                                              std::span<const jit::ModuleArgument> arguments) const {
  const KernelMetadata &kernel = metadata();
  const std::vector<KernelArgument> wanted = kernel.explicit_arguments();
  if (wanted.size() != arguments.size())
    return wrong(kernel,
                 fmt::format("it takes {} arguments, the launch gives {}", wanted.size(), arguments.size()),
                 fmt::format("Its arguments: {}", signature(wanted)));
  std::vector<std::byte> kernarg(kernel.explicit_size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const jit::ModuleArgument &given = arguments[i];
    NEREID_CHECK(check_argument(kernel, wanted[i], i, given, stream.interface()));
    std::memcpy(kernarg.data() + wanted[i].offset, given.value ? given.value : &given.address, given.size);
  }
  return run(stream, shape, kernarg);
}

Result<ModuleLaunchInfo> ModuleKernel::launch_raw(const Stream &stream, const ModuleLaunchShape &shape,
                                                  std::span<const std::byte> arguments) const {
  const KernelMetadata &kernel = metadata();
  const uint32_t needed = kernel.explicit_size();
  // A struct may end in padding up to the largest alignment of an argument.
  const uint32_t most = std::max(kernel.kernarg_size, (needed + 15) / 16 * 16);
  if (arguments.size() < needed || arguments.size() > most)
    return wrong(
        kernel,
        fmt::format("an argument block of {} bytes; it takes {} to {}", arguments.size(), needed, most),
        fmt::format("Its arguments: {}", signature(kernel.explicit_arguments())));
  return run(stream, shape, arguments.first(needed));
}

Result<ModuleLaunchInfo> ModuleKernel::run(const Stream &stream, const ModuleLaunchShape &shape,
                                           std::span<const std::byte> kernarg) const {
  const FloatEnvironment defaults;
  const KernelMetadata &kernel = metadata();
  if (!(stream.device() == state_->device))
    return wrong(kernel, "the stream is of another device than the one it is loaded on",
                 "Load the module on the stream's device");
  NEREID_CHECK(check_block(kernel, shape.block));
  NEREID_CHECK(check_grid(kernel, shape.grid, shape.block));
  NEREID_CHECK(check_lds(kernel, shape.dynamic_lds));
  stream.keep(state_);
  ModuleLaunchInfo info{kernel.name, shape};
  NEREID_TRY(const LaunchOutcome outcome,
             stream.interface().launch_module(
                 stream.state(), {*state_->loaded,
                                  kernel,
                                  shape.grid,
                                  {static_cast<uint32_t>(shape.block.x), static_cast<uint32_t>(shape.block.y),
                                   static_cast<uint32_t>(shape.block.z)},
                                  shape.dynamic_lds,
                                  kernarg}));
  info.instructions = outcome.instructions;
  info.time = outcome.time;
  return info;
}

} // namespace nereid
