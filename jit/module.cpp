// Loads code objects of any origin and finds their kernels.
#include "jit/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jit/compile/fat_binary.h"
#include "jit/device/device_interface.h"
#include "jit/module_state.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nereid {

Result<Module> Module::load(const Device &device, std::span<const uint8_t> bytes) {
  NEREID_TRY(const std::vector<uint8_t> code_object, jit::unbundled(bytes));
  NEREID_TRY(jit::CodeObjectMetadata metadata, jit::read_code_object(code_object));
  NEREID_TRY(std::shared_ptr<const jit::LoadedModule> loaded,
             device.interface().load_module(code_object, metadata.kernels));
  return Module(std::make_shared<const jit::ModuleState>(
      jit::ModuleState{device, std::move(metadata.kernels), std::move(loaded)}));
}

Result<Module> Module::load(const Device &device, const std::string &path) {
  // A device may never end, and opening a pipe waits.
  llvm::sys::fs::file_status status;
  if (const std::error_code failure = llvm::sys::fs::status(path, status))
    return user_error(fmt::format("cannot read {}: {}", path, failure.message()));
  if (!llvm::sys::fs::is_regular_file(status))
    return user_error(fmt::format("cannot read {}: it is not a regular file", path));
  const auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return user_error(fmt::format("cannot read {}: {}", path, file.getError().message()));
  const llvm::StringRef content = (*file)->getBuffer();
  Result<Module> module = load(device, std::span(content.bytes_begin(), content.size()));
  if (module)
    return module;
  Error error = module.error();
  error.message = fmt::format("{}: {}", path, error.message);
  return error;
}

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const KernelMetadata &kernel : state_->kernels)
    names.push_back(kernel.name);
  return names;
}

Result<ModuleKernel> Module::kernel(std::string_view name) const {
  const std::vector<KernelMetadata> &kernels = state_->kernels;
  if (name.empty() && kernels.size() == 1)
    return ModuleKernel(state_, 0);
  for (size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].name == name)
      return ModuleKernel(state_, i);
  const std::string what = name.empty() ? fmt::format("the code object has {} kernels", kernels.size())
                                        : fmt::format("the code object has no kernel '{}'", name);
  return user_error(what, fmt::format("Its kernels: {}", fmt::join(kernel_names(), ", ")));
}

Device Module::device() const { return state_->device; }

const KernelMetadata &ModuleKernel::metadata() const { return state_->kernels[index_]; }

} // namespace nereid
