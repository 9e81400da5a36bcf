// Code objects of any origin on a GPU.
#include <map>
#include <string>

#include <fmt/format.h>

#include "jit/device/hip_device.h"

namespace nereid::jit {
namespace {

class HipModule : public LoadedModule {
public:
  HipModule(const HipApi &api, int index, void *module) : module(api, index, module, api.hipModuleUnload) {}
  HipHandle module;
  std::map<std::string, void *> functions; ///< by the kernel's name
};

// HIP's tags of launch parameters are integers here.
void *tag(uintptr_t value) { return reinterpret_cast<void *>(value); } // NOLINT(performance-no-int-to-ptr)

} // namespace

Result<std::shared_ptr<const LoadedModule>> HipDevice::load_module(std::span<const uint8_t> code_object,
                                                                   std::span<const KernelMetadata> kernels) {
  const auto doing = [&] { return fmt::format("loading a code object of {} bytes", code_object.size()); };
  void *module = nullptr;
  NEREID_CHECK(call(doing, "hipModuleLoadData", api_.hipModuleLoadData, &module,
                    static_cast<const void *>(code_object.data())));
  auto state = std::make_shared<HipModule>(api_, index_, module);
  for (const KernelMetadata &kernel : kernels)
    NEREID_CHECK(call([&] { return fmt::format("finding kernel '{}'", kernel.name); }, "hipModuleGetFunction",
                      api_.hipModuleGetFunction, &state->functions[kernel.name], module,
                      kernel.name.c_str()));
  return std::shared_ptr<const LoadedModule>(std::move(state));
}

Result<LaunchOutcome> HipDevice::launch_module(StreamState *stream, const ModuleLaunch &launch) {
  // HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
  size_t size = launch.kernarg.size();
  void *extra[] = {tag(1), const_cast<std::byte *>(launch.kernarg.data()), tag(2), &size, tag(3)};
  const auto [x, y, z] = launch.grid.sizes();
  const auto [block_x, block_y, block_z] = launch.block;
  const auto doing = [&] {
    return fmt::format("kernel '{}': launching {} x {} x {} workgroups of {} x {} x {} work-items",
                       launch.kernel.name, x, y, z, block_x, block_y, block_z);
  };
  NEREID_CHECK(call(doing, "hipModuleLaunchKernel", api_.hipModuleLaunchKernel,
                    static_cast<const HipModule &>(launch.module).functions.at(launch.kernel.name), x, y, z,
                    block_x, block_y, block_z, launch.dynamic_lds, hip_stream(stream), nullptr, extra));
  return LaunchOutcome();
}

} // namespace nereid::jit
