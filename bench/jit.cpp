// From a kernel to its binary, and the cost of a launch.
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include "bench/vector_add.h"
#include "jit/kernel.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_linear.h"
#include "kernels/operand_buffers.h"
#include "kernels/plan_choice.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

const Specialized<GemmConfig> fused_config{.config = {.tile = {.block_n = 32}}};

/// Fails the benchmark where the result is an error.
template <class T> bool usable(benchmark::State &state, const Result<T> &result) {
  if (!result)
    state.SkipWithError(result.error().text().c_str());
  return result.ok();
}

void trace_vector_add(benchmark::State &state) {
  for (auto _ : state)
    if (!usable(state, trace("add", add, AddConfig{})))
      return;
}

void trace_fused_gemm(benchmark::State &state) {
  for (auto _ : state)
    if (!usable(state, trace("mxfp4_gemm_fused", mxfp4_gemm_fused<bf16>, fused_config)))
      return;
}

/// From the kernel function to its binary, and the milliseconds of each stage of it. `compile` gets a device
/// of its own, which knows no kernel yet; the disk cache is off.
template <class Compile> void to_binary(benchmark::State &state, const Compile &compile) {
  JitTimes sum;
  for (auto _ : state) {
    const auto compiled = compile(Device::simulator());
    if (!usable(state, compiled))
      return;
    const JitTimes times = (*compiled)->times();
    for (const StageTime &stage : jit_stages)
      sum.*stage.member += times.*stage.member;
  }
  for (const StageTime &stage : jit_stages)
    state.counters[stage.name] = benchmark::Counter(sum.*stage.member, benchmark::Counter::kAvgIterations);
}

/// Arguments are what most launches give: addresses and sizes divisible by 16.
void vector_add_to_binary(benchmark::State &state) {
  const std::vector<ArgumentFacts> facts(4, {.divisibility = 16});
  const Kernel kernel("add", add);
  to_binary(state, [&](const Device &device) { return kernel.compile(AddConfig{}, facts, device); });
}

void fused_gemm_to_binary(benchmark::State &state) {
  to_binary(state, [](const Device &device) {
    const GemmConfig config{.tile = {}, .split_k = 8, .reduce = Reduce::Workspace};
    return gemm_fused_kernel.compile(config, ProblemSize{16, 2112, 7168}, device);
  });
}

/// A cache directory while it lives, in place of none.
class CacheDirectory {
public:
  CacheDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "nereid-bench-XXXXXX";
    path_ = mkdtemp(name.data());
    setenv("NEREID_CACHE_DIR", path_.c_str(), 1);
  }
  ~CacheDirectory() {
    setenv("NEREID_CACHE_DIR", "off", 1);
    std::filesystem::remove_all(path_);
  }

private:
  std::filesystem::path path_;
};

/// From the trace to a loaded kernel whose code is on disk.
void disk_hit_vector_add(benchmark::State &state) {
  const CacheDirectory cache;
  vector_add_to_binary(state);
}

void disk_hit_fused_gemm(benchmark::State &state) {
  const CacheDirectory cache;
  fused_gemm_to_binary(state);
}

/// From the start of a process, through the disk cache, to the end of its first launch.
void process_to_first_launch(benchmark::State &state) {
  const CacheDirectory cache;
  const auto launch = [] {
    char program[] = NEREID_FIRST_LAUNCH;
    char *const arguments[] = {program, nullptr};
    pid_t child = 0;
    int status = 0;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const bool ran = posix_spawn(&child, program, &quiet, nullptr, arguments, environ) == 0 &&
                     waitpid(child, &status, 0) == child && status == 0;
    posix_spawn_file_actions_destroy(&quiet);
    return ran;
  };
  bool good = launch(); // compiles
  for (auto _ : state)
    good &= launch();
  if (!good)
    state.SkipWithError("the process failed");
}

void memory_cache_hit(benchmark::State &state) {
  const Device device = Device::simulator();
  const Kernel kernel("add", add);
  for (auto _ : state)
    if (!usable(state, kernel.compile(AddConfig{}, {}, device)))
      return;
}

void launch_one_program(benchmark::State &state) {
  const Device device = Device::simulator();
  const Kernel kernel("add", add);
  const Buffer<float> x = device.upload(std::vector<float>(1024, 1.0F)).value();
  const Buffer<float> z = device.allocate<float>(1024).value();
  const Stream stream = device.stream();
  for (auto _ : state)
    if (!usable(state, kernel(stream, Grid{1}, AddConfig{}, x, x, z, 1024)))
      return;
}

/// A shape that no tuning table has.
void plan_by_estimate(benchmark::State &state) {
  for (auto _ : state)
    if (!usable(state, choose_plan({777, 7760, 9312}, simulated_device)))
      return;
}

/// Timing a launch of mxfp4_linear on the simulator, without computing it.
void time_a_launch(benchmark::State &state, const ProblemSize &size) {
  const Device device = Device::simulator({.timing = sim::Timing::Only, .caches = sim::CacheState::Rotating});
  const auto buffers = OperandBuffers::allocate(device, size);
  if (!usable(state, buffers))
    return;
  Mxfp4Linear linear(device);
  const auto launch = [&] { return linear(device.stream(), buffers->operands(), size); };
  if (!usable(state, launch())) // compiles
    return;
  for (auto _ : state)
    if (!usable(state, launch()))
      return;
}

const int cache_is_off = setenv("NEREID_CACHE_DIR", "off", /*overwrite=*/1);

BENCHMARK(trace_vector_add)->Unit(benchmark::kMicrosecond);
BENCHMARK(trace_fused_gemm)->Unit(benchmark::kMicrosecond);
BENCHMARK(vector_add_to_binary)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(fused_gemm_to_binary)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(disk_hit_vector_add)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(disk_hit_fused_gemm)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(process_to_first_launch)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(memory_cache_hit)->Unit(benchmark::kNanosecond);
BENCHMARK(launch_one_program)->Unit(benchmark::kMicrosecond);
BENCHMARK(plan_by_estimate)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_a_launch, 4x2880x512, ProblemSize{4, 2880, 512})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_a_launch, 16x2112x7168, ProblemSize{16, 2112, 7168})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_a_launch, 256x3072x1536, ProblemSize{256, 3072, 1536})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_a_launch, 16384x57344x8192, ProblemSize{16384, 57344, 8192})
    ->Unit(benchmark::kMillisecond);

} // namespace
