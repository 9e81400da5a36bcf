// How long a launch might take, by counted instructions.
#include "jit/tune/estimate.h"

#include <algorithm>

namespace nereid {
namespace {

constexpr uint64_t compute_units = 256; // MI350X, MI355X
constexpr uint64_t simds = 4;
constexpr double slots_of_a_lone_wave = 4;

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

} // namespace

double estimated_slots(const CountedLaunch &launch) {
  const uint64_t workgroups = std::max<uint64_t>(launch.workgroups, 1); // of the launch
  const uint64_t waves = std::max(launch.waves, 1u);
  const uint64_t of_a_unit = divide_up(workgroups, compute_units);
  const uint64_t waves_of_a_simd = divide_up(of_a_unit * waves, simds);
  const double mean = static_cast<double>(launch.instructions) / static_cast<double>(workgroups * waves);
  const double issue = static_cast<double>(waves_of_a_simd) * mean;
  const uint64_t rounds = divide_up(waves_of_a_simd, std::max(launch.waves_per_simd, 1u));
  const double latency = static_cast<double>(rounds * launch.longest_wave) * slots_of_a_lone_wave;
  return std::max(issue, latency);
}

} // namespace nereid
