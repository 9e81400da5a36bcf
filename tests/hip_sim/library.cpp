#include "tests/hip_sim/library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace nereid::hip_sim::test {
namespace {

constexpr const char *kinds[] = {"memory",  "bytes",  "host memory", "streams", "events",
                                 "modules", "graphs", "graph execs", "pools"};

Library load() {
  setenv("NEREID_HIP_DEVICES", "2", 1);
  setenv("NEREID_HIP_MEMORY", "4G", 1);
  setenv("NEREID_HIP_LOG", "none", 1);
  setenv("NEREID_SIM_BUDGET", "1000000", 1);
  void *opened = dlopen(NEREID_HIP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    throw std::runtime_error(dlerror());
  Library library;
  const auto resolve = [&](const char *name, auto &function) {
    void *symbol = dlsym(opened, name);
    if (!symbol)
      throw std::runtime_error(dlerror());
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
#define NEREID_HIP(name, ...) resolve(#name, library.name);
#define NEREID_HIP_TEXT(name, ...) resolve(#name, library.name);
#include "hip_sim/entry_points.def"
  resolve("nereid_hip_fail", library.fail);
  resolve("nereid_hip_calls", library.calls);
  resolve("nereid_hip_entry", library.entry);
  resolve("nereid_hip_living", library.living);
  resolve("nereid_hip_run_launches", library.run_launches);
  resolve("nereid_hip_fault", library.fault);
  return library;
}

} // namespace

const Library &Library::open() {
  static const Library library = load();
  return library;
}

const std::vector<char> &code_object() {
  static const std::vector<char> bytes = [] {
    std::ifstream file(NEREID_HIP_KERNELS, std::ios::binary);
    return std::vector<char>((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }();
  return bytes;
}

void HipTest::SetUp() {
  for (int device : {1, 0}) {
    ASSERT_EQ(hip.hipSetDevice(device), hipSuccess);
    ASSERT_EQ(hip.hipDeviceReset(), hipSuccess);
  }
  (void)hip.hipGetLastError();
  for (const char *kind : kinds)
    ASSERT_EQ(hip.living(kind), 0) << kind;
}

void HipTest::TearDown() {
  EXPECT_EQ(hip.hipSetDevice(0), hipSuccess);
  for (void *pointer : memory_)
    (void)hip.hipFree(pointer);
  for (void *pointer : pinned_)
    (void)hip.hipHostFree(pointer);
  for (hipStream_t stream : streams_)
    (void)hip.hipStreamDestroy(stream);
  for (hipEvent_t event : events_)
    (void)hip.hipEventDestroy(event);
  if (module_)
    (void)hip.hipModuleUnload(module_);
  for (const char *kind : kinds)
    EXPECT_EQ(hip.living(kind), 0) << kind;
}

hipFunction_t HipTest::kernel(const char *name) {
  if (!module_) {
    EXPECT_EQ(hip.hipModuleLoadData(&module_, code_object().data()), hipSuccess);
  }
  hipFunction_t function = nullptr;
  EXPECT_EQ(hip.hipModuleGetFunction(&function, module_, name), hipSuccess);
  return function;
}

int *HipTest::device_ints(const std::vector<int> &content) {
  void *pointer = nullptr;
  EXPECT_EQ(hip.hipMalloc(&pointer, content.size() * sizeof(int)), hipSuccess);
  EXPECT_EQ(hip.hipMemcpy(pointer, content.data(), content.size() * sizeof(int), hipMemcpyHostToDevice),
            hipSuccess);
  memory_.push_back(pointer);
  return static_cast<int *>(pointer);
}

int *HipTest::pinned_ints(const std::vector<int> &content) {
  void *pointer = nullptr;
  EXPECT_EQ(hip.hipHostMalloc(&pointer, content.size() * sizeof(int), 0), hipSuccess);
  std::copy(content.begin(), content.end(), static_cast<int *>(pointer));
  pinned_.push_back(pointer);
  return static_cast<int *>(pointer);
}

hipStream_t HipTest::stream(unsigned flags) {
  hipStream_t made = nullptr;
  EXPECT_EQ(hip.hipStreamCreateWithFlags(&made, flags), hipSuccess);
  streams_.push_back(made);
  return made;
}

hipEvent_t HipTest::event(unsigned flags) {
  hipEvent_t made = nullptr;
  EXPECT_EQ(hip.hipEventCreateWithFlags(&made, flags), hipSuccess);
  events_.push_back(made);
  return made;
}

std::vector<int> HipTest::read(const int *from, size_t count) {
  std::vector<int> content(count);
  EXPECT_EQ(hip.hipMemcpy(content.data(), from, count * sizeof(int), hipMemcpyDeviceToHost), hipSuccess);
  return content;
}

hipError_t HipTest::step(hipStream_t on, int *to, int factor, int plus) {
  void *arguments[] = {&to, &factor, &plus};
  return hip.hipModuleLaunchKernel(kernel("step"), 1, 1, 1, 64, 1, 1, 0, on, arguments, nullptr);
}

} // namespace nereid::hip_sim::test
