// What a launch of a known kernel costs beyond the call of HIP's that it makes, on HIP over the simulator
// with launches that do nothing.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <benchmark/benchmark.h>

#include "dsl/dsl.h"
#include "jit/device/hip_api.h"
#include "jit/kernel.h"

using namespace nereid;

namespace {

struct Config {
  int block = 256;
  NEREID_CONFIG(Config, block)
};

void twelve(const Config &c, Ptr<const f32> x0, Ptr<const f32> x1, Ptr<const f32> x2, Ptr<f32> z, Int n0,
            Int n1, Int n2, Int n3, Long m0, Long m1, Float a, Float b) {
  const Tile<i32> i = arange(0, c.block);
  const Tile<i1> in_range = i < n0 + n1 + n2 + n3;
  store(z + i, a * load(x0 + i, in_range) + b * load(x1 + i, in_range) + load(x2 + i, in_range), in_range);
  store(z + m0 + m1, a);
}

/// As a program without Nereid has it: the arguments packed, the function known.
struct BareLaunch {
  void *module = nullptr;
  void *function = nullptr;
  alignas(16) std::byte kernarg[72] = {};

  int operator()(const jit::HipApi &hip, void *stream) {
    size_t size = sizeof(kernarg);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): HIP passes them as pointers
    const auto tag = [](uintptr_t value) { return reinterpret_cast<void *>(value); };
    void *extra[] = {tag(1), kernarg, tag(2), &size, tag(3)};
    return hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream, nullptr, extra);
  }
};

double nanoseconds_of(const auto &call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// The counters are in nanoseconds, medians of runs that take turns.
void launch_with_twelve_arguments(benchmark::State &state) {
  const Result<Device> device = Device::hip();
  const Result<const jit::HipApi *> hip = jit::HipApi::open();
  if (!device || !hip)
    return state.SkipWithError((device ? hip.error() : device.error()).text().c_str());
  const Kernel kernel("twelve", twelve);
  const Buffer<float> x = device->allocate<float>(256).value(), z = device->allocate<float>(256).value();
  void *handle = nullptr;
  if ((*hip)->hipStreamCreateWithFlags(&handle, 1))
    return state.SkipWithError("no stream");
  const Stream stream = device->external_stream(handle).value();
  const auto launch = [&] {
    return kernel(stream, Grid{1}, Config{}, x, x, x, z, 64, 64, 64, 64, int64_t{0}, int64_t{16}, 1.0F, 2.0F);
  };
  const Result<LaunchInfo> first = launch();
  if (!first)
    return state.SkipWithError(first.error().text().c_str());
  const std::shared_ptr<const CompiledKernel> compiled = first->compiled;
  BareLaunch bare;
  if ((*hip)->hipModuleLoadData(&bare.module, compiled->code_object().data()) ||
      (*hip)->hipModuleGetFunction(&bare.function, bare.module, "twelve"))
    return state.SkipWithError("no module");

  constexpr int calls = 200;
  std::vector<double> ours, bares, above;
  for (auto _ : state) {
    bares.push_back(nanoseconds_of([&] { (void)bare(**hip, handle); }, calls));
    ours.push_back(nanoseconds_of([&] { benchmark::DoNotOptimize(launch()); }, calls));
    above.push_back(ours.back() - bares.back());
    (void)(*hip)->hipStreamSynchronize(handle);
  }
  state.counters["launch_ns"] = median(ours);
  state.counters["bare_ns"] = median(bares);
  state.counters["above_ns"] = median(above);
  (void)(*hip)->hipModuleUnload(bare.module);
}

/// Before HIP reads it.
const int launches_do_nothing = setenv("NEREID_HIP_LAUNCH", "none", /*overwrite=*/1);

BENCHMARK(launch_with_twelve_arguments)->Unit(benchmark::kMillisecond)->MinTime(1.0);

} // namespace
