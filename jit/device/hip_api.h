#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace nereid::jit {

/// libamdhip64, opened at run time. HIP's own names and calling conventions.
struct HipApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define NEREID_HIP(function, parameters) int(*function) parameters = nullptr;
#include "jit/device/hip_functions.def"
  const char *(*hipGetErrorString)(int) = nullptr;

  std::string library; ///< as it was opened

  /// Opens it and resolves everything, once a process. Errors name what is missing (environment).
  static Result<const HipApi *> open();

  /// An error that names the call, unless code is 0.
  Status check(int code, const char *call) const;
};

/// What HIP says of a GPU.
struct HipGpu {
  std::string name;
  std::string architecture; ///< "gfx950:sramecc+:xnack-"
  int compute_units = 0;
};

Result<HipGpu> describe_gpu(const HipApi &api, int index);

} // namespace nereid::jit
