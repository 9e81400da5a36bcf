// How fast the simulator runs library kernels: the figure is wave instructions a second of the host.
#include <benchmark/benchmark.h>

#include "kernels/choices.h"
#include "kernels/host/random.h"
#include "kernels/launches.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

void simulated_quant(benchmark::State &state) {
  const ProblemSize size{256, 0, 3072};
  const Device device = Device::simulator();
  const ConfigValues config = complete_quant({}, size).value();
  const Buffer<uint16_t> x = device.upload(host::normal_bf16(size.m * size.k, 1)).value();
  const Buffer<uint8_t> codes = device.allocate<uint8_t>(size.m * size.k / 2).value();
  const Buffer<uint8_t> scales = device.allocate<uint8_t>(size.m * size.k / 32).value();
  const Stream stream = device.stream();
  double instructions = 0;
  for (auto _ : state) {
    const Result<LaunchRecord> record = launch_quant({stream}, config, size, x, codes, scales);
    if (!record) {
      state.SkipWithError(record.error().text().c_str());
      return;
    }
    if (record->info.instructions)
      instructions += static_cast<double>(record->info.instructions->total);
  }
  state.counters["instructions"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}

BENCHMARK(simulated_quant)->Unit(benchmark::kMillisecond);

} // namespace
