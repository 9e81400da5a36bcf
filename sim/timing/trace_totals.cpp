// Sums over the events of a trace.

#include "sim/timing/trace_totals.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim::timing {

namespace {

uint64_t rounded(double value) { return static_cast<uint64_t>(std::llround(value)); }

} // namespace

TraceTotals totals_of(const WorkgroupTrace &trace, const Program &program) {
  TraceTotals totals;
  double longest = 0, loads = 0, stores = 0, products = 0;
  for (size_t w = 0; w < trace.waves.size(); ++w) {
    const LoopSample sample = w < trace.samples.size() ? trace.samples[w] : LoopSample();
    double of_wave = 0;
    for (size_t i = 0; i < trace.waves[w].size(); ++i) {
      const TraceEvent &event = trace.waves[w][i];
      const Instruction &instruction = program[event.instruction];
      const double times = i >= sample.first && i < sample.last ? 1 + sample.times() : 1;
      of_wave += times;
      products += instruction.category == Category::Mfma ? times : 0;
      const bool loading = instruction.category == Category::VmemLoad;
      if (!loading && instruction.category != Category::VmemStore &&
          instruction.category != Category::VmemAtomic)
        continue;
      (loading ? loads : stores) += times;
      if (event.access)
        (loading ? totals.load_bytes : totals.store_bytes) += trace.accesses[event.access - 1].bytes * times;
    }
    totals.instructions += of_wave;
    longest = std::max(longest, of_wave);
  }
  totals.counts = {rounded(longest), rounded(loads), rounded(stores), rounded(products),
                   WorkgroupBytes{totals.load_bytes, totals.store_bytes}};
  return totals;
}

} // namespace nereid::sim::timing
