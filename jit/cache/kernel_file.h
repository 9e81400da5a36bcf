#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "jit/compile/compiler.h"

namespace nereid::jit {

/// What a cached kernel's file says of it, in addition to the code object.
struct CachedKernelInfo {
  std::string kernel;
  std::string config;
  std::string specialization;
};

/// A kernel as the bytes of its file (docs/cache.md).
std::string kernel_file(std::string_view key, const CachedKernelInfo &info, const Binary &binary);

/// What a kernel's file holds.
struct KernelFile {
  CachedKernelInfo info;
  Binary binary;
};

/// The inverse. Error (Environment) when anything about the bytes is wrong or they are those of another key.
Result<KernelFile> read_kernel_file(std::string_view content, std::string_view key);

/// Whether the bytes begin as such a file of an older or newer Nereid.
bool is_of_another_version(std::string_view content);

/// Whether the code object is one for gfx950 that has the kernel. Error (Environment): what is wrong with it.
Status check_code(const KernelFile &file);

} // namespace nereid::jit
