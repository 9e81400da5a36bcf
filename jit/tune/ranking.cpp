// By what candidates are ranked: measured time on a GPU, an estimate elsewhere.
#include "jit/tune/ranking.h"

#include <algorithm>

namespace nereid {
namespace {
constexpr uint64_t compute_units = 256; // MI350X, MI355X
} // namespace

Result<double> DeviceTime::figure(const Stream &stream, const std::vector<LaunchInfo> &,
                                  const CandidateRun &run) const {
  std::vector<double> times;
  for (int i = 0; i < runs_; ++i) {
    NEREID_TRY(const Event start, stream.record());
    NEREID_CHECK(run());
    NEREID_TRY(const Event end, stream.record());
    NEREID_TRY(const double passed, start.milliseconds_until(end));
    times.push_back(passed);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

Result<double> Estimate::figure(const Stream &, const std::vector<LaunchInfo> &first,
                                const CandidateRun &) const {
  double sum = 0;
  for (const LaunchInfo &launch : first) {
    if (!launch.instructions)
      return environment_error("the device counted no instructions of kernel '" + launch.kernel() + "'",
                               "An estimate needs compiled code on the simulator; unset NEREID_INTERPRET");
    const uint64_t iterations = (launch.grid.count() + compute_units - 1) / compute_units;
    sum += static_cast<double>(iterations * launch.instructions->longest_wave);
  }
  return sum;
}

std::unique_ptr<Ranking> ranking_for(const Device &device) {
  if (device.kind() == DeviceKind::Hip)
    return std::make_unique<DeviceTime>();
  return std::make_unique<Estimate>();
}

} // namespace nereid
