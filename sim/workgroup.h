#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "sim/code_object.h"
#include "sim/machine.h"
#include "sim/watch.h"
#include "sim/wave.h"

namespace nereid::sim {

/// What is the same for every workgroup of a launch.
struct LaunchState {
  const CodeObject *code;
  const KernelInfo *kernel;
  const Launch *launch;
  Memory::View memory;
  uint64_t kernarg_address = 0;
  std::vector<std::byte> kernarg;
  uint64_t dispatch_address = 0;
  uint64_t queue_address = 0;
  uint64_t image_base = 0;
  uint32_t lds_size = 0;
  uint32_t scratch_size = 0;
  uint32_t wave_count = 0; ///< of a workgroup
  std::atomic<uint64_t> budget_left{0};
};

/// Sums over the workgroups that one host thread ran.
struct WorkgroupTotals {
  std::array<uint64_t, category_count> counts{};
  uint64_t waves = 0;
  uint64_t longest = 0;
};

/// Runs workgroups one after the other; its waves and their registers are reused.
class WorkgroupRunner {
public:
  /// `watch` may be null; it sees every instruction of the workgroups that this object runs.
  WorkgroupRunner(LaunchState &state, Watch *watch);
  /// Runs the workgroup of that linear id to its end, or returns its fault.
  std::optional<Fault> run(uint64_t linear_id);
  const WorkgroupTotals &totals() const { return totals_; }

private:
  void prepare(uint64_t linear_id);
  void prepare_wave(Wave &wave);
  void prepare_scalars(Wave &wave);
  /// Executes a wave until it stops, or for a slice of instructions.
  template <bool Watched> void execute(Wave &wave);
  /// A share of the launch's instruction budget; 0 when it is used up.
  uint64_t take_budget();
  Fault describe(const Wave &wave, const RaisedFault &raised) const;

  LaunchState &state_;
  const Program &program_;
  Watch *watch_;
  Workgroup group_;
  std::vector<std::unique_ptr<Wave>> waves_;
  std::vector<std::byte> scratch_;
  WorkgroupTotals totals_;
  uint64_t budget_ = 0; ///< instructions taken from the launch's budget and not yet used
  unsigned registers_ = 0;
};

} // namespace nereid::sim
