// How fast the simulator is on one core: wave instructions a second of the quant kernel, without checks and
// with all of them, and the time of 1,000 matrix products.
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include <benchmark/benchmark.h>

#include "kernels/host/random.h"
#include "kernels/mxfp4_quant.h"
#include "sim/machine.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A launch that is run again and again.
struct Simulated {
  sim::Memory memory;
  sim::CodeObject code;
  sim::Launch launch;

  explicit Simulated(sim::CodeObject object) : code(std::move(object)) { launch.threads = 1; }
  template <class T> void argument(const T &value) {
    const size_t at = launch.kernarg.size();
    launch.kernarg.resize(at + sizeof value);
    std::memcpy(launch.kernarg.data() + at, &value, sizeof value);
  }
  /// Runs once and says what was executed; ends the benchmark where that fails.
  std::optional<sim::InstructionCounts> operator()(benchmark::State &state) {
    const Result<sim::Report> report = sim::run(code, memory, launch);
    if (!report || report->fault) {
      state.SkipWithError((report ? report->fault->error() : report.error()).text().c_str());
      return std::nullopt;
    }
    return report->counts;
  }
};

/// The quant kernel of 1024 x 3072, as the library compiles it for that shape.
Result<std::unique_ptr<Simulated>> quant() {
  const ProblemSize size{1024, 0, 3072};
  NEREID_TRY(const QuantConfig config, quant_kernel.complete({}, size));
  NEREID_TRY(const auto compiled, quant_kernel.compile(config, size, Device::simulator()));
  NEREID_TRY(sim::CodeObject code, sim::CodeObject::load(std::as_bytes(compiled->code_object())));
  auto result = std::make_unique<Simulated>(std::move(code));
  const std::vector<uint16_t> values = host::normal_bf16(size.m * size.k, 1);
  const auto bytes = static_cast<size_t>(size.m * size.k);
  for (size_t buffer : {2 * bytes, bytes / 2, bytes / 32}) {
    NEREID_TRY(const uint64_t address, result->memory.allocate(buffer));
    NEREID_CHECK(result->launch.kernarg.empty() ? result->memory.write(address, values.data(), buffer)
                                                : result->memory.fill(address, std::byte{0}, buffer));
    result->argument(address);
  }
  result->argument(static_cast<int32_t>(size.m));
  result->argument(static_cast<int32_t>(size.k));
  const Grid grid = quant_kernel.grid(config, size, {});
  result->launch.grid = {static_cast<uint32_t>(grid.x), static_cast<uint32_t>(grid.y),
                         static_cast<uint32_t>(grid.z)};
  result->launch.block = {64U * static_cast<unsigned>(config.waves), 1, 1};
  return result;
}

void instructions(benchmark::State &state, const sim::Checks &checks) {
  auto run = quant();
  if (!run)
    return state.SkipWithError(run.error().text().c_str());
  (*run)->launch.checks = checks;
  double count = 0;
  for (auto _ : state) {
    const auto counts = (**run)(state);
    if (!counts)
      return;
    count += static_cast<double>(counts->total);
  }
  state.counters["instructions"] = benchmark::Counter(count, benchmark::Counter::kIsRate);
}
void simulated_quant(benchmark::State &state) { instructions(state, {}); }
void simulated_quant_checked(benchmark::State &state) { instructions(state, sim::Checks::all()); }

/// The time with all checks over the time without, in turns.
void cost_of_checks(benchmark::State &state) {
  auto run = quant();
  if (!run)
    return state.SkipWithError(run.error().text().c_str());
  double seconds[2] = {};
  for (auto _ : state)
    for (unsigned checked = 0; checked < 2; ++checked) {
      (*run)->launch.checks = checked ? sim::Checks::all() : sim::Checks{};
      const double start = cpu_seconds();
      if (!(**run)(state))
        return;
      seconds[checked] += cpu_seconds() - start;
    }
  state.counters["ratio"] = seconds[1] / seconds[0];
}

/// `format` is a kernel of products.s.
void simulated_products(benchmark::State &state, const char *format) {
  std::ifstream file(NEREID_BENCH_PRODUCTS, std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), {});
  auto code = sim::CodeObject::load(std::as_bytes(std::span(content)));
  if (!code)
    return state.SkipWithError(code.error().text().c_str());
  Simulated run(std::move(*code));
  run.launch.kernel = format;
  run.launch.block = {64, 1, 1};
  double products = 0;
  const double start = cpu_seconds();
  for (auto _ : state) {
    const auto counts = run(state);
    if (!counts)
      return;
    products += static_cast<double>(counts->mfma);
  }
  state.counters["ms_per_1000"] = 1e6 * (cpu_seconds() - start) / products;
}

BENCHMARK(simulated_quant)->Unit(benchmark::kMillisecond);
BENCHMARK(simulated_quant_checked)->Unit(benchmark::kMillisecond);
BENCHMARK(cost_of_checks)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_products, fp4, "fp4")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_products, fp6, "fp6")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_products, fp8, "fp8")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_products, bf16, "bf16")->Unit(benchmark::kMillisecond);

} // namespace
