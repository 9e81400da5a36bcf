// By what candidates are ranked: measured time on a GPU, simulated time or an estimate elsewhere.
#include "jit/tune/ranking.h"

#include <algorithm>

#include <fmt/format.h>

#include "jit/compile/compiled_kernel.h"
#include "jit/compile/digests.h"
#include "jit/tune/estimate.h"

namespace nereid {
namespace {

std::string name_of(const LaunchInfo &launch) {
  return launch.compiled ? "kernel '" + launch.kernel() + "'" : "a launch without a kernel";
}

} // namespace

Result<double> DeviceTime::figure(const RankedCandidate &candidate, int runs) const {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    NEREID_CHECK(candidate.before_run());
    NEREID_TRY(const Event start, candidate.stream.record());
    NEREID_CHECK(candidate.run());
    NEREID_TRY(const Event end, candidate.stream.record());
    NEREID_TRY(const double passed, start.milliseconds_until(end));
    times.push_back(1000 * passed);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

std::string SimulatedTime::identity() const {
  return fmt::format("simulated time, caches {}, simulator {}", static_cast<int>(caches_),
                     jit::simulator_digest);
}

Result<double> SimulatedTime::figure(const RankedCandidate &candidate, int) const {
  double sum = 0;
  for (const LaunchInfo &launch : candidate.launches) {
    if (!launch.time)
      return user_error(
          "the device did not time " + name_of(launch),
          "Simulated times need compiled code on a simulator, without NEREID_INTERPRET, and loops "
          "whose end can be seen (docs/timing.md)");
    sum += launch.time->us;
  }
  return sum;
}

Result<double> Estimate::figure(const RankedCandidate &candidate, int) const {
  double sum = 0;
  for (const LaunchInfo &launch : candidate.launches) {
    if (!launch.instructions || !launch.compiled)
      return environment_error("the device counted no instructions of " + name_of(launch),
                               "An estimate needs compiled code on the simulator; unset NEREID_INTERPRET");
    sum += estimated_slots({launch.grid.count(), launch.compiled->block() / 64, launch.resources().occupancy,
                            launch.instructions->total, launch.instructions->longest_wave});
  }
  return sum;
}

std::unique_ptr<Ranking> ranking_for(const Device &device, sim::CacheState caches) {
  if (device.kind() == DeviceKind::Hip)
    return std::make_unique<DeviceTime>();
  return std::make_unique<SimulatedTime>(caches);
}

} // namespace nereid
