#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hip_sim/hip.h"
#include "hip_sim/test_api.h"

namespace nereid::hip_sim::test {

/// libnereid_hip.so as a program opens it, with two devices of 4 GiB.
struct Library {
#define NEREID_HIP(name, ...) decltype(&::nereid::hip_sim::name) name;
#define NEREID_HIP_TEXT(name, ...) decltype(&::nereid::hip_sim::name) name;
#include "hip_sim/entry_points.def"
  decltype(&::nereid_hip_fail) fail;
  decltype(&::nereid_hip_calls) calls;
  decltype(&::nereid_hip_entry) entry;
  decltype(&::nereid_hip_living) living;
  decltype(&::nereid_hip_run_launches) run_launches;
  decltype(&::nereid_hip_fault) fault;

  static const Library &open();
};

/// The code object made of kernels.cl.
const std::vector<char> &code_object();

/// Checks before and after a test that nothing of the program's is left and the devices are sound.
class HipTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// A kernel of kernels.cl; its module is unloaded after the test.
  hipFunction_t kernel(const char *name);
  /// Memory of the current device, freed after the test.
  int *device_ints(const std::vector<int> &content);
  /// Host memory that is pinned, freed after the test.
  int *pinned_ints(const std::vector<int> &content);
  hipStream_t stream(unsigned flags = 0);
  hipEvent_t event(unsigned flags = 0);
  /// What memory of a device holds, without any order: the devices are idle.
  std::vector<int> read(const int *from, size_t count = 64);
  /// Launches step(to, factor, plus) on 64 elements.
  hipError_t step(hipStream_t on, int *to, int factor, int plus);

  const Library &hip = Library::open();

private:
  hipModule_t module_ = nullptr;
  std::vector<void *> memory_, pinned_;
  std::vector<hipStream_t> streams_;
  std::vector<hipEvent_t> events_;
};

inline const std::vector<int> ones(64, 1);

} // namespace nereid::hip_sim::test
