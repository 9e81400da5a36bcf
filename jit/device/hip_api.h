#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "jit/device/device_properties.h"

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

  /// Initialises HIP and counts the GPUs, perhaps none. Error (Environment): why it finds none.
  Result<int> gpu_count() const;

  /// Whether the process is ending: HIP may be gone before what was made by it.
  static bool is_gone();

  /// The error of a call, unless code is 0. doing(): what the call was for, "a copy of 4 bytes to the
  /// device".
  template <class Doing> Status check(int code, const char *call, const Doing &doing) const {
    if (!code)
      return {};
    return failure(code, call, doing());
  }

  /// Whose fault it is by the code, and what to do. Takes the error from HIP's own record of the last one, so
  /// that nobody else finds it there.
  Error failure(int code, const char *call, const std::string &doing) const;
};

/// Codes of hipError_t that are more than an error.
inline constexpr int hip_out_of_memory = 2;
inline constexpr int hip_peer_access_already_enabled = 704;
inline constexpr int hip_graph_update_failure = 910;

/// What HIP says of a GPU.
struct HipGpu {
  std::string name;
  DeviceProperties properties;
};

Result<HipGpu> describe_gpu(const HipApi &api, int index);

/// Makes a GPU the calling thread's current one, and the former again at its end. Leaves no error of that in
/// HIP's record of the last one.
class CurrentGpu {
public:
  CurrentGpu(const HipApi &api, int index) : api_(api) {
    code_ = api.hipGetDevice(&former_);
    if (!code_ && former_ != index) {
      call_ = "hipSetDevice";
      code_ = api.hipSetDevice(index);
      changed_ = code_ == 0;
    }
    if (code_)
      (void)api.hipGetLastError();
  }
  ~CurrentGpu() {
    if (changed_ && api_.hipSetDevice(former_))
      (void)api_.hipGetLastError();
  }
  CurrentGpu(const CurrentGpu &) = delete;
  CurrentGpu &operator=(const CurrentGpu &) = delete;

  /// An error unless it is current; doing() as of HipApi::check.
  template <class Doing> Status check(const Doing &doing) const { return api_.check(code_, call_, doing); }

private:
  const HipApi &api_;
  const char *call_ = "hipGetDevice";
  int former_ = 0;
  int code_ = 0;
  bool changed_ = false;
};

/// A HIP handle, destroyed with its owner while there is a HIP.
class HipHandle {
public:
  /// destroy: null for a handle that somebody else owns.
  HipHandle(const HipApi &api, int index, void *value, int (*destroy)(void *))
      : api_(api), index_(index), value_(value), destroy_(destroy) {}
  ~HipHandle() {
    if (!destroy_ || HipApi::is_gone())
      return;
    const CurrentGpu current(api_, index_);
    if (destroy_(value_))
      (void)api_.hipGetLastError();
  }
  HipHandle(const HipHandle &) = delete;
  HipHandle &operator=(const HipHandle &) = delete;
  void *get() const { return value_; }

private:
  const HipApi &api_;
  int index_;
  void *value_;
  int (*destroy_)(void *);
};

} // namespace nereid::jit
