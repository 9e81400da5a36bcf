#pragma once

#include <memory>

#include "hip_sim/test_api.h"
#include "jit/device/device_interface.h"
#include "jit/device/hip_api.h"
#include "tests/jit/sample_kernels.h"

namespace nereid::test {

/// HIP itself, as the device under test has it.
inline const jit::HipApi &hip() { return **jit::HipApi::open(); }

/// A device that goes with its last user, unlike those of Device::hip().
inline Result<Device> passing_hip_device(int index = 0) {
  NEREID_TRY(std::shared_ptr<jit::DeviceInterface> made, jit::make_hip_device(index));
  return Device(std::move(made));
}

/// The calling thread's current GPU.
inline int current_gpu() {
  int index = -1;
  EXPECT_EQ(hip().hipGetDevice(&index), 0);
  return index;
}

/// Lets the next call of a function of HIP fail.
inline void fail_next(const char *function, int code) { ASSERT_EQ(nereid_hip_fail(function, 1, code), 0); }

} // namespace nereid::test
