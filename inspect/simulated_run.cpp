// A launch on the simulator, twice: one workgroup for what it accesses, and the timing model's sample of it.
#include "inspect/simulated_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "base/progress.h"
#include "inspect/access_recorder.h"
#include "inspect/issue_recorder.h"
#include "sim/decode/program.h"
#include "sim/run/profile_launch.h"
#include "sim/run/workgroup.h"
#include "sim/timing/constants.h"
#include "sim/timing/device_model.h"

namespace nereid::inspect {
namespace {

/// Wave instructions of the workgroup whose accesses are looked at.
constexpr uint64_t most_looked_at = 400'000;

Error fault_error(const sim::Fault &fault) {
  Error error = fault.error();
  error.message = "the simulated launch faults: " + error.message;
  return error;
}

/// Accesses of the first workgroup, on a copy of the memory.
Status add_accesses(Report &report, const MachineCode &machine, const sim::CodeObject &code,
                    const sim::Memory &memory, const sim::Launch &launch) {
  NEREID_TRY(const std::unique_ptr<sim::Memory> copy, memory.fork());
  NEREID_TRY(const auto state, sim::LaunchState::prepare(code, *copy, launch));
  state->compute_products = false;
  const ProgressClock progress(fmt::format("simulating a workgroup of kernel '{}'", launch.kernel));
  AccessRecorder recorder(code.program().size());
  sim::WorkgroupRunner runner(*state, &recorder);
  runner.begin(0);
  constexpr uint64_t slice = 8;
  uint64_t executed = 0;
  for (; !runner.ended() && executed < most_looked_at; executed += slice)
    if (const auto fault = runner.advance(slice))
      return fault_error(*fault);
  if (!runner.ended())
    report.notes.push_back(
        fmt::format("coalescing and bank conflicts are of the first {} wave instructions of a workgroup",
                    most_looked_at));
  for (size_t i = 0; i < report.code.size(); ++i) {
    report.code[i].global = recorder.global(machine.program_index[i]);
    report.code[i].lds = recorder.lds(machine.program_index[i]);
  }
  return {};
}

void add_traffic(Report &report, const sim::LaunchTime &time, uint64_t groups, unsigned waves) {
  const double waves_of_all = static_cast<double>(groups) * waves;
  double lds = 0;
  for (const Instruction &instruction : report.code)
    if (instruction.lds && instruction.lds->executed)
      lds += instruction.executed * waves_of_all * static_cast<double>(instruction.lds->bytes) /
             static_cast<double>(instruction.lds->executed);
  const double units = std::min<double>(static_cast<double>(groups), sim::timing::compute_units);
  const double clocks_us = time.clock_ghz * 1000 * units;
  const sim::DeviceModel model;
  const auto add = [&](const char *level, double bytes, double bytes_a_us) {
    report.run->traffic.push_back({level, bytes, bytes_a_us > 0 ? bytes / bytes_a_us : 0});
  };
  add("LDS", lds, sim::timing::pair_bus_bytes * clocks_us);
  add("L2", static_cast<double>(time.l2_bytes), sim::timing::fill_bytes_a_clock * clocks_us);
  add("MALL", static_cast<double>(time.mall_bytes), model.fabric_rate * 1000 * sim::xcd_count);
  add("HBM", static_cast<double>(time.hbm_bytes), model.hbm_rate * 1000);
}

} // namespace

Status add_run(Report &report, const MachineCode &machine, const sim::CodeObject &code, sim::Memory &memory,
               const sim::Launch &launch) {
  const FloatEnvironment environment;
  NEREID_CHECK(add_accesses(report, machine, code, memory, launch));
  IssueRecorder recorder(code.program());
  NEREID_TRY(const sim::ProfiledLaunch profiled, sim::profile_launch(code, memory, launch, {}, &recorder));
  if (profiled.fault)
    return fault_error(*profiled.fault);
  const sim::LaunchTime time = sim::launch_time(profiled.profile, launch.caches);
  Run &run = report.run.emplace();
  run.grid = launch.grid;
  run.block = launch.block;
  run.caches = sim::cache_state_names[static_cast<size_t>(launch.caches)];
  run.us = time.us;
  run.cycles_per_workgroup = time.cycles_per_workgroup;
  run.limit = time.limit;
  run.stalls = time.stalls;
  recorder.add_to(report, machine);
  add_traffic(report, time, uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2], recorder.waves());
  return {};
}

} // namespace nereid::inspect
